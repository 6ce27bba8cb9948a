// What every part of this floor needs to know of the job, and how a rank waits here. Thread-safe.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "base/wait.hpp"
#include "memory/memory.hpp"
#include "transport/transport.hpp"

namespace hiroba {

// Handlers of the transport that are this floor's.
enum CoarrayHandler { on_post = Transport::first_user_handler + 1, on_pair_sync, on_parcel, on_update };

// What the program called, for messages.
struct Call {
  const char* name;   // "xmp_sync_image"
  const char* place;  // "main.c:12", or nothing
  std::string text() const { return *place == '\0' ? name : format("%s at %s", name, place); }
  // The same, cut to what fits, for those who have no time to allocate.
  const char* write(std::span<char> out) const {
    char* at = out.data();
    char* const end = at + out.size() - 1;
    for (const char* part : {name, *place == '\0' ? "" : " at ", place})
      while (*part != '\0' && at < end) *at++ = *part++;
    *at = '\0';
    return out.data();
  }
};

// What has to go on while this rank waits for something else; true if anything happened.
class Background {
 public:
  virtual bool go_on() = 0;

 protected:
  ~Background() = default;
};

struct World {
  Memory* memory = nullptr;
  Transport* transport = nullptr;
  char* base = nullptr;  // address of offset 0
  int rank = 0, nranks = 1;
  int spins = 0;
  Background* background = nullptr;

  bool near(int r) const { return memory->job().node_of(r) == memory->job().node; }
  // Where this process can access that memory by itself; null if it cannot.
  char* reach(int r, uint64_t offset) const { return near(r) ? base + offset : transport->reach(r, offset); }

  // True if anything happened.
  bool drive() const {
    const bool any = transport->progress();
    return background->go_on() || any;
  }
  // Drives until done(); a status that says what was waited for, which `what` tells, after option timeout.
  template <typename Done, typename What>
  Status await(const Done& done, const What& what) const {
    for (Patience patience(spins, long_yielding); patience.step();) {
      if (done()) return {};
      drive();
    }
    return await_long(done, what);
  }

  // The same for a 32-bit word that any rank may change, until done(word); `at` is its offset.
  template <typename Done, typename What>
  Status await_word(int owner, uint64_t at, const Done& done, const What& what) const {
    uint32_t word = transport->fetch_add32(owner, at, 0);
    if (done(word)) return {};
    const Stay stay(*this, what());
    while (!done(word)) {
      constexpr double look = 0.01;
      word = transport->await_change(owner, at, word, look);
      drive();
      if (!done(word) && stay.too_long()) return stay.late(what());
    }
    return {};
  }

 private:
  // While it lives, others see on the board what this rank is waiting in.
  class Stay {
   public:
    Stay(const World& world, const std::string& text)
        : self_(world.memory->board().rank(world.rank)), timeout_(world.memory->timeout()) {
      std::strncpy(self_.where, text.c_str(), sizeof self_.where - 1);
      self_.waiting.store(1, std::memory_order_relaxed);
    }
    ~Stay() { self_.waiting.store(0, std::memory_order_relaxed); }
    double waited() const { return seconds_now() - start_; }
    bool too_long() const { return timeout_ > 0 && waited() > timeout_; }
    Status late(const std::string& what) const {
      return Status::error(format("waited %.3g s (option timeout) in %s", timeout_, what.c_str()));
    }

   private:
    RankBoard& self_;
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
