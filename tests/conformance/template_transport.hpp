// A template for a new transport: the smallest thing that satisfies the contract, for one rank. Copy it to
// src/transport/NAME/, make each function of the core reach other ranks, add one line to src/transport/registry.cpp,
// and run this suite over it. Then replace the words and barriers by messages with the network's own.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "conformance/by_messages.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class TemplateTransport final : public Transport {
 public:
  TemplateTransport() { parts_ = {&one_sided_, &words_, &barriers_, nullptr}; }
  const char* name() const override { return "template"; }

  Status start(const Config& config) override {
    if (config.job.nranks != 1) return Status::error("the template transport reaches one rank only");
    words_.start(config.base);
    barriers_.start(config);
    return Transport::start(config);
  }
  void stop() override {}

  Status attach(uint64_t, uint64_t, int) override { return {}; }
  void detach(uint64_t, uint64_t) override {}

  void put(int, uint64_t to, const void* from, size_t bytes) override { std::memcpy(config().base + to, from, bytes); }
  void get(void* to, int, uint64_t from, size_t bytes) override { std::memcpy(to, config().base + from, bytes); }
  bool fence() override { return false; }

  // Everything is here. A transport whose memory is not must override start_get instead.
  char* local_address(int, uint64_t offset) const override { return config().base + offset; }

  void send(int, int handler, const void* payload, size_t bytes) override {
    const std::lock_guard guard(mutex_);
    const auto* begin = static_cast<const char*>(payload);
    queue_.push_back({handler, std::vector<char>(begin, begin + bytes)});
  }

  bool progress() override {
    std::unique_lock guard(mutex_);
    if (queue_.empty()) return false;
    const Message message = std::move(queue_.front());
    queue_.pop_front();
    guard.unlock();  // the handler may send
    deliver(message.handler, 0, message.payload.data(), message.payload.size());
    return true;
  }

  void sleep(double) override {}  // nobody else can send

 private:
  struct Message {
    int handler;
    std::vector<char> payload;
  };
  std::mutex mutex_;  // guards queue_
  std::deque<Message> queue_;
  OneSided one_sided_{*this};
  WordsByMessages words_{*this};
  BarriersByMessages barriers_{*this};
};

}  // namespace hiroba
