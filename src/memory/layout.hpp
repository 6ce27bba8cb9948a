// The layout of the job's address range, in offsets from its start; the same in every rank. Pure arithmetic.
//
//   [0, space)            shared arrays; at its end heap(r): a rank's part of the heap
//   control(r)            the control segment of a rank, 1 GiB, home at rank r: its locks, its logs of write notices,
//                         its node's log of intervals, its proposals of new homes, scratch memory of collective
//                         operations
//   heap_classes(r)       a byte per page of heap(r): the size of the objects in it (heap/space.hpp), home at rank r
//   directory(r)          a byte per page of the space, home at rank r: what rank r knows of copies of this page, whose
//                         home is on its node (notices/sharers.hpp)
//   touches()             a byte per page of the space, for each node alone: the state of next touch for the page
//
// Only touched parts use memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/addresses.hpp"
#include "base/job.hpp"

namespace hiroba {

constexpr uint64_t page_shift = 12;
constexpr size_t page_bytes = size_t{1} << page_shift;

// The address range begins here in every rank: far from where Linux puts programs, heaps, stacks and libraries, and
// from the shadow of the address sanitizer.
constexpr uint64_t shared_base = uint64_t{0x2000} << 32;

// Returns how much of what option space gives is used: whole huge pages.
constexpr uint64_t used_space(uint64_t given) { return given / huge_page_bytes * huge_page_bytes; }

struct Layout {
  static constexpr uint64_t control_bytes = uint64_t{1} << 30;
  static constexpr uint64_t locks = 65536, conditions = 65536;
  static constexpr uint64_t onces = 4096;  // numbers of `once`; each also has a lock, after the locks
  static constexpr uint64_t notice_log_bytes = uint64_t{256} << 20;

  uint64_t space = 0;
  uint64_t heap_bytes = 0;  // size of each rank's part of the heap, a power of two; 0: no heap
  int nranks = 1, nnodes = 1;
  uint64_t pages() const { return space >> page_shift; }
  uint64_t control(int rank) const { return space + static_cast<uint64_t>(rank) * control_bytes; }
  uint64_t heap_classes(int rank) const {
    return control(nranks) + static_cast<uint64_t>(rank) * (heap_bytes >> page_shift);
  }
  uint64_t directory(int rank) const { return heap_classes(nranks) + static_cast<uint64_t>(rank) * pages(); }
  uint64_t touches() const { return directory(nranks); }
  uint64_t extent() const { return touches() + pages(); }

  uint64_t heap(int rank) const { return space - static_cast<uint64_t>(nranks - rank) * heap_bytes; }

  // Offsets inside a control segment.
  int lock_rank(int id) const { return id % nranks; }
  // A lock has a ticket, a holder, a count of sharers, and from lock_vector on a word for each node, in cache lines of
  // its own.
  static constexpr uint64_t lock_holder = 8, lock_sharers = 12, lock_vector = 16;
  uint64_t lock_bytes() const { return (lock_vector + 8 * static_cast<uint64_t>(nnodes) + 127) / 128 * 128; }
  uint64_t lock(int id) const { return control(lock_rank(id)) + static_cast<uint64_t>(id / nranks) * lock_bytes(); }
  // Each condition has a cache line of its own.
  uint64_t condition(int id) const {
    return control(id % nranks) + conditions_at + static_cast<uint64_t>(id / nranks) * 64;
  }
  // Sharer registrations are changes of the node's directories, at its first rank: a count, a lock, and the latest in a
  // ring of words. After the lock lies, at each rank, what others need to track its writes.
  static constexpr uint64_t registration_slots = 65536;
  uint64_t registrations(int rank) const { return control(rank) + registrations_at; }
  uint64_t registration_lock(int rank) const { return registrations(rank) + 8; }
  uint64_t tracking(int rank) const { return registrations(rank) + 16; }
  uint64_t registration_slot(int rank, uint64_t index) const {
    return registrations(rank) + 64 + index % registration_slots * 8;
  }
  // A node's log of intervals lies at its first rank: counts, and the latest entries in a ring of words.
  static constexpr uint64_t interval_slots = 65536;
  uint64_t interval_log(int rank) const { return control(rank) + interval_log_at; }
  uint64_t interval_slot(int rank, uint64_t index) const {
    return interval_log(rank) + 128 + index % interval_slots * 8;
  }
  // A rank that reads flags of this rank must have acquired this vector: a word for each node.
  uint64_t flag_vector(int rank) const { return control(rank) + flag_vector_at; }
  // A rank answers here, with a word for each rank that may ask, which pages have no memory (cache/registrations.cpp).
  uint64_t empty_run(int rank, int asker) const {
    return control(rank) + empty_runs_at + static_cast<uint64_t>(asker) * 8;
  }
  // A rank's proposals of new homes at a barrier (homes.hpp): a count, and entries of two words. Two areas alternate.
  static constexpr uint64_t home_proposals = 8192;
  uint64_t home_proposals_of(int rank, uint64_t parity) const {
    return control(rank) + home_proposals_at + parity * (page_bytes + home_proposals * 16);
  }
  uint64_t notice_log(int rank, uint64_t parity) const {
    return control(rank) + control_bytes / 4 + parity * notice_log_bytes;
  }
  // The record of a rank for option report (base/record/record.hpp).
  static constexpr uint64_t run_record_bytes = uint64_t{16} << 20;
  uint64_t run_record(int rank) const { return control(rank) + run_record_at; }
  // The words of transactions lie between the logs and the scratch memory.
  static constexpr uint64_t transactions_bytes = uint64_t{128} << 20;
  uint64_t transactions(int rank) const { return scratch(rank) - transactions_bytes; }
  // The heap's part of the segment lies before the logs.
  static constexpr uint64_t heap_control_bytes = uint64_t{64} << 20;
  uint64_t heap_control(int rank) const { return control(rank) + control_bytes / 4 - heap_control_bytes; }
  // Scratch memory of collective operations lies at the end of a control segment.
  static constexpr uint64_t scratch_bytes = uint64_t{128} << 20;
  uint64_t scratch(int rank) const { return control(rank) + control_bytes - scratch_bytes; }

 private:
  // With one rank all locks are its own: 8 MiB. With n ranks on n nodes, each has 1/n of them, of 128 + 8 n bytes.
  static constexpr uint64_t registrations_at = uint64_t{32} << 20, interval_log_at = uint64_t{48} << 20,
                            flag_vector_at = uint64_t{52} << 20, empty_runs_at = uint64_t{54} << 20,
                            conditions_at = uint64_t{56} << 20, home_proposals_at = uint64_t{60} << 20,
                            run_record_at = uint64_t{64} << 20;
  static_assert(registrations_at + 64 + registration_slots * 8 <= interval_log_at &&
                interval_log_at + 128 + interval_slots * 8 <= flag_vector_at &&
                conditions_at + conditions * 64 <= home_proposals_at &&
                home_proposals_at + 2 * (page_bytes + home_proposals * 16) <= run_record_at &&
                run_record_at + run_record_bytes <= control_bytes / 4 - heap_control_bytes &&
                control_bytes / 4 + 2 * notice_log_bytes + transactions_bytes + scratch_bytes <= control_bytes);
};

}  // namespace hiroba
