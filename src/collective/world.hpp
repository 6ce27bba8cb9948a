// What this floor and those above need to know of the job, and how a rank waits for others. Thread-safe.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/job.hpp"
#include "base/status.hpp"
#include "base/wait.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class Requests;

// What the program called, for messages.
struct Call {
  const char* name;   // "xmp_sync_image"
  const char* place;  // "main.c:12", or nothing
  std::string text() const { return *place == '\0' ? name : format("%s at %s", name, place); }
  // The same, cut to what fits, where there is no time to allocate.
  const char* write(std::span<char> out) const {
    char* at = out.data();
    char* const end = at + out.size() - 1;
    for (const char* part : {name, *place == '\0' ? "" : " at ", place})
      while (*part != '\0' && at < end) *at++ = *part++;
    *at = '\0';
    return out.data();
  }
};

struct World {
  // Given by the floor above.
  Job job;
  Board* board = nullptr;
  Transport* transport = nullptr;
  char* base = nullptr;  // address of offset 0
  double timeout = 0;    // option timeout
  // Filled in by Collective.
  int rank = 0, nranks = 1;
  int spins = 0;
  Requests* requests = nullptr;  // go on whenever this rank waits

  bool near(int r) const { return job.node_of(r) == job.node; }
  // Where this process can access that memory by itself; null if it cannot.
  char* reach(int r, uint64_t offset) const { return near(r) ? base + offset : transport->local_address(r, offset); }

  bool drive() const;  // true if anything happened
  // Drives until done(); a status that says what was waited for, which `what` tells, after option timeout.
  template <typename Done, typename What>
  Status await(const Done& done, const What& what) const {
    for (Backoff backoff(spins, long_yielding); backoff.step();) {
      if (done()) return {};
      drive();
    }
    return await_long(done, what);
  }

  // The same for a 32-bit word that any rank may change, until done(word); `at` is its offset. Others see text() on the
  // board, and what() after a second, when it is worth a message to find out.
  template <typename Done, typename Text, typename What>
  Status await_word(int owner, uint64_t at, const Done& done, const Text& text, const What& what) const {
    uint32_t word = transport->fetch_add32(owner, at, 0);
    if (done(word)) return {};
    constexpr double look = 0.01, long_wait = 1;
    Stay stay(*this, text());
    while (!done(word)) {
      word = transport->await_change(owner, at, word, look);
      drive();
      if (done(word)) break;
      if (stay.too_long()) return stay.late(what());
      if (stay.waited() > long_wait) stay.tell(what);
    }
    return {};
  }

 private:
  // While it lives, others see on the board what this rank is waiting in.
  class Stay {
   public:
    Stay(const World& world, std::string text)
        : self_(world.board->rank(world.rank)), text_(std::move(text)), timeout_(world.timeout) {
      show(text_);
      self_.waiting.store(1, std::memory_order_relaxed);
    }
    ~Stay() {
      if (told_) show(text_);  // what was told is not so any more
      self_.waiting.store(0, std::memory_order_relaxed);
    }
    // Shows more, once.
    template <typename What>
    void tell(const What& what) {
      if (!told_) show(what());
      told_ = true;
    }
    double waited() const { return seconds_now() - start_; }
    bool too_long() const { return timeout_ > 0 && waited() > timeout_; }
    Status late(const std::string& what) const {
      return Status::error(format("waited %.3g s (option timeout) in %s", timeout_, what.c_str()));
    }

   private:
    void show(const std::string& text) const { std::strncpy(self_.where, text.c_str(), sizeof self_.where - 1); }

    RankBoard& self_;
    std::string text_;
    bool told_ = false;
    double timeout_, start_ = seconds_now();
  };

  template <typename Done, typename What>
  Status await_long(const Done& done, const What& what) const {
    const Stay stay(*this, what());
    while (!done()) {
      constexpr double yielding = 2e-3, nap = 1e-3;
      if (drive()) continue;
      if (stay.waited() < yielding) sched_yield();
      else transport->sleep(nap);
      if (stay.too_long() && !done()) return stay.late(what());
    }
    return {};
  }
};

}  // namespace hiroba
