// The job that a conformance program runs in: this rank's transport, with 16 MiB of memory at every rank. A test is
// run by all ranks together; meet() is the barrier between its parts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace hiroba {

struct TestJob {
  static constexpr uint64_t region = uint64_t{16} << 20;

  Job job;
  std::unique_ptr<Transport> transport;
  char* base = nullptr;
  int message_handler = 0, relay_handler = 0, claim_handler = 0;
  std::atomic<int> messages{0};
  std::atomic<uint64_t> message_sum{0};
  std::atomic<bool> damaged{false};

  int rank() const { return job.rank; }
  int ranks() const { return job.nranks; }
  uint64_t at(int r, uint64_t offset = 0) const { return static_cast<uint64_t>(r) * region + offset; }
  char* mine(uint64_t offset = 0) const { return base + at(rank(), offset); }
  int right() const { return (rank() + 1) % ranks(); }
  int left() const { return (rank() + ranks() - 1) % ranks(); }

  std::vector<uint64_t> exchange(uint64_t word) const;
  void meet() const { exchange(0); }
};

// Started by main() from the environment: CONFORMANCE_TRANSPORT is shm, core, chaos, chaos-core, trace,
// template, or options for what the options say.
TestJob& the_job();

}  // namespace hiroba
