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
    parts_.words = this;
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
  uint64_t fetch_add64(int, uint64_t at, uint64_t value) override { return word(at).fetch_add(value); }
  uint64_t compare_swap64(int, uint64_t at, uint64_t expected, uint64_t desired) override {
    word(at).compare_exchange_strong(expected, desired);
    return expected;
  }
  uint32_t fetch_add32(int, uint64_t, uint32_t) override { return ADD_FAILURE() << "words have 64 bits", 0; }
  uint32_t compare_swap32(int, uint64_t, uint32_t, uint32_t) override { return fetch_add32(0, 0, 0); }
  uint32_t await_change(int, uint64_t, uint32_t, double) override { return fetch_add32(0, 0, 0); }
  void wake(int, uint64_t) override {}

 private:
  std::atomic_ref<uint64_t> word(uint64_t at) const {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(memory() + at));
  }
  SparseFile memory_;
  std::atomic<uint64_t> gets_{0};
};

}  // namespace hiroba
