#include "base/debug/peek.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

Status peek(pid_t process, uint64_t address, void* to, size_t bytes) {
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const iovec here = {at, bytes}, there = {reinterpret_cast<void*>(address), bytes};
    const ssize_t copied = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (copied <= 0) return Status::error(explain_error(errno));
    at += copied, address += static_cast<uint64_t>(copied), bytes -= static_cast<size_t>(copied);
  }
  return {};
}

}  // namespace

// A container may forbid the call; then it fails for the process's own memory, too.
bool peeks_processes() {
  static const bool works = [] {
    let_others_peek();
    uint64_t from = 1, to = 0;
    return peek(getpid(), reinterpret_cast<uint64_t>(&from), &to, sizeof to).ok();
  }();
  return works;
}

Status peek_process(Board& board, int rank, uint64_t address, void* to, size_t bytes) {
  const Status status = peek(board.rank(rank).pid.load(std::memory_order_relaxed), address, to, bytes);
  if (status.ok()) return {};
  return Status::error("cannot read %zu bytes of the memory of rank %d (%s)", bytes, rank, status.message().c_str());
}

namespace {
std::atomic<unsigned long> tracer{PR_SET_PTRACER_ANY};
std::atomic<bool> is_open{false};
}  // namespace

void let_others_peek() {
  is_open = true;
  prctl(PR_SET_PTRACER, tracer.load());
}

void let_only_below_peek(pid_t ancestor) {
  tracer = static_cast<unsigned long>(ancestor);
  if (is_open) prctl(PR_SET_PTRACER, tracer.load());
}

int take_descriptor(pid_t process, int descriptor) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (handle < 0) return -1;
  const int taken = static_cast<int>(syscall(SYS_pidfd_getfd, handle, descriptor, 0));
  close(handle);
  return taken;
}

}  // namespace hiroba
