// UCX between the processes of one machine, in transport ucx and in an MPI. Its transport sysv is never used: its
// segments have mode 660, so that the user's group can look into them. What takes its place needs room in /dev/shm.
#pragma once

#include <sys/statvfs.h>

#include <cstdint>

namespace hiroba {

inline bool shared_memory_has_room(int ranks) {
  constexpr uint64_t of_rank = 16 << 20;  // some 5 MiB at first
  struct statvfs found = {};
  return statvfs("/dev/shm", &found) == 0 &&
         static_cast<uint64_t>(found.f_bavail) * found.f_frsize >= of_rank * static_cast<uint64_t>(ranks);
}

}  // namespace hiroba
