// Calls of the program on several descriptors, each of which may be of another rank, and calls that print to one.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
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

namespace hiroba::openmp {

namespace {

// Between two files.
template <typename Result, typename... Parameters, typename... Arguments>
Result call_here(Result (*function)(Parameters...), Arguments... arguments) {
  return in_program ? call_touched<Result, Parameters...>(function, arguments...) : function(arguments...);
}

ssize_t send_file(int to, int from, off_t* offset, size_t bytes) {
  const Borrowed out(to), in(from);
  if (out.failed() || in.failed()) return -1;
  return call_here<ssize_t, int, int, off_t*, size_t>(sendfile, out.here(), in.here(), offset, bytes);
}

template <auto* function>
ssize_t move_between(int from, off64_t* at, int to, off64_t* there, size_t bytes, unsigned flags) {
  const Borrowed in(from), out(to);
  if (in.failed() || out.failed()) return -1;
  return call_here<ssize_t, int, off64_t*, int, off64_t*, size_t, unsigned>(function, in.here(), at, out.here(), there,
                                                                            bytes, flags);
}

ssize_t copy_between_pipes(int from, int to, size_t bytes, unsigned flags) {
  const Borrowed in(from), out(to);
  return in.failed() || out.failed() ? -1 : tee(in.here(), out.here(), bytes, flags);
}

int rename_in(int from, const char* name, int to, const char* target) {
  const Borrowed old_folder(from), new_folder(to);
  if (old_folder.failed() || new_folder.failed()) return -1;
  return call_here<int, int, const char*, int, const char*>(renameat, old_folder.here(), name, new_folder.here(),
                                                            target);
}

int link_in(int from, const char* name, int to, const char* target, int flags) {
  const Borrowed old_folder(from), new_folder(to);
  if (old_folder.failed() || new_folder.failed()) return -1;
  return call_here<int, int, const char*, int, const char*, int>(linkat, old_folder.here(), name, new_folder.here(),
                                                                 target, flags);
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
  if (!in_program) return vdprintf(descriptor, format, arguments);
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

void add_several_file_calls(std::vector<Import>& calls) {
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
