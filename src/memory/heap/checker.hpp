// Option check on the heap: errors in the use of objects that this rank has allocated. After each object lie some
// bytes that nobody may change; a freed object is filled with a pattern and kept for a while, so that another free of
// it, or a write to it, is seen. README.md, "Heap".
//
// Owner: Heap. Thread-safe. What it reads and writes are the objects themselves, so it may fault in pages.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "base/status.hpp"
#include "memory/check/races.hpp"
#include "memory/heap/objects.hpp"
#include "memory/heap/returns.hpp"
#include "memory/heap/sites.hpp"
#include "memory/heap/space.hpp"

namespace hiroba {

class HeapChecker {
 public:
  static constexpr size_t margin = 16;  // least bytes after an object
  static constexpr uint64_t most_kept = uint64_t{64} << 20;

  struct Config {
    HeapSpace* space = nullptr;
    HeapSites* sites = nullptr;
    HeapObjects* objects = nullptr;
    int rank = 0;
    RaceChecker* races = nullptr;                                    // where races are looked for
    std::function<void(uint64_t position, uint64_t bytes)> refresh;  // so that what others have written is read
    std::function<uint64_t(uint64_t position)> room;                 // of an object, with what was rounded up
    std::function<void(uint64_t position)> give_up;                  // returns an object to the allocator
  };
  explicit HeapChecker(Config config) : config_(std::move(config)) {}

  void allocated(uint64_t position, uint64_t bytes, const char* place);
  Status freed(const FreedObject& freed);
  // Gives up kept objects until at most `bytes` are kept.
  Status give_up(uint64_t bytes);
  // What the program has left: writes past ends, and, as lines, objects that it has not freed.
  Status finish();
  // What an address is, "" if it is inside no object.
  std::string explain(uint64_t position) const;
  // The object that has it, be it freed; "" if none has.
  std::string object_at(uint64_t position) const;

 private:
  struct Kept {
    HeapObject object;
    int freer;
    uint32_t site;   // of the free, a number of that rank
    uint64_t epoch;  // of RaceChecker
  };
  uint64_t epoch() const { return config_.races != nullptr ? config_.races->epoch() : 0; }
  UnseenAccess unseen(uint64_t position, bool writes) const {
    return {config_.races != nullptr ? &config_.races->recorder() : nullptr, config_.space->address(position),
            config_.room(position), writes};
  }
  Status check_margin(uint64_t position, const HeapObject& object, const std::string& when) const;
  Status check_kept(uint64_t position, const Kept& kept) const;
  Status unknown(const FreedObject& freed) const;
  std::string name(const HeapObject& object) const;
  std::string name(const Kept& kept) const;

  Config config_;
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, Kept> kept_;
  std::deque<uint64_t> order_;  // of kept_, the oldest first
  uint64_t kept_bytes_ = 0;
};

}  // namespace hiroba
