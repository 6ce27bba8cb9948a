// Option check on the heap: finds errors in the use of objects that this rank has allocated. After each object lie some
// bytes that no rank may change; a freed object is filled with a pattern and kept for a while, so that another free of
// it, or a write to it, is detected. README.md, "Heap".
//
// Owner: Heap. Thread-safe. It reads and writes the objects themselves, so it may fault in pages.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

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
    RaceChecker* races = nullptr;                                    // if races are looked for
    std::function<void(uint64_t position, uint64_t bytes)> refresh;  // so that others' writes are read
    std::function<uint64_t(uint64_t position)> room;                 // the rounded size of an object
    std::function<void(uint64_t position)> give_up;                  // returns an object to the allocator
  };
  explicit HeapChecker(Config config) : config_(std::move(config)) {}

  void allocated(uint64_t position, uint64_t bytes, const char* place);
  Status freed(const FreedObject& freed);
  // Returns kept objects to the allocator until at most `bytes` are kept.
  Status give_up(uint64_t bytes);
  // Reports writes past ends as an error, and objects that were not freed as lines.
  Status finish();
  // Explains an address; "" if it is inside no object.
  std::string explain(uint64_t position) const;
  // Names the object that contains it, even if freed; "" if none does.
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
  // `freed`: null at the end of the job.
  Status check_margin(uint64_t position, const HeapObject& object, const FreedObject* freed) const;
  // Refreshes the pages of the object that are not among `fresh`, and adds them: a page is fetched once for all objects
  // on it.
  using Pages = std::unordered_set<uint64_t>;
  void refresh(uint64_t position, Pages& fresh) const;
  Status check_kept(uint64_t position, const Kept& kept, Pages& fresh) const;
  Status unknown(const FreedObject& freed) const;
  std::string name(const HeapObject& object) const;
  std::string name(const Kept& kept) const;

  Config config_;
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, Kept> kept_;
  std::deque<uint64_t> order_;  // keys of kept_, the oldest first
  uint64_t kept_bytes_ = 0;
};

}  // namespace hiroba
