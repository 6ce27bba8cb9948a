// A transport within one process: the memory of all ranks in one file, which each of them reaches.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "memory/sparse.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class OneMemory final : public Transport, RemoteWords {
 public:
  explicit OneMemory(uint64_t bytes) {
    parts_ = {&one_sided_, this, nullptr, nullptr};
    EXPECT_TRUE(memory_.create("tests", bytes).ok());
  }
  char* memory() const { return memory_.data(); }

  const char* name() const override { return "one memory"; }
  Status start(const Config&) override { return {}; }
  void stop() override {}
  Status attach(uint64_t, uint64_t, int) override { return {}; }
  void detach(uint64_t, uint64_t) override {}
  void put(int, uint64_t to, const void* from, size_t bytes) override { std::memcpy(memory() + to, from, bytes); }
  void get(void* to, int, uint64_t from, size_t bytes) override {
    ++gets_;
    std::memcpy(to, memory() + from, bytes);
  }
  uint64_t gets() const { return gets_; }
  bool fence() override { return false; }
  void send(int, int, const void*, size_t) override { FAIL() << "all memory is reached"; }
  bool progress() override { return false; }
  void sleep(double) override {}
  char* local_address(int, uint64_t offset) const override { return memory() + offset; }
  uint64_t perform(int, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) override {
    return perform_here(memory() + at, operation, operand, expected);
  }
  uint32_t await_change(int, uint64_t, uint32_t, double) override { return ADD_FAILURE() << "nobody waits", 0; }
  void wake(int, uint64_t) override {}

 private:
  SparseFile memory_;
  std::atomic<uint64_t> gets_{0};
  OneSided one_sided_{*this};
};

}  // namespace hiroba
