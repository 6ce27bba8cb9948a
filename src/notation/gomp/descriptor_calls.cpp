// Calls of the program on descriptors, which may be of another rank.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

// Attributes of these functions, which tell that an argument is not null, mean nothing for their types.
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace hiroba::openmp {

namespace {

// call<function>: the function, whose first argument is a descriptor.
template <typename Function>
struct Lent;
template <typename Result, typename... Parameters>
struct Lent<Result(int, Parameters...)> {
  template <auto* function>
  static Result call(int descriptor, Parameters... arguments) {
    const Borrowed file(descriptor);
    if (file.failed()) return static_cast<Result>(-1);
    return function(file.here(), arguments...);
  }
  // The same for a function that gives results by addresses.
  template <auto* function>
  static Result touched(int descriptor, Parameters... arguments) {
    const Borrowed file(descriptor);
    if (file.failed()) return static_cast<Result>(-1);
    if (!in_program) return function(descriptor, arguments...);
    return call_touched<Result, int, Parameters...>(function, file.here(), arguments...);
  }
  // The same for a function that returns another descriptor.
  template <auto* function>
  static Result opened(int descriptor, Parameters... arguments) {
    const Result result = touched<function>(descriptor, arguments...);
    return in_program ? instance<Descriptors>().adopt(result) : result;
  }
};
template <typename Result, typename... Parameters>
struct Lent<Result(int, Parameters...) noexcept> : Lent<Result(int, Parameters...)> {};

ssize_t read_checked(int descriptor, void* to, size_t bytes, size_t) {
  return Lent<decltype(read)>::call<read>(descriptor, to, bytes);
}
ssize_t pread_checked(int descriptor, void* to, size_t bytes, off_t offset, size_t) {
  return Lent<decltype(pread)>::call<pread>(descriptor, to, bytes, offset);
}

// Such a lock is of a process, which loses it when it closes any descriptor of the file.
bool may_lock(int descriptor, const char* call) {
  if (!in_program) return true;
  Descriptors& descriptors = instance<Descriptors>();
  descriptors.keep_for_locks();
  if (descriptors.is_own(descriptor)) return true;
  log_line(
      "%s() cannot lock the file of descriptor %d in this rank, which has not opened it: leave this to main, open the "
      "file in the region, or use flock()",
      call, descriptor);
  return errno = ENOLCK, false;
}

int lock_part(int descriptor, int command, off_t bytes) {
  if (command != F_TEST && !may_lock(descriptor, "lockf")) return -1;
  return Lent<decltype(lockf)>::call<lockf>(descriptor, command, bytes);
}

// The third argument may be a number, or an address; a file lock is brought.
int control(int descriptor, int command, long argument) {
  const bool opens = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  const bool locks = command == F_GETLK || command == F_SETLK || command == F_SETLKW;
  if (locks && command != F_GETLK && !may_lock(descriptor, "fcntl")) return -1;
  const Borrowed file(descriptor);
  if (file.failed()) return -1;
  if (in_program && locks) touch(reinterpret_cast<void*>(argument), sizeof(struct flock), true);
  const int result = fcntl(file.here(), command, argument);
  return in_program && opens ? instance<Descriptors>().adopt(result) : result;
}

int control_device(int descriptor, unsigned long command, void* argument) {
  const Borrowed file(descriptor);
  return file.failed() ? -1 : ioctl(file.here(), command, argument);
}

int duplicate(int descriptor) {
  const Borrowed file(descriptor);
  if (file.failed()) return -1;
  return in_program ? instance<Descriptors>().adopt(dup(file.here())) : dup(descriptor);
}

int duplicate_as(int descriptor, int number, int flags) {
  const Borrowed file(descriptor);
  if (file.failed()) return -1;
  if (in_program && !instance<Descriptors>().is_own(number)) {
    log_line("dup2() cannot make descriptor %d, which is of another rank: leave this to main, or use dup()", number);
    return errno = EBADF, -1;
  }
  const int result = flags != 0 || file.here() != number ? dup3(file.here(), number, flags) : number;
  if (in_program && result >= 0 && number <= STDERR_FILENO) instance<ProcessState>().standard_has_changed(number);
  return result;
}
int duplicate_to(int descriptor, int number) {
  if (descriptor == number) return fcntl(descriptor, F_GETFD) < 0 ? -1 : number;
  return duplicate_as(descriptor, number, 0);
}

int close_file(int descriptor) {
  if (in_program) instance<Descriptors>().forget(descriptor);
  if (!in_program || instance<Descriptors>().is_own(descriptor)) return close(descriptor);
  log_line("close(%d) in a rank that has not opened it: let main close what main has opened", descriptor);
  return errno = EBADF, -1;
}

}  // namespace

#define LENT(name) take(calls, #name, Lent<decltype(::name)>::call<::name>)
#define LENT_AND_TOUCHED(name) take(calls, #name, Lent<decltype(::name)>::touched<::name>)
#define LENT_AND_OPENED(name) take(calls, #name, Lent<decltype(::name)>::opened<::name>)

void add_descriptor_calls(std::vector<Import>& calls) {
  LENT(read), LENT(write), LENT(pread), LENT(pread64), LENT(pwrite), LENT(pwrite64), LENT(readv), LENT(writev);
  LENT(preadv), LENT(pwritev), LENT(lseek), LENT(lseek64), LENT(fsync), LENT(fdatasync), LENT(ftruncate);
  LENT(ftruncate64), LENT(isatty), LENT(fchmod), LENT(posix_fallocate), LENT(flock);
  LENT_AND_TOUCHED(fstat), LENT_AND_TOUCHED(fstat64), LENT_AND_TOUCHED(fstatat), LENT_AND_TOUCHED(unlinkat);
  LENT_AND_TOUCHED(mkdirat), LENT_AND_TOUCHED(faccessat), LENT_AND_TOUCHED(readlinkat), LENT_AND_TOUCHED(utimensat);
  LENT_AND_TOUCHED(futimens), LENT_AND_TOUCHED(fchmodat), LENT_AND_TOUCHED(fchownat), LENT_AND_TOUCHED(fstatfs);
  LENT_AND_TOUCHED(fstatfs64), LENT_AND_TOUCHED(fstatvfs), LENT_AND_TOUCHED(fstatvfs64), LENT(fallocate);
  LENT(fallocate64), LENT(posix_fallocate64), LENT(posix_fadvise), LENT(posix_fadvise64), LENT(readahead);
  LENT(fchown), LENT(syncfs), LENT(preadv2), LENT(pwritev2), LENT(preadv64), LENT(pwritev64);
  LENT(recv), LENT(recvfrom), LENT(recvmsg), LENT(send), LENT(sendto), LENT(sendmsg), LENT(shutdown), LENT(listen);
  LENT_AND_TOUCHED(bind), LENT_AND_TOUCHED(connect), LENT_AND_TOUCHED(getsockname), LENT_AND_TOUCHED(getpeername);
  LENT_AND_TOUCHED(getsockopt), LENT_AND_TOUCHED(setsockopt), LENT_AND_OPENED(accept), LENT_AND_OPENED(accept4);
  LENT_AND_TOUCHED(timerfd_settime), LENT_AND_TOUCHED(timerfd_gettime), LENT_AND_TOUCHED(inotify_add_watch);
  for (const char* const name : {"lockf", "lockf64"}) take(calls, name, lock_part);
  take(calls, "__read_chk", read_checked), take(calls, "__pread_chk", pread_checked);
  take(calls, "fcntl", control), take(calls, "fcntl64", control), take(calls, "ioctl", control_device);
  take(calls, "dup", duplicate), take(calls, "dup2", duplicate_to), take(calls, "dup3", duplicate_as);
  take(calls, "close", close_file);
}

}  // namespace hiroba::openmp
