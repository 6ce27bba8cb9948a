// A shared array: values, and the arithmetic between its bytes, its pages and the ranks that they live on.
//
// Owner: ArrayTable. Set by collective calls; what is atomic is changed in any thread, also in the fault handler.
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
  bool operator==(const PageRun&) const = default;
};

// Pages [first, first + pages) whose home is `rank`.
struct HomeRun {
  uint64_t first, pages;
  int rank;
  uint8_t moves = 0;  // how often the home has moved since the distribution was made; 0: as the formula says
  bool operator==(const HomeRun&) const = default;
};

// Which rank is the home of a page: always the one that the formula says, the rank that wrote it first, or one that has
// long been the only one to write it. README.md, "Homes that move".
enum class HomePolicy : uint8_t { fixed, first_touch, migrating };

// Counts for sms_stats; relaxed, so sums are exact only while nothing runs.
struct Counters {
  std::atomic<uint64_t> faults{0}, fetched{0}, preloaded{0}, bytes_fetched{0}, diffed{0}, bytes_sent{0}, evicted{0},
      invalidated{0}, refreshed{0}, notices{0}, cached{0}, home_faults{0};

  // Those of another array that is no more.
  void add(const Counters& o) {
    const auto more = [](std::atomic<uint64_t>& sum, const std::atomic<uint64_t>& n) { sum += n; };
    more(faults, o.faults), more(fetched, o.fetched), more(preloaded, o.preloaded);
    more(bytes_fetched, o.bytes_fetched), more(diffed, o.diffed), more(bytes_sent, o.bytes_sent);
    more(evicted, o.evicted), more(invalidated, o.invalidated), more(refreshed, o.refreshed);
    more(notices, o.notices), more(home_faults, o.home_faults);
  }
};

inline void count(std::atomic<uint64_t>& counter, uint64_t n) { counter.fetch_add(n, std::memory_order_relaxed); }

// How an array lies of which each rank has a part of its own: `gap` bytes, the part, and `guard` bytes make `stride`.
// With option check the guard is closed, so that what goes past a part does not become the neighbour's data, and a part
// ends where a page ends.
struct GuardedParts {
  uint64_t stride = 0, gap = 0, bytes = 0, guard = 0, element = 1;  // stride 0: not such an array
  std::string name;                                                 // of it, and of who has a part, for messages
  const char* holder = "rank";

  // As many bytes are closed as a part has, for an index that is up to twice too large. They take addresses, not
  // memory.
  static GuardedParts of(uint64_t bytes, bool guarded) {
    constexpr uint64_t most_guard = uint64_t{256} << 20;
    const uint64_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    const uint64_t guard = guarded ? std::clamp<uint64_t>(whole, page_bytes, most_guard) : 0;
    GuardedParts out;
    out.stride = whole + guard, out.gap = guarded ? whole - bytes : 0, out.bytes = bytes, out.guard = guard;
    return out;
  }
};

struct ArrayTouches;

struct Array {
  GuardedParts parts;
  Distribution distribution;
  uint8_t scalar = 1;       // 1, 2, 4 or 8: so many bytes at an address divisible by it are one value
  char* data = nullptr;     // the first element
  uint64_t first_page = 0;  // pages that hold it, numbered from the start of the address range
  uint64_t end_page = 0;
  std::vector<HomeRun> homes;  // in order, covering all pages; changed by collective calls only
  HomePolicy home_policy = HomePolicy::fixed;
  bool touched = false;                                             // policy first touch: decided
  uint64_t homes_moved = 0, homes_moved_again = 0, homes_kept = 0;  // pages; kept, because the table was full
  char name[160] = "";
  bool freed = false;
  bool is_heap = false;       // a rank's part of the heap: it uses memory where there are objects
  bool watched = false;       // option check: races on it are looked for
  bool race_told = false;     // one on it has been reported in this epoch, by a floor that knows the program's words
  const char* freed_by = "";  // the call that gives it back
  std::atomic<bool> preloaded{false};     // this rank touches pages of other nodes only after preloading them
  const char* preloaded_by = "";          // by this call
  int barriers = 0;                       // since the allocation; counted while it matters
  uint64_t gathered = 0;                  // bytes of this rank's part, into huge pages
  std::shared_ptr<ArrayTouches> touches;  // if they are looked for on its home pages
  Tracker* tracker = nullptr;             // of the pages whose home is another node
  std::atomic<uint64_t> cached_low{UINT64_MAX}, cached_high{0};  // pages outside [low, high) were never cached
  Counters counters;

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

  // Names the array in every rank.
  uint64_t id() const { return first_page; }
  // The byte at which a page begins, counted from the first element; the first page may begin before that.
  int64_t byte_of(uint64_t page) const {
    return (static_cast<int64_t>(page - first_page) << page_shift) -
           static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % page_bytes);
  }
  // The same in bytes: visit(begin, end).
  template <typename Chosen, typename Visit>
  void for_each_bytes_of(const Chosen& chosen, const Visit& visit) const {
    for_each_run_of(chosen, [&](uint64_t first, uint64_t pages) { visit(byte_of(first), byte_of(first + pages)); });
  }

  // The rank whose part has the element at an address.
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

// Pages of any arrays, as runs in order. To keep, to bring again (Preloads), and to look up in an array.
class PageSet {
 public:
  PageSet() = default;
  explicit PageSet(std::vector<PageRun> runs) : runs_(std::move(runs)) {}
  const std::vector<PageRun>& runs() const { return runs_; }

  // visit(begin, end) for the bytes of each run that lie in pages of the array.
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

// "a[3][5]" of the element that has this byte of the array, counted from its first.
std::string element_name(const Array& array, int64_t byte);

}  // namespace hiroba
