// Keeps others away from a process's part of UCX, whose own protocol knows no authentication: whoever connects to its
// port may send every message that UCX serves. Two walls of ours: a socket filter, by which the kernel drops packets
// from hosts that have no part in the job before there is a connection, and a key in each message, a hash of a number
// that only the job's processes have, so that their messages are told from those of others.
//
// Called at start by one thread; the hash is thread-safe.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

using JobSecret = std::array<uint64_t, 2>;

// SipHash-2-4 of one word.
uint64_t keyed_hash(const JobSecret& secret, uint64_t word);

// Returns the sockets of this process that listen for TCP connections, sorted.
std::vector<int> listening_sockets();

// Lets the socket, and what it accepts later, have packets from these hosts and from this one alone. IPv4 is given as
// ::ffff:a.b.c.d. Of many hosts whole ranges are let in, between which there are the fewest others.
Status accept_only_from(int socket, const std::vector<in6_addr>& hosts);

}  // namespace hiroba
