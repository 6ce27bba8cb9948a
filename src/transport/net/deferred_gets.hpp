// Epochs, and gets that wait for one. A rank's epoch is the number of barriers that it has passed. A get contains the
// epoch that its home must have reached; an earlier get is deferred until then (README.md, "Barriers and epochs").
//
// Owner: Gets. Wire state (the engine's lock), except epoch() and pass().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/frames.hpp"

namespace hiroba {

class DeferredGets {
 public:
  uint32_t epoch() const { return epoch_.load(); }
  bool is_ahead(uint32_t epoch) const { return static_cast<int32_t>(epoch - epoch_.load()) > 0; }
  // Counts a passed barrier. Returns true if any get waits.
  bool pass() {
    epoch_.fetch_add(1);
    return waiting_.load() != 0;
  }

  // Takes the get if it is too early; returns false if not.
  bool defer(int source, const Head& head, const char* payload, size_t bytes) {
    if (!is_ahead(head.epoch)) return false;
    gets_.push_back({source, head, std::vector<char>(payload, payload + bytes)});
    waiting_.store(gets_.size());
    return true;
  }
  // Calls serve(source, head, payload) for each get that is due.
  template <typename Serve>
  void serve_due(const Serve& serve) {
    const auto early = [this](const Get& get) { return is_ahead(get.head.epoch); };
    if (std::all_of(gets_.begin(), gets_.end(), early)) return;
    std::vector<Get> gets;
    std::swap(gets, gets_);  // serving a get may add others
    for (const Get& get : gets)
      if (!defer(get.source, get.head, get.payload.data(), get.payload.size()))
        serve(get.source, get.head, get.payload.data());
    waiting_.store(gets_.size());
  }

 private:
  struct Get {
    int source;
    Head head;
    std::vector<char> payload;
  };
  std::atomic<uint32_t> epoch_{0};
  std::vector<Get> gets_;
  std::atomic<size_t> waiting_{0};
};

}  // namespace hiroba
