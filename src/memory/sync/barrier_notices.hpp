// The write notices of a barrier: what this rank says in its word, and what it reads of other ranks' logs after it.
// Only logs about pages of nodes of which this rank has copies are read. README.md, "Barrier and write notices".
//
// Owner: MemoryParts. For the thread that makes collective calls. after_barrier() blocks for the answers of other
// ranks.
#pragma once

#include <span>
#include <vector>

#include "memory/notices/notice_reader.hpp"
#include "memory/sync/barrier_word.hpp"

namespace hiroba {

struct MemoryParts;

class BarrierNotices {
 public:
  explicit BarrierNotices(MemoryParts& parts) : parts_(parts) {}

  // Sends home and notes what this rank has written; returns its word.
  uint64_t before_barrier();
  // Drops the copies that others have written. `words`: of all ranks.
  void after_barrier(std::span<const uint64_t> words);

  // These return the contents of the words.
  std::span<const uint64_t> covered() const { return covered_; }  // of each rank, for Intervals
  bool known() const;                                             // the notices name all writes
  std::vector<int> speakers() const;                              // ranks with proposals for homes

 private:
  std::vector<NoticeReader::Log> logs_to_read() const;
  void take(std::span<const Notice> notices);

  MemoryParts& parts_;
  std::vector<BarrierWord> said_;
  std::vector<uint64_t> covered_;
  NoticeReader reader_;
};

}  // namespace hiroba
