// Sees which ranks touch home pages of arrays, so that pages can move there: units of pages are closed in a rank's view
// (PROT_NONE), the first access faults, and the fault handler opens the unit. A unit is closed for its next touch, by
// all ranks of a node, one of which gets it; or as a sample, by each rank for itself, which counts. README.md, "NUMA
// domains".
//
// Owner: MemoryParts. open() is for the fault handler, in any thread; all else for the thread that makes collective
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

// Of one array, in one rank. Units are numbered from that of the array's first page.
struct ArrayTouches {
  enum Closed : uint8_t { open, for_next_touch, as_sample };
  uint64_t unit_pages = 1, first_unit = 0, units = 0;
  std::unique_ptr<std::atomic<uint8_t>[]> closed;
  bool sampled = false;
  uint64_t next_sample = 0;                   // unit
  std::vector<std::atomic<uint16_t>> counts;  // of samples that were touched, [unit][domain of the thread]

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
    bool huge = false;                       // memory is gathered into huge pages
    Here here = numa_domain_here;
  };
  void start(const Config& config) { config_ = config; }

  // Whether anything was ever closed, so that system calls may meet closed pages.
  bool used() const { return used_.load(std::memory_order_relaxed); }
  // A unit in which the first of all ranks is to be seen: by one rank of the node, before any rank closes it.
  void claim_all(Array& array);
  void close_for_next_touch(Array& array);
  void sample(Array& array, bool on);
  // Opens everything and looks for nothing any more; by all ranks of the node.
  void forget(Array& array);
  // Closes some more units of arrays that are sampled, in turn.
  void at_barrier();
  // True if the page belongs to such an array: the access may be made again.
  bool open(Array& array, uint64_t page);

  // What was counted since the last call: [unit][domain], domains in the order of PageDomains.
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
