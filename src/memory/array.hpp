// A shared array: values, and the arithmetic between its bytes, its pages and the ranks that are their homes.
//
// Owner: ArrayTable. Collective calls set the fields; any thread may change the atomic ones, also in the fault handler.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "memory/distribution.hpp"
#include "memory/layout.hpp"

namespace hiroba {

class Tracker;

struct PageRun {
  uint64_t first, pages;
  uint64_t end() const { return first + pages; }
  bool operator==(const PageRun&) const = default;
};

// Pages [first, first + pages), with their home at `rank`.
struct HomeRun {
  uint64_t first, pages;
  int rank;
  uint8_t moves = 0;  // times that the home has moved since the distribution was made; 0: the formula's home
  bool operator==(const HomeRun&) const = default;
};

// Selects the home of a page: always the formula's rank, the rank that wrote it first, or a rank that has long been the
// only one to write it. README.md, "Homes that move".
enum class HomePolicy : uint8_t { fixed, first_touch, migrating };

// Counts for sms_stats. They are relaxed, so sums are exact only while no operation runs.
struct Counters {
  std::atomic<uint64_t> faults{0}, fetched{0}, preloaded{0}, bytes_fetched{0}, diffed{0}, bytes_sent{0}, evicted{0},
      invalidated{0}, refreshed{0}, notices{0}, cached{0}, home_faults{0};

  // Adds the counts of a freed array.
  void add(const Counters& o) {
    const auto more = [](std::atomic<uint64_t>& sum, const std::atomic<uint64_t>& n) { sum += n; };
    more(faults, o.faults), more(fetched, o.fetched), more(preloaded, o.preloaded);
    more(bytes_fetched, o.bytes_fetched), more(diffed, o.diffed), more(bytes_sent, o.bytes_sent);
    more(evicted, o.evicted), more(invalidated, o.invalidated), more(refreshed, o.refreshed);
    more(notices, o.notices), more(home_faults, o.home_faults);
  }
};

inline void count(std::atomic<uint64_t>& counter, uint64_t n) { counter.fetch_add(n, std::memory_order_relaxed); }

// Layout of an array of which each rank has its own part: `gap` bytes, the part, and `guard` bytes make `stride`. With
// option check the guard is closed, so that an access past a part does not reach the neighbour's data, and a part ends
// at the end of a page.
struct GuardedParts {
  uint64_t stride = 0, gap = 0, bytes = 0, guard = 0, element = 1;  // stride 0: not such an array
  std::string name;                                                 // name and holder of a part, for messages
  const char* holder = "rank";

  // The guard is as large as a part, for an index that is up to twice too large. Guards use addresses, not memory.
  static GuardedParts of(uint64_t bytes, bool guarded) {
    constexpr uint64_t most_guard = uint64_t{256} << 20;
    const uint64_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    const uint64_t guard = guarded ? std::clamp<uint64_t>(whole, page_bytes, most_guard) : 0;
    GuardedParts out;
    out.stride = whole + guard, out.gap = guarded ? whole - bytes : 0, out.bytes = bytes, out.guard = guard;
    return out;
  }
};

// The state of this rank's part for HugePages.
struct HugeState {
  double used_since = 0;  // the time of the first barrier after the allocation; 0: there was none
  double look_at = 0;     // the time from which on the next barrier looks at what is in use
  uint64_t gathered = 0;  // bytes that were collapsed
  bool advised = false;   // the kernel was asked for huge pages at the first touch
};

struct ArrayTouches;
struct FaultHistory;

struct Array {
  GuardedParts parts;
  Distribution distribution;
  uint8_t scalar = 1;       // 1, 2, 4 or 8: that many bytes at a multiple of it are one value
  char* data = nullptr;     // the first element
  uint64_t first_page = 0;  // its pages, numbered from the start of the address range
  uint64_t end_page = 0;
  std::vector<HomeRun> homes;  // in order, covering all pages; changed by collective calls only
  HomePolicy home_policy = HomePolicy::fixed;
  bool touched = false;                                             // first touch has been decided
  uint64_t homes_moved = 0, homes_moved_again = 0, homes_kept = 0;  // pages; kept: because the table was full
  char name[160] = "";
  bool freed = false;
  bool is_heap = false;                // a rank's part of the heap: it uses memory only for objects
  bool sparse = false;                 // most of it will not be used
  const char* closed_pages = nullptr;  // what an access to a page means that its owner has closed
  bool closable = false;               // home pages that nobody writes may be closed to writes
  bool watched = false;                // option check looks for races on it
  bool own_open = false;               // this rank's part is not watched, but for AccessRecorder::watch_own()
  bool race_told = false;              // a floor that knows the program's text has reported one in this epoch
  const char* freed_by = "";           // the call that frees it
  std::atomic<bool> preloaded{false};  // this rank touches pages of other nodes only after preloading them
  const char* preloaded_by = "";       // the call that says so
  bool filled = false;                 // HugePages::fill has been called
  HugeState huge;
  std::shared_ptr<ArrayTouches> touches;                         // if touches of its home pages are counted
  Tracker* tracker = nullptr;                                    // for pages with their home on another node
  std::atomic<uint64_t> cached_low{UINT64_MAX}, cached_high{0};  // pages outside [low, high) were never cached
  Counters counters;
  std::atomic<uint32_t> record{0};       // 1 + its number in the record of option report; 0: it has none yet
  std::shared_ptr<FaultHistory> faults;  // where there are other nodes

