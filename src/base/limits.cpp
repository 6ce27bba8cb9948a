#include "base/limits.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"

namespace hiroba {

namespace {

rlim_t limit_of(__rlimit_resource resource) {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(resource, &limit);
  return limit.rlim_cur;
}

// Returns the maximum number of mappings of a process; 0 if unknown.
long most_mappings() {
  long most = 0;
  FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "re");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%ld", &most) != 1) most = 0;
  std::fclose(file);
  return most;
}

std::string limit_behind(int error) {
  const auto count = [](const char* option, __rlimit_resource resource) {
    return format("; ulimit %s is %lu", option, limit_of(resource));
  };
  if (error == EMFILE) return count("-n", RLIMIT_NOFILE);
  if (error == EAGAIN && limit_of(RLIMIT_NPROC) != RLIM_INFINITY) return count("-u", RLIMIT_NPROC);
  if (error != ENOMEM) return "";
  if (limit_of(RLIMIT_AS) != RLIM_INFINITY) return "; ulimit -v is " + show_bytes(limit_of(RLIMIT_AS));
  const long most = most_mappings();
  return most == 0 ? "" : format("; /proc/sys/vm/max_map_count, the limit of mappings, is %ld", most);
}

}  // namespace

std::string explain_error(int error) {
  const int before = errno;  // callers read it again
  std::string words = std::strerror(error) + limit_behind(error);
  errno = before;
  return words;
}

uint64_t address_limit() {
  const rlim_t limit = limit_of(RLIMIT_AS);
  return limit == RLIM_INFINITY ? UINT64_MAX : limit;
}

std::string locked_memory_limit() {
  const rlim_t most = limit_of(RLIMIT_MEMLOCK);
  return most == RLIM_INFINITY ? "unlimited" : show_bytes(most);
}

Status size_file(int fd, uint64_t bytes, const char* what) {
  if (const rlim_t most = limit_of(RLIMIT_FSIZE); bytes > most)
    return Status::error("cannot size %s to %s: ulimit -f is %s; set it to unlimited (shared memory is in files)", what,
                         show_bytes(bytes).c_str(), show_bytes(most).c_str());
  const auto is_enough = [fd, bytes] {
    struct stat info = {};
    return fstat(fd, &info) == 0 && static_cast<uint64_t>(info.st_size) >= bytes;
  };
  if (is_enough() || ftruncate(fd, static_cast<off_t>(bytes)) == 0) return {};
  const int error = errno;
  if (is_enough()) return {};  // another process has made it larger, and it must not shrink
  errno = error;
  return Status::error("cannot size %s to %s (%s)", what, show_bytes(bytes).c_str(), explain_error(errno).c_str());
}

}  // namespace hiroba
