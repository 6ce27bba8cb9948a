// Functions of the C library by which a thread blocks signals. Many threads block all, so that others handle them; but
// the kernel ends a process one of whose threads has a page fault while SIGBUS or SIGSEGV is blocked. So these
// functions replace the C library's in programs that link the shared library, and leave the signals of faults open.
//
// They make the system call themselves: sanitizers call them before a symbol can be looked up.
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/thread.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

// Returns 0 or an error number.
int set_mask(int how, const sigset_t* set, sigset_t* old) {
  constexpr int of_the_c_library[] = {32, 33};  // cancellation and setuid(), which it never blocks
  const int error = errno;
  uint64_t wanted = 0, before = 0;  // as the kernel has it: a bit for each signal
  if (set != nullptr) {
    sigset_t open = *set;
    if (how != SIG_UNBLOCK) leave_faults_open(open);
    std::memcpy(&wanted, &open, sizeof wanted);
    for (const int number : of_the_c_library) wanted &= ~(uint64_t{1} << (number - 1));
  }
  const bool fails = syscall(SYS_rt_sigprocmask, how, set != nullptr ? &wanted : nullptr, &before, sizeof before) != 0;
  const int result = fails ? errno : 0;
  errno = error;
  if (!fails && old != nullptr) sigemptyset(old), std::memcpy(old, &before, sizeof before);
  return result;
}

}  // namespace

EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept { return set_mask(how, set, old); }

EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  const int result = set_mask(how, set, old);
  if (result != 0) errno = result;
  return result == 0 ? 0 : -1;
}

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) noexcept {
  using Function = int (*)(pthread_attr_t*, const sigset_t*);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_attr_setsigmask_np"));
  if (next == nullptr) return ENOSYS;
  if (set == nullptr) return next(attributes, nullptr);
  sigset_t open = *set;
  leave_faults_open(open);
  return next(attributes, &open);
}

}  // namespace hiroba