  // Calls visit(first page, pages) for the longest runs whose homes all satisfy chosen(rank).
  template <typename Chosen, typename Visit>
  void for_each_run_of(const Chosen& chosen, const Visit& visit) const {
    for (size_t i = 0; i < homes.size();) {
      const uint64_t first = homes[i].first;
      if (!chosen(homes[i].rank)) {
        ++i;
        continue;
      }
      uint64_t end = first;
      while (i < homes.size() && chosen(homes[i].rank)) end = homes[i].first + homes[i].pages, ++i;
      visit(first, end - first);
    }
  }

  // Identifies the array in every rank.
  uint64_t id() const { return first_page; }
  // Returns the byte at which a page begins, counted from the first element; negative if the first page begins before
  // it.
  int64_t byte_of(uint64_t page) const {
    return (static_cast<int64_t>(page - first_page) << page_shift) -
           static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % page_bytes);
  }
  // Calls visit(begin, end) with the bytes of these runs.
  template <typename Chosen, typename Visit>
  void for_each_bytes_of(const Chosen& chosen, const Visit& visit) const {
    for_each_run_of(chosen, [&](uint64_t first, uint64_t pages) { visit(byte_of(first), byte_of(first + pages)); });
  }

  // Returns the rank that owns the element at an address.
  int owner(const void* address) const {
    const auto byte = static_cast<uint64_t>(static_cast<const char*>(address) - data);
    return distribution.owner(byte / distribution.element_bytes());
  }
  const HomeRun& home(uint64_t page) const {
    return *std::prev(
        std::upper_bound(homes.begin(), homes.end(), page, [](uint64_t p, const HomeRun& h) { return p < h.first; }));
  }
  const HomeRun& home_of(const void* address) const {
    const auto page = [](const void* at) { return reinterpret_cast<uintptr_t>(at) >> page_shift; };
    return home(first_page + page(address) - page(data));
  }
};

// Pages of any arrays, as runs in order, for Preloads to fetch again, and to intersect with an array.
class PageSet {
 public:
  PageSet() = default;
  explicit PageSet(std::vector<PageRun> runs) : runs_(std::move(runs)) {}
  const std::vector<PageRun>& runs() const { return runs_; }

  // Calls visit(begin, end) for the bytes of each run that lie in pages of the array.
  template <typename Visit>
  void for_each_bytes_in(const Array& array, const Visit& visit) const {
    for (const PageRun& run : runs_) {
      const uint64_t first = std::max(run.first, array.first_page);
      const uint64_t end = std::min(run.first + run.pages, array.end_page);
      if (first < end) visit(array.byte_of(first), array.byte_of(end));
    }
  }

 private:
  std::vector<PageRun> runs_;
};

// Names what lies at an address as the text of a program does: "a" and "a[3]"; "": not known.
struct ElementName {
  std::string object, element;
};

// Returns "a[3][5]" for the element with this byte of the array, counted from its first byte.
std::string element_name(const Array& array, int64_t byte);

}  // namespace hiroba
