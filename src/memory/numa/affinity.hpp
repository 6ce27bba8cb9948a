// Part of the contract of this floor: the placement of the home pages of arrays on the NUMA domains of their machine.
// It moves the memory of a node's pages among the domains of that node; homes.hpp is about homes. On a machine with one
// domain every call works, and moves nothing.
//
// Owner: Memory. Comments mark the collective functions; the rest is thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/tables/options.hpp"
#include "memory/array.hpp"
#include "memory/numa/memory_place.hpp"

namespace hiroba {

struct MemoryParts;

// Describes the domains of pages: the number of pages on each, and a picture; lines of text. Beside the numbers of
// domains, `where` has Affinity::absent and Affinity::elsewhere.
std::string show_domains(std::span<const int> where);

class Affinity {
 public:
  explicit Affinity(MemoryParts& parts) : parts_(parts) {}
  // Values in place of a domain: for a page that is not in use, and for one with its home on another node.
  static constexpr int absent = -1, elsewhere = -2;

  Status start(const Options& options);  // of the process
  Status place_new(const Array& array);  // before any rank has it

  const std::vector<int>& domains() const;  // of this machine
  int domain_of(int rank) const;            // for a rank of this node; -1: its CPUs are on several

  // All of these are collective; they block. `moved`: the pages of all nodes that have changed their domain.
  Status place(void* data, const MemoryPlace& place, const char* call, uint64_t& moved);
  Status migrate(const void* data, std::span<const Range> ranges, int rank, const char* call, uint64_t& moved);
  Status next_touch(void* data, const char* call);
  // While on, units of pages are closed in turn at barriers, and their touches are counted by the domain of the thread.
  Status sample(void* data, bool on, const char* call);
  // Moves each unit to the domain that has touched it in more samples than its present one.
  Status migrate_by_use(void* data, const char* call, uint64_t& moved);

  // This rank is about to write these bytes of the array: makes home pages of them, if the array is new.
  enum class Homes { own, of_node };
  void fill(Array& array, uint64_t begin, uint64_t bytes, Homes whose) const;
  // Says that these bytes of a sparse array, in this rank's part, will be used as a whole.
  [[HIROBA_SHOWN]] void expect_use(const void* begin, uint64_t bytes) const;

  // Returns for each page of the array its domain, `absent` or `elsewhere`.
  Status locate(const Array& array, std::vector<int>& out) const;

 private:
  Status check(const MemoryPlace& place, const char* what) const;
  Status set_places(const Array& array, const MemoryPlace& place) const;
  template <typename Visit>
  void for_each_run_here(const Array& array, const Visit& visit) const;
  bool watches_races(const char* call) const;
  Status begin_move(const Array& array, const char* call) const;
  Status end_move(const MovedPages& mine, const char* call, uint64_t& moved) const;
  MovedPages move_all(const Array& array, const MemoryPlace& place) const;
  MovedPages move_by_counts(const Array& array, const std::vector<uint64_t>& counts) const;

  MemoryParts& parts_;
};

}  // namespace hiroba
