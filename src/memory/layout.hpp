// How the job's address range is laid out, in offsets from its start; the same in every rank. Pure arithmetic.
//
//   [0, space)            shared arrays
//   control(r)            the control segment of a rank, 1 GiB, home at rank r: its locks, its logs of write notices,
//                         scratch memory of collective operations
//   directory(n)          a byte per page of the space, home at the first rank of node n: "a rank of another node has
//                         fetched this page, whose home is here"
//   touches()             a byte per page of the space, of each node by itself: how the next touch of a page is seen
//
// Only what is touched takes memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/job.hpp"

namespace hiroba {

constexpr uint64_t page_shift = 12;
constexpr size_t page_bytes = size_t{1} << page_shift;

// Where the address range begins in every rank. Far from where Linux puts programs, heaps, stacks and libraries, and
// from the shadow of the address sanitizer.
constexpr uint64_t shared_base = uint64_t{0x2000} << 32;

struct Layout {
  static constexpr uint64_t control_bytes = uint64_t{1} << 30;
  static constexpr uint64_t lock_bytes = 128, locks = 65536;
  static constexpr uint64_t notice_log_bytes = uint64_t{256} << 20;

  uint64_t space = 0;
  int nranks = 1, nnodes = 1;

  uint64_t pages() const { return space >> page_shift; }
  uint64_t control(int rank) const { return space + static_cast<uint64_t>(rank) * control_bytes; }
  uint64_t directory(int node) const { return control(nranks) + static_cast<uint64_t>(node) * pages(); }
  uint64_t touches() const { return directory(nnodes); }
  uint64_t extent() const { return touches() + pages(); }

  // Inside a control segment.
  int lock_rank(int id) const { return id % nranks; }
  uint64_t lock(int id) const { return control(lock_rank(id)) + static_cast<uint64_t>(id / nranks) * lock_bytes; }
  // Sharer registrations: changes of the node's directory, at its first rank: a count, and the latest in a ring of
  // words.
  static constexpr uint64_t registration_slots = 65536;
  uint64_t registrations(int rank) const { return control(rank) + locks * lock_bytes; }
  uint64_t registration_slot(int rank, uint64_t index) const {
    return registrations(rank) + 64 + index % registration_slots * 8;
  }
  uint64_t notice_log(int rank, uint64_t parity) const {
    return control(rank) + control_bytes / 4 + parity * notice_log_bytes;
  }
  // Of collective operations, at the end of a control segment.
  static constexpr uint64_t scratch_bytes = uint64_t{128} << 20;
  uint64_t scratch(int rank) const { return control(rank) + control_bytes - scratch_bytes; }
};

}  // namespace hiroba
