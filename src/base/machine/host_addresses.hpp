// Identifies this machine to others: a number, and the addresses of its interfaces. No state.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hiroba {

// Returns at most `most` addresses of this host's interfaces that are up, without loopback; IPv4 as ::ffff:a.b.c.d.
std::vector<in6_addr> own_addresses(size_t most);
in6_addr as_ipv6(const in_addr& four);
// Reads an address; returns false if `from` is no internet address.
bool address_of(const sockaddr* from, in6_addr& out, int& port);
std::string to_text(const in6_addr& address);

uint64_t hash_bytes(uint64_t seed, const void* bytes, size_t size);
// Equal for processes that see each other under /proc: same machine, same process namespace, and not configured as
// different hosts (own host names; Slurm's virtual nodes).
uint64_t machine_key(const char* host);

}  // namespace hiroba
