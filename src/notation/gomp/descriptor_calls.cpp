// Calls of the program on descriptors, which may be of another rank.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

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

// ---- several descriptors, and printing ---------------------------------------------------------------------------

// Between two files.
template <typename Result, typename... Parameters, typename... Arguments>
Result call_here(Result (*function)(Parameters...), Arguments... arguments) {
  return in_program ? call_touched<Result, Parameters...>(function, arguments...) : function(arguments...);
}

ssize_t send_file(int to, int from, off_t* offset, size_t bytes) {
  const Borrowed out(to), in(from);
  if (out.failed() || in.failed()) return -1;
  return call_here(sendfile, out.here(), in.here(), offset, bytes);
}

template <auto* function>
ssize_t move_between(int from, off64_t* at, int to, off64_t* there, size_t bytes, unsigned flags) {
  const Borrowed in(from), out(to);
  if (in.failed() || out.failed()) return -1;
  return call_here(function, in.here(), at, out.here(), there, bytes, flags);
}

ssize_t copy_between_pipes(int from, int to, size_t bytes, unsigned flags) {
  const Borrowed in(from), out(to);
  return in.failed() || out.failed() ? -1 : tee(in.here(), out.here(), bytes, flags);
}

int rename_in(int from, const char* name, int to, const char* target) {
  const Borrowed old_folder(from), new_folder(to);
  if (old_folder.failed() || new_folder.failed()) return -1;
  return call_here(renameat, old_folder.here(), name, new_folder.here(), target);
}

int link_in(int from, const char* name, int to, const char* target, int flags) {
  const Borrowed old_folder(from), new_folder(to);
  if (old_folder.failed() || new_folder.failed()) return -1;
  return call_here(linkat, old_folder.here(), name, new_folder.here(), target, flags);
}

bool is_own(int descriptor) { return !in_program || instance<Descriptors>().is_own(descriptor); }

// Descriptors of this process for those that the program waits for, while it lives.
class Waiting {
 public:
  explicit Waiting(size_t most) { files_.reserve(most), taken_.reserve(most); }
  Waiting(const Waiting&) = delete;
  ~Waiting() {
    const int error = errno;
    for (const int taken : taken_) close(taken);
    errno = error;
  }
  void add(int descriptor, short events) {
    int here = descriptor;
    if (descriptor >= 0 && !instance<Descriptors>().is_own(descriptor)) {
      here = instance<Descriptors>().take(descriptor);
      if (here >= 0) taken_.push_back(here);
      else here = unknown;
    }
    files_.push_back({here, events, 0});
  }
  int wait(const timespec* limit, const sigset_t* mask) { return ppoll(files_.data(), files_.size(), limit, mask); }
  const std::vector<pollfd>& files() const { return files_; }

 private:
  static constexpr int unknown = 0x7fffffff;  // a number that no file has
  std::vector<pollfd> files_;
  std::vector<int> taken_;
};

int wait_for_files(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  if (!in_program) return ppoll(files, count, limit, mask);
  touch(files, count * sizeof *files, true);
  touch_all(limit, mask);
  if (std::all_of(files, files + count, [](const pollfd& file) { return is_own(file.fd); }))
    return ppoll(files, count, limit, mask);
  const InRuntime runtime;
  Waiting waiting(count);
  for (nfds_t i = 0; i < count; ++i) waiting.add(files[i].fd, files[i].events);
  const int result = waiting.wait(limit, mask);
  for (nfds_t i = 0; i < count; ++i) files[i].revents = waiting.files()[i].revents;
  return result;
}

int wait_by_milliseconds(pollfd* files, nfds_t count, int limit) {
  const timespec time = {limit / 1000, limit % 1000 * 1000000L};
  const timespec* const given = limit < 0 ? nullptr : &time;
  return wait_for_files(files, count, given, nullptr);
}

// select(): the sets for reading, writing and errors.
using Sets = std::array<fd_set*, 3>;
constexpr std::array<short, 3> wanted = {POLLIN, POLLOUT, POLLPRI};
constexpr std::array<short, 3> happened = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};

bool has(const fd_set* set, int descriptor) { return set != nullptr && FD_ISSET(descriptor, set); }

