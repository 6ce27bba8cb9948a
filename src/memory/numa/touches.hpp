// Detects the ranks that touch home pages of arrays, so that pages can move to them: units of pages are closed in a
// rank's view (PROT_NONE), the first access faults, and the fault handler opens the unit. A unit is closed for its next
// touch by all ranks of a node, one of which gets it; or as a sample by each rank for itself, which counts. README.md,
// "NUMA domains".
//
// Owner: MemoryParts. open() is for the fault handler, in any thread; the rest is for the thread that makes collective
// calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/machine/numa.hpp"
#include "memory/array_table.hpp"
#include "memory/numa/page_domains.hpp"

namespace hiroba {

// The touches of one array in one rank. Units are numbered from the one with the array's first page.
struct ArrayTouches {
  enum Closed : uint8_t { open, for_next_touch, as_sample };
  uint64_t unit_pages = 1, first_unit = 0, units = 0;
  std::unique_ptr<std::atomic<uint8_t>[]> closed;
  bool sampled = false;
  uint64_t next_sample = 0;                   // unit
  std::vector<std::atomic<uint16_t>> counts;  // touched samples, [unit][domain of the thread]

  uint64_t unit_of(uint64_t page) const { return page / unit_pages - first_unit; }
  PageRun run_of(uint64_t unit) const { return {(first_unit + unit) * unit_pages, unit_pages}; }
};

class Touches {
 public:
  using Here = int (*)();  // the domain of the calling thread
  struct Config {
    const ArrayTable* arrays = nullptr;
    const PageDomains* pages = nullptr;
    char* base = nullptr;                    // address of offset 0
    std::atomic<uint8_t>* claims = nullptr;  // a byte per page, which the ranks of the node share
    int first_rank = 0, end_rank = 1;        // of this node
    bool huge = false;                       // memory is collapsed into huge pages
    Here here = numa_domain_here;
  };
  void start(const Config& config) { config_ = config; }

  // Returns whether any page was ever closed, so that system calls may find closed pages.
  bool used() const { return used_.load(std::memory_order_relaxed); }
  // Prepares the units for the first touch of all ranks: called by one rank of the node, before any rank closes them.
  void claim_all(Array& array);
  void close_for_next_touch(Array& array);
  void sample(Array& array, bool on);
  // Opens all units and stops detection; called by all ranks of the node.
  void forget(Array& array);
  // Closes some more units of sampled arrays, in turn.
  void at_barrier();
  // Returns true if the page belongs to such an array: the access may then be repeated.
  bool open(Array& array, uint64_t page);

  // Returns the counts since the last call: [unit][domain], domains in the order of PageDomains.
  std::vector<uint16_t> take_counts(Array& array);

 private:
  static ArrayTouches& units_of(Array& array, bool huge, size_t domains);
  template <typename Visit>
  void for_each_home_run(const Array& array, PageRun pages, const Visit& visit) const;
  void protect(const Array& array, PageRun pages, int protection) const;
  std::atomic<uint8_t>& claim_of(const Array& array, const PageRun& unit) const;
  void take_touched(const Array& array, const PageRun& unit);

  Config config_;
  std::atomic<bool> used_{false};
};

}  // namespace hiroba
