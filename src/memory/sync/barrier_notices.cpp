#include "memory/sync/barrier_notices.hpp"

#include <algorithm>

#include "memory/parts.hpp"
#include "memory/record/array_record.hpp"

namespace hiroba {

static_assert(BarrierWord::covered_bits == Intervals::barrier_bits);

uint64_t BarrierNotices::before_barrier() {
  if (parts_.cache == nullptr) return 0;
  BarrierWord word;
  parts_.cache->writeback.flush(true);
  word.unknown = !parts_.home_writes.collect(parts_.notices, true);
  word.notices = parts_.notices.count(), word.nodes = parts_.notices.nodes();
  parts_.notices.end();
  word.covered = parts_.intervals.at_barrier();
  word.says_homes = parts_.home_policies.before_barrier();
  return word.pack();
}

void BarrierNotices::after_barrier(std::span<const uint64_t> words) {
  said_.clear(), covered_.clear();
  for (const uint64_t word : words) {
    said_.push_back(BarrierWord::unpack(word));
    covered_.push_back(said_.back().covered);
  }
  const uint64_t parity = parts_.notices.parity();
  parts_.notices.turn();
  if (known())
    return reader_.read(*parts_.transport, parts_.layout, logs_to_read(), parity,
                        [this](std::span<const Notice> notices) { take(notices); });
  parts_.cache->writeback.flush_and_drop(true);
  parts_.cache->copies.for_each_piece([this](const Copies::Piece& piece) {
    parts_.cache->copies.registered.remove(parts_.job.node_of(piece.run.rank), piece.first, piece.end);
  });
}

bool BarrierNotices::known() const {
  return std::none_of(said_.begin(), said_.end(), [](const BarrierWord& word) { return word.unknown; });
}

std::vector<int> BarrierNotices::speakers() const {
  std::vector<int> out;
  for (size_t r = 0; r < said_.size(); ++r)
    if (said_[r].says_homes) out.push_back(static_cast<int>(r));
  return out;
}

// The logs of ranks that have written pages of nodes of which this rank has copies, or wants to know who else writes
// them.
std::vector<NoticeReader::Log> BarrierNotices::logs_to_read() const {
  const Job& job = parts_.job;
  if (std::all_of(said_.begin(), said_.end(), [](const BarrierWord& word) { return word.notices == 0; })) return {};
  std::vector<bool> wanted(static_cast<size_t>(job.nnodes));
  for (int node = 0; node < job.nnodes; ++node)
    wanted[static_cast<size_t>(node)] = parts_.cache->copies.registered.count(node) > 0;
  for (const int node : parts_.home_policies.nodes_of_interest()) wanted[static_cast<size_t>(node)] = true;
  const auto any = static_cast<int>(std::count(wanted.begin(), wanted.end(), true));
  const auto wants = [&wanted](int node) { return wanted[static_cast<size_t>(node)]; };
  std::vector<NoticeReader::Log> out;
  for (int r = 0; r < job.nranks && any > 0; ++r) {
    const BarrierWord& said = said_[static_cast<size_t>(r)];
    if (r != job.rank && NearNodes::meets(said.nodes, job.node_of(r), job.nnodes, any, wants))
      out.push_back({r, said.notices});
  }
  return out;
}

// An entry of no pages ends a log.
void BarrierNotices::take(std::span<const Notice> notices) {
  for (const Notice notice : notices) {
    if (notice.pages() == 0) return;
    if (recording()) note_written_by_others(parts_.table, notice.page(), notice.pages());
    parts_.cache->writeback.invalidate(notice.page(), notice.pages());
    parts_.home_policies.saw(notice);
  }
}

}  // namespace hiroba
