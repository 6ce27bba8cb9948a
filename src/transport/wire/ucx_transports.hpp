// Chooses the transports that UCX may use between the processes of one machine, in transport ucx and in an MPI on UCX.
//
// sysv never: its segments have mode 660, so that the user's group can look into them. tcp only where it is needed: to
// its port anybody on the machine may connect, and UCX's own protocol knows no authentication. posix, which takes their
// place, needs room in /dev/shm.
#pragma once

#include <sys/statvfs.h>

#include <cstdint>
#include <cstdlib>

namespace hiroba {

inline bool shared_memory_has_room(int ranks) {
  constexpr uint64_t of_rank = 16 << 20;  // some 5 MiB at first
  struct statvfs found = {};
  return statvfs("/dev/shm", &found) == 0 &&
         static_cast<uint64_t>(found.f_bavail) * found.f_frsize >= of_rank * static_cast<uint64_t>(ranks);
}

struct UcxTransports {
  const char* transports = nullptr;  // UCX_TLS
  const char* devices = nullptr;     // UCX_NET_DEVICES
};

// Requires that all `ranks` of the job are on this machine. A user who names devices wants a network; what a user has
// named has no value here.
inline UcxTransports ucx_transports_here(int ranks) {
  const bool names_devices = std::getenv("UCX_NET_DEVICES") != nullptr;
  const bool shares = !names_devices && shared_memory_has_room(ranks);
  if (std::getenv("UCX_TLS") != nullptr) return {};
  return {shares ? "^sysv,tcp" : "^sysv,posix", shares || names_devices ? nullptr : "lo"};
}

}  // namespace hiroba
