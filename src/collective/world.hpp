// The facts of the job that this floor and those above need, and waits for other ranks. Thread-safe.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/debug/whereabouts.hpp"
#include "base/job.hpp"
#include "base/status.hpp"
#include "base/wait.hpp"
#include "collective/call.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class Operations;
class Requests;

struct World {
  // Set by the floor above.
  Job job;
  Board* board = nullptr;
  Transport* transport = nullptr;
  char* base = nullptr;                             // address of offset 0
  uint64_t extent = 0;                              // of the addresses that all ranks share
  uint64_t rank_memory = 0, rank_memory_bytes = 0;  // offset of the memory that rank 0 allocates alone; of each rank
  double timeout = 0;                               // option timeout
  // Returns the rank of this node that is the home of all these bytes of shared memory; -1 if there is none.
  std::function<int(const void* address, size_t bytes)> home_of;
  // Set by Collective.
  int rank = 0, nranks = 1;
  int spins = 0;
  Requests* requests = nullptr;  // these two advance whenever this rank waits
  Operations* operations = nullptr;

  bool is_shared(const void* address) const {
    return static_cast<uint64_t>(static_cast<const char*>(address) - base) < extent;
  }
  bool near(int r) const { return job.is_here(r); }
  // Returns the rank that has allocated this address alone: its memory is never cached. -1 if none has.
  int allocator_of(const void* address) const {
    const uint64_t at = static_cast<uint64_t>(static_cast<const char*>(address) - base) - rank_memory;
    return at < static_cast<uint64_t>(nranks) * rank_memory_bytes ? static_cast<int>(at / rank_memory_bytes) : -1;
  }
  // Returns true if this process can access that rank's memory directly: it runs on the same machine.
  bool reaches(int r) const { return near(r) || transport->local_address(r, 0) != nullptr; }
  // Returns the address at which this process can access that memory directly; null if it cannot.
  char* reach(int r, uint64_t offset) const { return near(r) ? base + offset : transport->local_address(r, offset); }

  bool drive() const;  // true if anything happened
  // Drives until done(). After option timeout, fails with the text of `what`.
  template <typename Done, typename What>
  Status await(const Done& done, const What& what) const {
    for (Backoff backoff(spins, long_yielding); backoff.step();) {
      if (done()) return {};
      drive();
    }
    return await_long(done, what);
  }

  // Waits for a 32-bit word that any rank may change, until done(word); `at` is its offset. Others see text() on the
  // board, and what() after a second, because computing it may cost a message.
  template <typename Done, typename Text, typename What>
  Status await_word(int owner, uint64_t at, const Done& done, const Text& text, const What& what) const {
    uint32_t word = transport->words().fetch_add32(owner, at, 0);
    if (done(word)) return {};
    constexpr double look = 0.01, long_wait = 1;
    Stay stay(*this, text());
    while (!done(word)) {
      word = transport->words().await_change(owner, at, word, look);
      drive();
      if (done(word)) break;
      if (stay.too_long()) return stay.late(what());
      if (stay.waited() > long_wait) stay.tell(what);
    }
    return {};
  }

 private:
  // Shows on the board what this rank is waiting in, during its lifetime.
  class Stay {
   public:
    Stay(const World& world, std::string text)
        : self_(world.board->rank(world.rank)),
          text_(std::move(text)),
          blocked_(self_, text_.c_str()),
          timeout_(world.timeout) {}
    ~Stay() {
      if (told_) self_.show(text_.c_str());  // the text shown by tell() is not true any more
    }
    // Shows a more detailed text, once.
    template <typename What>
    void tell(const What& what) {
      if (!told_) self_.show((std::string(what()) + interpreted_place()).c_str());
      told_ = true;
    }
    double waited() const { return seconds_now() - start_; }
    bool too_long() const { return timeout_ > 0 && waited() > timeout_; }
    Status late(const std::string& what) const {
      return Status::error("waited %.3g s (option timeout) in %s", timeout_, what.c_str());
    }

   private:
    RankBoard& self_;
    std::string text_;
    BlockedOnBoard blocked_;
    bool told_ = false;
    double timeout_, start_ = seconds_now();
  };

  template <typename Done, typename What>
  Status await_long(const Done& done, const What& what) const {
    const Stay stay(*this, what());
    while (!done()) {
      constexpr double yielding = 2e-3, nap = 1e-3;
      if (drive()) continue;
      if (stay.waited() < yielding) Backoff::yield();
      else transport->sleep(nap);
      if (stay.too_long() && !done()) return stay.late(what());
    }
    return {};
  }
};

}  // namespace hiroba
