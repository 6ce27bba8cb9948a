#include "memory/homes/home_moves.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.hpp"
#include "memory/parts.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

bool HomeMoves::is_here(int rank) const { return parts_.is_here(rank); }

bool HomeMoves::crosses(const HomeChange& change) const {
  return parts_.job.node_of(change.from) != parts_.job.node_of(change.to);
}

Status HomeMoves::apply(std::span<NewHomes> all, const char* call) {
  std::vector<Moved> moved;
  for (NewHomes& next : all) {
    moved.push_back({next.array, home_changes(next.array->homes, next.homes)});
    HIROBA_TRY(take_over(moved.back(), next.homes));
  }
  HIROBA_TRY(prepare(moved, call));
  for (const Moved& one : moved) HIROBA_TRY(push(one));
  parts_.transport->fence();
  HIROBA_TRY(parts_.collective.barriers().all(call, at_moved_pages));
  for (const Moved& one : moved) give_back(one);
  return {};
}

// Drops copies of these pages and stops tracking their writes: the new home learns anew which nodes have copies.
void HomeMoves::forget_copies(const Moved& moved) {
  if (parts_.cache == nullptr) return;
  std::vector<PageRun> runs;
  for (const HomeChange& change : moved.changes)
    if (crosses(change)) runs.push_back({change.first, change.pages});
  for (const PageRun& run : runs) parts_.cache->writeback.invalidate(run.first, run.pages);
  parts_.cache->copies.remove(*moved.array, runs);
  parts_.home_writes.remove(runs);
  for (const PageRun& run : runs) parts_.states.reset(run.first, run.pages);
}

// Attached ranges are the runs of homes, so the neighbours of moving pages are attached again, too.
Status HomeMoves::take_over(Moved& moved, std::vector<HomeRun>& homes) {
  Array& array = *moved.array;
  forget_copies(moved);
  for (const HomeRun& run : runs_only_in(array.homes, homes))
    parts_.transport->detach(run.first << page_shift, run.pages << page_shift);
  array.homes.swap(homes);
  for (const HomeRun& run : runs_only_in(array.homes, homes))
    HIROBA_TRY(parts_.transport->attach(run.first << page_shift, run.pages << page_shift, run.rank));
  HIROBA_TRY(map(moved));
  return parts_.affinity.place_new(array);
}

Status HomeMoves::map(const Moved& moved) {
  for (const HomeChange& change : moved.changes) {
    const uint64_t offset = change.first << page_shift, bytes = change.pages << page_shift;
    if (is_here(change.from) == is_here(change.to)) continue;
    if (is_here(change.to)) HIROBA_TRY(map_of_node(parts_, offset, bytes));
    else HIROBA_TRY(moved.array->tracker->map(parts_.space.base() + offset, bytes, offset));
  }
  return {};
}

// ---- bytes ---------------------------------------------------------------------------------------------------------

// Visits this rank's share of the bytes to push: the ranks of the old node share the work.
template <typename Visit>
void HomeMoves::for_each_share(const Moved& moved, const Visit& visit) const {
  const Job& job = parts_.job;
  const int first = job.first_rank_of(job.node);
  const auto ranks = static_cast<uint64_t>(job.first_rank_of(job.node + 1) - first);
  const auto me = static_cast<uint64_t>(job.rank - first);
  for (const HomeChange& change : moved.changes) {
    if (!is_here(change.from) || !crosses(change)) continue;
    visit(change, (change.first + change.pages * me / ranks) << page_shift,
          (change.first + change.pages * (me + 1) / ranks) << page_shift);
  }
}

// After this barrier all memory can be put to. If all that moves is in use, its new ranks first make huge pages of it.
Status HomeMoves::prepare(std::span<const Moved> all, const char* call) {
  uint64_t unused = 0;  // bytes, of this rank's share
  for (const Moved& one : all)
    for_each_share(one, [&](const HomeChange&, uint64_t begin, uint64_t end) {
      unused += end - begin;
      for_each_data(parts_.node_fd(), begin, end, [&](uint64_t from, uint64_t to) { unused -= to - from; });
    });
  std::vector<uint64_t> words(static_cast<size_t>(parts_.job.nranks));
  HIROBA_TRY(parts_.collective.barriers().with_words(call, at_new_homes, unused, words));
  if (!parts_.huge_pages.on() || std::any_of(words.begin(), words.end(), [](uint64_t word) { return word > 0; }))
    return {};
  for (const Moved& one : all)
    for (const HomeChange& change : one.changes)
      if (crosses(change)) parts_.huge_pages.prepare(*one.array, change.first, change.pages);
  return parts_.collective.barriers().all(call, at_prepared_pages);
}

Status HomeMoves::push(const Moved& moved) {
  Status status;
  for_each_share(moved, [&](const HomeChange& change, uint64_t begin, uint64_t end) {
    for_each_data(parts_.node_fd(), begin, end, [&](uint64_t from, uint64_t to) {
      if (status.ok()) status = push(change, from, to);
    });
  });
  return status;
}

// Pushes from a mapping of its own: the program's may be closed, or already map something else.
Status HomeMoves::push(const HomeChange& change, uint64_t begin, uint64_t end) {
  constexpr uint64_t most_mapped = uint64_t{64} << 20;
  for (; begin < end; begin += std::min(most_mapped, end - begin)) {
    const uint64_t bytes = std::min(most_mapped, end - begin);
    constexpr int flags = MAP_SHARED | MAP_POPULATE;
    void* const from = mmap(nullptr, bytes, PROT_READ, flags, parts_.node_fd(), static_cast<off_t>(begin));
    if (from == MAP_FAILED)
      return Status::error("cannot map %s of the node's memory to move them to rank %d (%s)", show_bytes(bytes).c_str(),
                           change.to, explain_error(errno).c_str());
    const Status status = send(change.to, begin, static_cast<const char*>(from), bytes);
    munmap(from, bytes);
    HIROBA_TRY(status);
  }
  return {};
}

// Writes into the file of the new node, if this process reaches it: new pages then come filled, without a fault and
// without zeroing.
Status HomeMoves::send(int rank, uint64_t offset, const char* from, uint64_t bytes) {
  constexpr uint64_t piece = uint64_t{4} << 20;
  if (parts_.transport->local_address(rank, offset) == nullptr) {
    Completion sent;
    for (uint64_t done = 0; done < bytes; done += std::min(piece, bytes - done))
      parts_.transport->one_sided().start_put(rank, offset + done, from + done, std::min(piece, bytes - done), sent);
    parts_.transport->one_sided().await(sent);
    return {};
  }
  const int fd = parts_.job.node_fds[static_cast<size_t>(parts_.job.node_of(rank))];
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(fd, from + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Status::error("cannot write %s to the memory of rank %d's node (%s)", show_bytes(bytes - done).c_str(),
                           rank, explain_error(errno).c_str());
    done += static_cast<uint64_t>(n);
  }
  return {};
}

void HomeMoves::give_back(const Moved& moved) {
  const Job& job = parts_.job;
  if (job.rank != job.first_rank_of(job.node)) return;
  const auto punch = [this](uint64_t offset, uint64_t bytes) {
    fallocate(parts_.node_fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
  };
  for (const HomeChange& change : moved.changes) {
    if (!is_here(change.from) || !crosses(change)) continue;
    punch(change.first << page_shift, change.pages << page_shift);
    for (int r = job.first_rank_of(job.node); r < job.first_rank_of(job.node + 1); ++r)
      punch(parts_.layout.directory(r) + change.first, change.pages);
  }
}

}  // namespace hiroba