int wait_for_sets_elsewhere(int end, const Sets& sets, const timespec* limit, const sigset_t* mask) {
  const InRuntime runtime;
  Waiting waiting(static_cast<size_t>(end));
  std::vector<int> numbers;
  for (int number = 0; number < end; ++number) {
    short events = 0;
    for (size_t i = 0; i < sets.size(); ++i) events |= has(sets[i], number) ? wanted[i] : 0;
    if (events != 0) numbers.push_back(number), waiting.add(number, events);
  }
  int result = waiting.wait(limit, mask);
  if (result < 0) return result;
  result = 0;
  for (size_t at = 0; at < numbers.size(); ++at) {
    const short seen = waiting.files()[at].revents;
    if ((seen & POLLNVAL) != 0) return errno = EBADF, -1;
    for (size_t i = 0; i < sets.size(); ++i) {
      if (!has(sets[i], numbers[at])) continue;
      if ((seen & happened[i]) != 0) ++result;
      else FD_CLR(numbers[at], sets[i]);
    }
  }
  return result;
}

int wait_for_sets(int end, fd_set* reads, fd_set* writes, fd_set* errors, const timespec* limit, const sigset_t* mask) {
  if (!in_program) return pselect(end, reads, writes, errors, limit, mask);
  if (end > FD_SETSIZE)
    end_job(1, "select() with descriptor %d: its sets have numbers below %d, and ranks give larger ones; use poll()",
            end - 1, FD_SETSIZE);
  touch_all(reads, writes, errors, limit, mask);
  const Sets sets = {reads, writes, errors};
  for (int number = 0; number < end; ++number)
    for (const fd_set* const set : sets)
      if (has(set, number) && !is_own(number)) return wait_for_sets_elsewhere(end, sets, limit, mask);
  return pselect(end, reads, writes, errors, limit, mask);
}

int wait_by_microseconds(int end, fd_set* reads, fd_set* writes, fd_set* errors, timeval* limit) {
  if (!in_program) return select(end, reads, writes, errors, limit);
  timespec time = {};
  if (limit != nullptr) time = {limit->tv_sec + limit->tv_usec / 1000000, limit->tv_usec % 1000000 * 1000};
  return wait_for_sets(end, reads, writes, errors, limit != nullptr ? &time : nullptr, nullptr);
}

// A set names its files by their numbers in the process that has added them.
int change_watched(int set, int operation, int descriptor, epoll_event* event) {
  if (in_program) touch_all(event);
  if (is_own(set) && is_own(descriptor)) return epoll_ctl(set, operation, descriptor, event);
  log_line("epoll_ctl(%d, ..., %d) in a rank that has not opened both: call it in main for what main has opened", set,
           descriptor);
  return errno = EBADF, -1;
}

int wait_for_watched(int set, epoll_event* events, int most, int limit) {
  const Borrowed here(set);
  if (here.failed()) return -1;
  if (in_program && most > 0) touch(events, static_cast<size_t>(most) * sizeof *events, true);
  return epoll_wait(here.here(), events, most, limit);
}

// The C library gives the system the text from the stack, which is shared.
int print_list(int descriptor, const char* format, va_list arguments) {
  const Borrowed file(descriptor);
  if (file.failed()) return -1;
  va_list again;
  va_copy(again, arguments);
  const int bytes = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (bytes < 0) return bytes;
  const InRuntime runtime;
  std::string text(static_cast<size_t>(bytes) + 1, '\0');
  vsnprintf(text.data(), text.size(), format, arguments);
  return static_cast<int>(write(file.here(), text.data(), static_cast<size_t>(bytes)));
}
int print_checked_list(int descriptor, int, const char* format, va_list arguments) {
  return print_list(descriptor, format, arguments);
}
int print(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = print_list(descriptor, format, arguments);
  va_end(arguments);
  return result;
}
int print_checked(int descriptor, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = print_list(descriptor, format, arguments);
  va_end(arguments);
  return result;
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
  for (const char* const name : {"sendfile", "sendfile64"}) take(calls, name, send_file);
  take(calls, "copy_file_range", move_between<copy_file_range>), take(calls, "splice", move_between<splice>);
  take(calls, "tee", copy_between_pipes), take(calls, "renameat", rename_in), take(calls, "linkat", link_in);
  take(calls, "poll", wait_by_milliseconds), take(calls, "ppoll", wait_for_files);
  take(calls, "select", wait_by_microseconds), take(calls, "pselect", wait_for_sets);
  take(calls, "epoll_ctl", change_watched), take(calls, "epoll_wait", wait_for_watched);
  take(calls, "dprintf", print), take(calls, "vdprintf", print_list);
  take(calls, "__dprintf_chk", print_checked), take(calls, "__vdprintf_chk", print_checked_list);
}

}  // namespace hiroba::openmp
