#include "memory/homes/home_policies.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/log.hpp"
#include "memory/page_runs.hpp"
#include "memory/parts.hpp"

namespace hiroba {

namespace {

PageRun meet(const PageRun& run, uint64_t first, uint64_t end) {
  const uint64_t begin = std::max(run.first, first), stop = std::min(run.first + run.pages, end);
  return {begin, begin < stop ? stop - begin : 0};
}

}  // namespace

void HomePolicies::start(const Options& options) {
  const std::string& text = options.text("homes");
  by_option_ = text == "migrating"     ? HomePolicy::migrating
               : text == "first-touch" ? HomePolicy::first_touch
                                       : HomePolicy::fixed;
  active_ = watches_ = parts_.cache != nullptr && parts_.times.on;
  if (active_) parts_.unchanged.keep();
  if (parts_.check && by_option_ != HomePolicy::fixed && parts_.job.rank == 0)
    log_line("check: option homes=%s does nothing, because all accesses are watched to find races", text.c_str());
}

// With option check the same pages are closed to find races. Arrays with a part for each rank keep their homes.
bool HomePolicies::can_move(const Array& array) const {
  return parts_.cache != nullptr && !parts_.check && array.home_policy != HomePolicy::fixed &&
         !(array.home_policy == HomePolicy::first_touch && array.touched) && array.touches == nullptr;
}

void HomePolicies::place_new(Array& array) {
  if (array.parts.stride == 0) set(array, by_option_);
}

void HomePolicies::set(Array& array, HomePolicy policy) {
  array.home_policy = policy;
  if (can_move(array)) active_ = true, parts_.unchanged.keep();
}

void HomePolicies::forget(const Array& array) {
  const PageRun all = {array.first_page, array.end_page - array.first_page};
  tally_.forget({&all, 1});
}

// ---- before a barrier ----------------------------------------------------------------------------------------------

HomePolicies::Proposal* HomePolicies::mine() const {
  return reinterpret_cast<Proposal*>(parts_.space.base() + parts_.layout.home_proposals_of(parts_.job.rank, parity_) +
                                     page_bytes);
}

void HomePolicies::say(uint64_t page, uint64_t pages, Kind kind) {
  static_assert(sizeof(Proposal) == 16);
  if (said_ < Layout::home_proposals) mine()[said_++] = {page, static_cast<uint32_t>(pages), kind};
}

bool HomePolicies::before_barrier() {
  said_ = 0;
  if (!active_) return false;
  note_alone();
  bool any = false;
  parts_.table.for_each_live([this, &any](Array& array) {
    if (!can_move(array)) return;
    any = true;
    const char* const end = parts_.space.base() + (array.end_page << page_shift);
    if (!parts_.collective.requests().user_of(array.data, end).empty()) say(array.id(), 0, in_use);
    if (array.home_policy == HomePolicy::first_touch && is_touched(array)) say_touched(array);
  });
  say_moves();
  if (any) parts_.cache->fetches.finish();  // homes may move in this barrier
  *reinterpret_cast<uint64_t*>(parts_.space.base() + parts_.layout.home_proposals_of(parts_.job.rank, parity_)) = said_;
  return said_ > 0;
}

// Notes the pages of other nodes that this rank has written, changed or not: both cost it a fault and a comparison.
// After the barrier the notices of other ranks show which of them they have written, too.
void HomePolicies::note_alone() {
  alone_.clear();
  for (uint64_t i = 0; i < parts_.notices.count(); ++i)
    note_written({parts_.notices[i].page(), parts_.notices[i].pages()});
  parts_.unchanged.take([this](const PageRun& run) { note_written(run); });
  merge_runs(alone_);
}

void HomePolicies::note_written(const PageRun& run) {
  const Array* const array = parts_.table.live(run.first);
  if (array == nullptr || array->is_heap || (!watches_ && !can_move(*array))) return;
  const uint64_t end = std::min(array->end_page, run.first + run.pages);
  for (uint64_t page = run.first; page < end;) {
    const HomeRun& home = array->home(page);
    const uint64_t stop = std::min(end, home.first + home.pages);
    if (!parts_.is_here(home.rank)) alone_.push_back({page, stop - page});
    page = stop;
  }
}

bool HomePolicies::is_touched(const Array& array) const {
  for (const PageRun& run : alone_)
    if (run.first >= array.first_page && run.first < array.end_page) return true;
  for (const HomeRun& home : array.homes) {
    if (home.rank != parts_.job.rank) continue;
    const off_t data = lseek(parts_.node_fd(), static_cast<off_t>(home.first << page_shift), SEEK_DATA);
    if (data >= 0 && static_cast<uint64_t>(data) < (home.first + home.pages) << page_shift) return true;
  }
  return false;
}

void HomePolicies::say_touched(const Array& array) {
  say(array.id(), 0, touched);
  for (const PageRun& run : alone_) {
    const PageRun part = meet(run, array.first_page, array.end_page);
    if (part.pages > 0) say(part.first, part.pages, first_touch);
  }
}

void HomePolicies::say_moves() {
  for (const WriteTally::Run& run : tally_.runs()) {
    if (run.intervals < intervals) continue;
    const Array* const array = parts_.table.live(run.first);
    if (array == nullptr || array->home_policy != HomePolicy::migrating || !can_move(*array)) continue;
    for (uint64_t page = run.first; page < run.first + run.pages;) {
      const HomeRun& home = array->home(page);
      const uint64_t stop = std::min(run.first + run.pages, home.first + home.pages);
      if (home.moves < most_moves && run.intervals >= intervals << home.moves) say(page, stop - page, moves);
      page = stop;
    }
  }
}

std::vector<int> HomePolicies::nodes_of_interest() const {
  std::vector<int> nodes;
  const auto add = [&](uint64_t page, uint64_t pages) {
    const Array* const array = parts_.table.live(page);
    for (const uint64_t end = page + pages; array != nullptr && page < end;) {
      const HomeRun& home = array->home(page);
      const int node = parts_.job.node_of(home.rank);
      if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
      page = home.first + home.pages;
    }
  };
  for (const PageRun& run : alone_) add(run.first, run.pages);
  for (const WriteTally::Run& run : tally_.runs()) add(run.first, run.pages);
  return nodes;
}

// ---- after it ------------------------------------------------------------------------------------------------------

Status HomePolicies::after_barrier(bool known, std::span<const int> speakers, const char* call) {
  if (!active_) return {};
  merge_runs(others_);
  if (known) tally_.add(without(alone_, others_), others_);
  else tally_.clear();
  alone_.clear(), others_.clear();
  return speakers.empty() ? Status() : decide(speakers, call);
}

std::vector<HomePolicies::Proposal> HomePolicies::read_proposals(int rank) const {
  const uint64_t at = parts_.layout.home_proposals_of(rank, parity_);
  uint64_t count = 0;
  parts_.transport->get(&count, rank, at, sizeof count);
  std::vector<Proposal> said(count);
  parts_.transport->get(said.data(), rank, at + page_bytes, count * sizeof(Proposal));
  return said;
}

// For one array: the moves, in order of pages, and the proposals of the rank that is being read.
struct HomePolicies::Accepted {
  std::vector<HomeChange> changes;
  std::vector<PageRun> said;
  bool in_use = false, is_touched = false;
};

// All ranks read the same proposals, so they decide alike: of several ranks that want a page the lowest gets it.
Status HomePolicies::decide(std::span<const int> speakers, const char* call) {
  std::map<uint64_t, Accepted> arrays;  // by id: in the same order on all ranks
  std::vector<PageRun> mine_said;
  for (const int rank : speakers) {
    for (const Proposal& proposal : read_proposals(rank)) {
      Array* const array = parts_.table.live(proposal.page);
      if (array == nullptr) continue;
      Accepted& accepted = arrays[array->id()];
      const PageRun run = {proposal.page, proposal.pages};
      if (proposal.kind == in_use) accepted.in_use = true;
      if (proposal.kind == touched) accepted.is_touched = true;
      if (proposal.kind == moves || proposal.kind == first_touch) accepted.said.push_back(run);
      if (proposal.kind == moves && rank == parts_.job.rank) mine_said.push_back(run);
    }
    for (auto& [id, accepted] : arrays) accept(accepted, *parts_.table.live(id), rank);
  }
  parity_ ^= 1;
  tally_.forget(mine_said);  // refused pages must be written alone again
  return move(arrays, call);
}

Status HomePolicies::move(std::map<uint64_t, Accepted>& arrays, const char* call) {
  size_t room = most_exceptions - std::min(most_exceptions, exceptions());
  std::vector<NewHomes> next;
  for (auto& [id, accepted] : arrays) {
    Array& array = *parts_.table.live(id);
    if (accepted.in_use) continue;
    array.touched = array.touched || accepted.is_touched;
    count_moves(array, accepted.changes, room);
    if (!accepted.changes.empty()) next.push_back({&array, with_moves(array.homes, accepted.changes)});
  }
  if (next.empty()) return {};
  HIROBA_TRY(parts_.home_moves.apply(next, call));
  for (const NewHomes& one : next) parts_.huge_pages.parts_changed(*one.array);
  parts_.arrays.homes_changed();
  return {};
}

void HomePolicies::accept(Accepted& accepted, const Array& array, int rank) const {
  std::vector<PageRun> taken;
  for (const HomeChange& change : accepted.changes) taken.push_back({change.first, change.pages});
  for (const PageRun& part : without(accepted.said, taken))
    for (uint64_t page = part.first; page < part.first + part.pages;) {
      const HomeRun& home = array.home(page);
      const uint64_t stop = std::min(part.first + part.pages, home.first + home.pages);
      if (parts_.job.node_of(home.rank) != parts_.job.node_of(rank))
        accepted.changes.push_back({page, stop - page, home.rank, rank});
      page = stop;
    }
  accepted.said.clear();
  std::sort(accepted.changes.begin(), accepted.changes.end(),
            [](const HomeChange& a, const HomeChange& b) { return a.first < b.first; });
}

// Each change makes at most one run that is an exception.
void HomePolicies::count_moves(Array& array, std::vector<HomeChange>& changes, size_t& room) {
  for (size_t i = room; i < changes.size(); ++i) array.homes_kept += changes[i].pages;
  changes.resize(std::min(room, changes.size()));
  room -= changes.size();
  for (const HomeChange& change : changes) {
    array.homes_moved += change.pages;
    if (array.home(change.first).moves > 0) array.homes_moved_again += change.pages;
  }
}

size_t HomePolicies::exceptions() const {
  size_t count = 0;
  parts_.table.for_each_live([&count](const Array& array) {
    if (array.homes_moved == 0) return;
    count += static_cast<size_t>(
        std::count_if(array.homes.begin(), array.homes.end(), [](const HomeRun& home) { return home.moves > 0; }));
  });
  return count;
}

uint64_t HomePolicies::pages_alone(const Array& array) const {
  uint64_t pages = 0;
  for (const WriteTally::Run& run : tally_.runs())
    if (run.intervals >= intervals && run.first >= array.first_page && run.first < array.end_page) pages += run.pages;
  return pages;
}

}  // namespace hiroba
