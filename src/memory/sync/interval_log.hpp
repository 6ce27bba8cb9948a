// A node's log of intervals: the pages that its ranks have written, as runs, in the order of the releases. Other nodes'
// ranks read it. It is a ring of the latest entries; a position counts all entries ever added.
//
// Owner: Intervals. Threads: one of this process at a time; other ranks of the node append concurrently.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/notices/notices.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class IntervalLog {
 public:
  void start(char* base, const Layout& layout, const Job& job, Transport* transport);

  // Appends to this node's log. Requires that the writes are at the homes. Returns the position after the entries.
  uint64_t append(std::span<const Notice> entries);
  // Appends an entry that concerns all pages.
  uint64_t append_all();
  uint64_t end() const;  // of this node's log

  // Entries of a node's log, from the first position up to the second.
  struct Part {
    int node;
    uint64_t from, to;
  };
  // Adds the entries of these parts, without this rank's own, to `out`. Returns false if some concern all pages or have
  // been overwritten. Waits for two answers of each node, of all nodes at once.
  bool read(std::span<const Part> parts, std::vector<Notice>& out);

 private:
  static constexpr uint64_t writer_shift = 56, shared_writer = 255;  // the number of ranks that have none of their own

  uint64_t log_of(int node) const { return layout_.interval_log(job_.first_rank_of(node)); }
  uint64_t reserve(uint64_t count) const;
  uint64_t publish(uint64_t begin, uint64_t end) const;
  bool take(const Part& part, std::span<const Notice> entries, std::vector<Notice>& out) const;
  std::atomic_ref<uint64_t> word(uint64_t offset) const {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(base_ + offset));
  }

  char* base_ = nullptr;
  Layout layout_;
  Job job_;
  Transport* transport_ = nullptr;
  uint64_t writer_ = 0;  // this rank within its node
  std::vector<Notice> incoming_;
  std::vector<uint64_t> reserved_;
};

}  // namespace hiroba
