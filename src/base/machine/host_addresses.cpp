#include "base/machine/host_addresses.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hiroba {

in6_addr as_ipv6(const in_addr& four) {
  in6_addr six = {};
  six.s6_addr[10] = six.s6_addr[11] = 0xff;
  std::memcpy(six.s6_addr + 12, &four, sizeof four);
  return six;
}

bool address_of(const sockaddr* from, in6_addr& out, int& port) {
  if (from == nullptr) return false;
  sockaddr_in four;
  sockaddr_in6 six;
  if (from->sa_family == AF_INET) {
    std::memcpy(&four, from, sizeof four);
    return out = as_ipv6(four.sin_addr), port = ntohs(four.sin_port), true;
  }
  if (from->sa_family != AF_INET6) return false;
  std::memcpy(&six, from, sizeof six);
  return out = six.sin6_addr, port = ntohs(six.sin6_port), true;
}

std::vector<in6_addr> own_addresses(size_t most) {
  std::vector<in6_addr> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr && found.size() < most; one = one->ifa_next) {
    in6_addr address = {};
    int port = 0;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (address_of(one->ifa_addr, address, port)) found.push_back(address);
  }
  freeifaddrs(all);
  return found;
}

std::string to_text(const in6_addr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (IN6_IS_ADDR_V4MAPPED(&address)) inet_ntop(AF_INET, address.s6_addr + 12, text, sizeof text);
  else inet_ntop(AF_INET6, &address, text, sizeof text);
  return text;
}

uint64_t hash_bytes(uint64_t seed, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) seed = (seed ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3;
  return seed;
}

uint64_t machine_key(const char* host) {
  uint64_t key = hash_bytes(0xcbf29ce484222325, host, std::strlen(host));
  char boot[64] = "";
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    const ssize_t got = read(fd, boot, sizeof boot);
    key = hash_bytes(key, boot, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    close(fd);
  }
  struct stat space;
  if (stat("/proc/self/ns/pid", &space) == 0) key = hash_bytes(key, &space.st_ino, sizeof space.st_ino);
  const char* const slurm = std::getenv("SLURMD_NODENAME");
  return slurm == nullptr ? key : hash_bytes(key, slurm, std::strlen(slurm));
}

}  // namespace hiroba
