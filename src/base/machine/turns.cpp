#include "base/machine/turns.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace hiroba {

void take_short_turns() {
  struct {  // sched_attr of the kernel, which the C library has from glibc 2.41 on
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } wish{};
  constexpr uint64_t turn = 100'000;  // ns; the kernel takes 0.1 to 100 ms
  if (syscall(SYS_sched_getattr, 0, &wish, sizeof wish, 0) != 0) return;
  if (wish.policy != SCHED_OTHER || wish.runtime <= turn) return;  // before Linux 6.12 it is 0
  wish.runtime = turn;
  syscall(SYS_sched_setattr, 0, &wish, 0);  // where it is refused, turns stay as long as they are
}

}  // namespace hiroba
