#include "openmp/system/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <functional>
#include <string_view>

#include "base/debug/peek.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "openmp/program/runtime.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

// Tells machines, and containers with processes of their own, from each other.
uint64_t this_machine() {
  char id[64] = {};
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (read(file, id, sizeof id - 1) < 0) id[0] = '\0';
    close(file);
  }
  struct stat processes = {};
  stat("/proc/self/ns/pid", &processes);
  return std::hash<std::string_view>()(id) ^ processes.st_ino;
}

// Returns the least number above those that are open, with room for more.
int number_above_all() {
  constexpr int room = 64;
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int most = file;
  for (int number = file; number < file + 1024; ++number)
    if (fcntl(number, F_GETFD) >= 0) most = number;
  close(file);
  return most + room;
}

}  // namespace

// All ranks need the same limit, of which rank 0 has the first half.
Status Descriptors::begin(Memory& memory) {
  memory_ = &memory;
  constexpr rlim_t most = 1 << 16;
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, most));
  setrlimit(RLIMIT_NOFILE, &limit);
  const Job& job = memory.job();
  const int numbers = static_cast<int>(std::min(limit.rlim_cur, most));
  first_ = numbers / 2;
  each_ = (numbers - first_) / std::max(1, job.nranks - 1);
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(job, "processes", sizeof(Process), 1), at));
  processes_ = static_cast<Process*>(at);
  processes_[job.rank] = {getpid(), this_machine()};
  least_ = std::min(number_above_all(), first_ / 2);
  let_others_peek();
  return {};
}

int Descriptors::owner(int descriptor) const {
  return descriptor < first_ ? 0 : std::min(1 + (descriptor - first_) / each_, memory_->job().nranks - 1);
}

bool Descriptors::is_own(int descriptor) const {
  return memory_ == nullptr || descriptor <= STDERR_FILENO || owner(descriptor) == memory_->job().rank;
}

int Descriptors::adopt(int descriptor) {
  if (descriptor <= STDERR_FILENO || memory_ == nullptr) return descriptor;
  const int rank = memory_->job().rank, least = rank == 0 ? least_ : first_ + (rank - 1) * each_;
  const int end = rank == 0 ? first_ : least + each_;
  if (descriptor >= least && descriptor < end) return descriptor;
  const bool closes = (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
  const int number = fcntl(descriptor, closes ? F_DUPFD_CLOEXEC : F_DUPFD, least);
  if (number >= end) close(number);
  if (number < 0 || number >= end) return close(descriptor), errno = EMFILE, -1;
  struct stat about = {};
  if (!keeps_ || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return close(descriptor), number;
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  kept_[number] = descriptor;
  return number;
}

void Descriptors::forget(int descriptor) {
  if (!keeps_) return;
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  const auto kept = kept_.find(descriptor);
  if (kept == kept_.end()) return;
  close(kept->second);
  kept_.erase(kept);
}

void Descriptors::adopt(FILE* stream) {
  if (stream == nullptr || stream->_fileno <= STDERR_FILENO) return;
  if (const int number = adopt(stream->_fileno); number >= 0) stream->_fileno = number;
}

pid_t Descriptors::process(int rank) const {
  const Process& there = processes_[rank];
  return there.machine == processes_[memory_->job().rank].machine ? static_cast<pid_t>(there.number) : 0;
}

int Descriptors::take(int rank, int descriptor) const {
  const pid_t there = process(rank);
  return there == 0 ? -1 : take_descriptor(there, descriptor);
}

int Descriptors::take(int descriptor) const {
  const InRuntime runtime;
  const int rank = owner(descriptor), taken = take(rank, descriptor);
  const bool is_here = process(rank) != 0;
  if (taken >= 0 || (is_here && errno == EBADF)) return taken;
  log_line("descriptor %d is of rank %d, %s: open the file in the region, or leave this to main", descriptor, rank,
           is_here ? "from which this system takes none (pidfd_getfd)" : "which is on another host");
  return errno = EBADF, -1;
}

std::string Descriptors::name_here(const char* name) const {
  const std::string_view whole = name;
  for (const std::string_view folder : {"/proc/self/fd/", "/dev/fd/"}) {
    if (!whole.starts_with(folder)) continue;
    int number = 0;
    const char* const end = whole.data() + whole.size();
    const auto [rest, error] = std::from_chars(whole.data() + folder.size(), end, number);
    if (error != std::errc() || rest != end || is_own(number)) continue;
    const pid_t there = process(owner(number));
    if (there != 0) return format("/proc/%d/fd/%d", there, number);
  }
  return name;
}

void Descriptors::take_standard(int descriptor) const {
  const int taken = memory_->job().rank == 0 ? -1 : take(0, descriptor);
  if (taken < 0) return;
  dup2(taken, descriptor);
  close(taken);
}

Borrowed::Borrowed(int descriptor)
    : taken_(in_program && !instance<Descriptors>().is_own(descriptor)),
      here_(taken_ ? instance<Descriptors>().take(descriptor) : descriptor) {}

Borrowed::~Borrowed() {
  if (!taken_ || here_ < 0) return;
  const int error = errno;
  close(here_);
  errno = error;
}

}  // namespace hiroba::openmp
