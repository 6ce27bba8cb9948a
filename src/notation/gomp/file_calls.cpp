// Calls of the program whose arguments point to memory that the system reads or writes: names of files, and results. It
// may be shared, and is brought before. What they open gets a number of this rank.
#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

// Attributes of these functions, which tell that an argument is not null, mean nothing for their types.
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace hiroba::openmp {

namespace {

// call<function>: the function with its arguments touched; opened: the same, for a function that returns a descriptor.
template <typename Function>
struct Touched;
template <typename Result, typename... Parameters>
struct Touched<Result(Parameters...)> {
  template <auto* function>
  static Result call(Parameters... arguments) {
    if (!in_program) return function(arguments...);
    return call_touched<Result, Parameters...>(function, arguments...);
  }
  template <auto* function>
  static Result opened(Parameters... arguments) {
    if (!in_program) return function(arguments...);
    return instance<Descriptors>().adopt(call_touched<Result, Parameters...>(function, arguments...));
  }
};
template <typename Result, typename... Parameters>
struct Touched<Result(Parameters...) noexcept> : Touched<Result(Parameters...)> {};

// The name, in memory of the rank's own.
std::string here(const char* name) {
  const InRuntime runtime;
  return instance<Descriptors>().name_here(name);
}

int open_file(const char* name, int flags, mode_t mode) {
  if (const int unit = in_program ? FortranUnits::unit_of(name) : 0; unit != 0)
    return instance<FortranUnits>().open_file_in_memory(unit);
  return in_program ? open(here(name).c_str(), flags, mode) : open(name, flags, mode);
}
ssize_t read_link(const char* name, char* to, size_t bytes) {
  return in_program ? readlink(here(name).c_str(), to, bytes) : readlink(name, to, bytes);
}
int look_at(const char* name, struct stat* about) {
  return in_program ? stat(here(name).c_str(), about) : stat(name, about);
}
int open_in(int folder, const char* name, int flags, mode_t mode) {
  const Borrowed from(folder);
  return openat(from.here(), name, flags, mode);
}

template <FILE* (*function)(const char*, const char*)>
FILE* open_stream(const char* name, const char* mode) {
  if (!in_program) return function(name, mode);
  FILE* const stream = call_touched<FILE*, const char*, const char*>(function, name, mode);
  instance<Descriptors>().adopt(stream);
  return stream;
}

// The process that popen() starts reads what the C library has allocated, which option check closes.
FILE* open_command(const char* command, const char* mode) {
  if (!in_program) return popen(command, mode);
  const std::string own = here(command);
  std::optional<InRuntime> runtime;
  if (words::checked) runtime.emplace(), touch_stack();
  FILE* const stream = popen(own.c_str(), mode);
  runtime.reset();
  instance<Descriptors>().adopt(stream);
  return stream;
}

FILE* open_again(const char* name, const char* mode, FILE* stream) {
  if (in_program && name != nullptr) touch_all(name, mode);
  FILE* const opened = freopen(name, mode, stream);
  if (!in_program || opened == nullptr) return opened;
  if (opened->_fileno <= STDERR_FILENO) instance<ProcessState>().standard_has_changed(opened->_fileno);
  else instance<Descriptors>().adopt(opened);
  return opened;
}

FILE* stream_on(int descriptor, const char* mode) {
  const Borrowed from(descriptor);
  if (from.failed()) return nullptr;
  if (from.here() == descriptor) return fdopen(descriptor, mode);
  FILE* const stream = fdopen(dup(from.here()), mode);
  instance<Descriptors>().adopt(stream);
  return stream;
}

// open(): makes the two descriptors, and returns as pipe() does.
template <typename Open>
int open_two(int* ends, const Open& open) {
  if (in_program) touch(ends, 2 * sizeof *ends, true);
  if (open() != 0) return -1;
  if (in_program)
    for (int i = 0; i < 2; ++i) ends[i] = instance<Descriptors>().adopt(ends[i]);
  return 0;
}
int open_pair(int* ends, int flags) {
  return open_two(ends, [=] { return pipe2(ends, flags); });
}
int open_plain_pair(int* ends) { return open_pair(ends, 0); }
int open_sockets(int domain, int type, int protocol, int* ends) {
  return open_two(ends, [=] { return socketpair(domain, type, protocol, ends); });
}

char* resolve(const char* name, char* resolved) {
  if (!in_program) return realpath(name, resolved);
  const std::string own = here(name);
  char found[PATH_MAX];
  {
    const InRuntime runtime;
    if (realpath(own.c_str(), found) == nullptr) return nullptr;
  }
  return resolved == nullptr ? strdup(found) : std::strcpy(resolved, found);
}

char* working_folder(char* to, size_t bytes) {
  if (!in_program || to != nullptr)
    return in_program ? call_touched<char*, char*, size_t>(getcwd, to, bytes) : getcwd(to, bytes);
  char found[PATH_MAX];
  {
    const InRuntime runtime;
    if (getcwd(found, sizeof found) == nullptr) return nullptr;
  }
  if (bytes != 0 && std::strlen(found) >= bytes) return errno = ERANGE, nullptr;
  return strdup(found);
}

template <FILE* (*function)()>
FILE* open_temporary() {
  FILE* const stream = function();
  if (in_program) instance<Descriptors>().adopt(stream);
  return stream;
}

}  // namespace

#define TOUCHED(name) take(calls, #name, Touched<decltype(::name)>::call<::name>)
#define OPENED(name) take(calls, #name, Touched<decltype(::name)>::opened<::name>)

void add_file_calls(std::vector<Import>& calls) {
  for (const char* const name : {"open", "open64", "__open_2", "__open64_2"})
    take(calls, name, Touched<decltype(open_file)>::opened<open_file>);
  for (const char* const name : {"openat", "openat64", "__openat_2", "__openat64_2"})
    take(calls, name, Touched<decltype(open_in)>::opened<open_in>);
  OPENED(creat), OPENED(creat64), OPENED(mkstemp), OPENED(mkstemp64), OPENED(mkostemp), OPENED(shm_open);
  OPENED(memfd_create), OPENED(socket), OPENED(epoll_create), OPENED(epoll_create1), OPENED(eventfd);
  OPENED(timerfd_create), OPENED(inotify_init), OPENED(inotify_init1), OPENED(mkstemps), OPENED(mkostemps);
  for (const char* const name : {"fopen", "fopen64"}) take(calls, name, open_stream<fopen>);
  for (const char* const name : {"freopen", "freopen64"}) take(calls, name, open_again);
  take(calls, "popen", open_command), take(calls, "getcwd", working_folder), take(calls, "fdopen", stream_on);
  take(calls, "pipe", open_plain_pair), take(calls, "pipe2", open_pair), take(calls, "socketpair", open_sockets);
  take(calls, "tmpfile", open_temporary<tmpfile>), take(calls, "tmpfile64", open_temporary<tmpfile64>);
  take(calls, "realpath", resolve);
  TOUCHED(access), TOUCHED(chmod), TOUCHED(chown), TOUCHED(link), TOUCHED(lstat), TOUCHED(lstat64), TOUCHED(mkdir);
  TOUCHED(mkdtemp), TOUCHED(mkfifo), TOUCHED(remove), TOUCHED(rename);
  TOUCHED(rmdir), TOUCHED(statvfs), TOUCHED(statvfs64), TOUCHED(symlink);
  TOUCHED(truncate), TOUCHED(truncate64), TOUCHED(unlink), TOUCHED(utime), TOUCHED(shm_unlink);
  take(calls, "readlink", Touched<decltype(read_link)>::call<read_link>);
  for (const char* const name : {"stat", "stat64"}) take(calls, name, Touched<decltype(look_at)>::call<look_at>);
  TOUCHED(clock_nanosleep), TOUCHED(getentropy), TOUCHED(gethostname), TOUCHED(getrandom);
  TOUCHED(nanosleep), TOUCHED(sysinfo), TOUCHED(times), TOUCHED(uname), TOUCHED(utimes);
}

}  // namespace hiroba::openmp
