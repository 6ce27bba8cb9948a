// Standing gets: what a rank asks for ahead of every exchange, or of every second one, its home sends unasked, as soon
// as it comes to the exchange. README.md beside this file, "Standing gets", tells how both sides agree on when.
//
// Owner: the network transport. All of it is wire state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "transport/net/wire.hpp"
#include "transport/transport.hpp"

namespace hiroba {

// What the asker and the home of the memory know alike. Sent in a frame.
struct StandingGet {
  static constexpr uint64_t for_ever = UINT64_MAX;
  uint64_t from = 0;
  uint32_t bytes = 0, id = 0;  // the asker's
  uint64_t tag = 0;            // of the exchanges
  uint64_t since = 0;          // the number of the exchange that it was told before
  uint64_t until = for_ever;   // the number of the last
  uint32_t period = 0;         // 0: it does not stand
  uint32_t turns = 0;
  uint64_t tells = 0;  // whether data that comes tells that the home has, with nothing else to say; else it comes empty

  // Whether the data comes with this exchange. Both sides ask once, in each exchange.
  bool due(uint64_t tag_of_this, uint64_t number) {
    if (period == 0 || tag != tag_of_this || number <= since || number > until) return false;
    return ++turns % period == 0;
  }
  static constexpr uint32_t most = 64;             // of an asker
  static constexpr uint32_t wire_tags = most * 2;  // the last ones; data of two exchanges may be on its way
  uint32_t wire_tag(uint64_t number) const {
    return Wire::tags - wire_tags + id * 2 + static_cast<uint32_t>(number % 2);
  }
};

// One of an asker's, and before it stands, how often it was asked.
struct Wish {
  int rank = -1;
  StandingGet get;
  uint64_t asked_at = 0, before = 0;  // departures; the last two
  // Of the exchange that comes next.
  bool asked = false;
  char* to = nullptr;
  Completion* completion = nullptr;  // null: nobody wants what comes
  // What comes of the one that was.
  enum Data : uint8_t { none, coming, here } data = none;
  enum Verdict : uint8_t { open, good, changed } verdict = open;
  bool empty = false;
  uint64_t number = 0, sequence = 0;  // of the exchange; as the meeting counts
  uint32_t vain = 0;                  // how often it had to be asked for again, of late
  bool often_empty = false;
  std::vector<char> unwanted;

  bool stands() const { return get.period != 0; }
  // Asked at this departure as at the two before it, or at every second one.
  uint32_t period(uint64_t departure) const {
    const uint64_t step = departure - asked_at;
    return before != 0 && step <= 2 && asked_at - before == step ? static_cast<uint32_t>(step) : 0;
  }
};

class Standing {
 public:
  // One for the same bytes of the same rank, or a free one; null if there is none.
  Wish* find(int rank, uint64_t from, uint32_t bytes) {
    const auto same = [&](const Wish& w) { return w.rank == rank && w.get.from == from && w.get.bytes == bytes; };
    const auto known = std::find_if(wishes_.begin(), wishes_.end(), same);
    if (known != wishes_.end()) return &*known;
    Wish* oldest = nullptr;
    for (Wish& wish : wishes_)
      if (!wish.stands() && !wish.asked && wish.data == Wish::none &&
          (oldest == nullptr || wish.asked_at < oldest->asked_at))
        oldest = &wish;
    if (oldest == nullptr) return nullptr;
    *oldest = {};
    oldest->rank = rank, oldest->get.from = from, oldest->get.bytes = bytes;
    oldest->get.id = static_cast<uint32_t>(oldest - wishes_.begin());
    return oldest;
  }
  std::array<Wish, StandingGet::most>& wishes() { return wishes_; }

  struct Promise {
    int source;
    StandingGet get;
    bool now = false;  // in the exchange under way
  };
  std::vector<Promise>& promises() { return promises_; }

  // Of memory that is no more; both sides do it between the same two exchanges.
  void forget(uint64_t offset, uint64_t bytes) {
    const auto gone = [&](const StandingGet& get) { return get.from >= offset && get.from - offset < bytes; };
    std::erase_if(promises_, [&](const Promise& promise) { return gone(promise.get); });
    for (Wish& wish : wishes_)
      if (gone(wish.get)) wish.get.period = 0, wish.asked_at = wish.before = 0;
  }

  uint64_t departures = 0;  // exchanges before which anything was asked ahead

 private:
  std::array<Wish, StandingGet::most> wishes_;
  std::vector<Promise> promises_;
};

}  // namespace hiroba
