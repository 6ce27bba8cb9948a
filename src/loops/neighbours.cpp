#include "loops/neighbours.hpp"

#include <algorithm>

namespace hiroba {

namespace {

constexpr const char* barrier_name = "the barrier between two parallel loops";

bool same_view(const View& a, const View& b, size_t loops) {
  if (a.array != b.array || a.exact != b.exact || a.dims != b.dims) return false;
  for (int d = 0; d < a.dims; ++d)
    if (a.low[d] != b.low[d] || a.high[d] != b.high[d] || !std::equal(a.factor[d], a.factor[d] + loops, b.factor[d]))
      return false;
  return true;
}

// The elements of one access by one rank: between the least and the greatest index of each dimension.
struct Bounds {
  int flags;
  const View* view;
  Interval at[View::most_dims];
};

// An inner loop without iterations only has the accesses that depend on it.
std::vector<Bounds> bounds_of(const Job& job, int rank, const Execution& loop) {
  const auto [share, values] = part_of(job, rank, loop);
  std::vector<Bounds> boxes;
  for (size_t k = 0; k < static_cast<size_t>(loop.shared); ++k)
    if (share[k].empty()) return boxes;
  for (const auto& [flags, text, view] : loop.accesses) {
    Bounds box = {flags, &view, {}};
    bool any = true;
    for (int d = 0; d < view.dims; ++d) {
      box.at[d] = offsets(view, d, values);
      any = any && !box.at[d].empty();
    }
    if (any) boxes.push_back(box);
  }
  return boxes;
}

bool conflict(const std::vector<Bounds>& some, const std::vector<Bounds>& others) {
  for (const Bounds& a : some)
    for (const Bounds& b : others) {
      if (a.view->array != b.view->array || ((a.flags | b.flags) & Access::writes) == 0) continue;
      bool disjoint = false;  // bytes and elements are not compared
      for (int d = 0; d < a.view->dims && a.view->exact == b.view->exact; ++d)
        disjoint = disjoint || intersection(a.at[d], b.at[d]).empty();
      if (!disjoint) return true;
    }
  return false;
}

// Returns the values of the outermost loop for which an access, over those of the other loops, may be in the box.
Interval touching(const View& view, const std::vector<Values>& values, const Bounds& box) {
  Interval all = {-far, far};
  if (view.exact != box.view->exact) return all;
  for (int d = 0; d < view.dims; ++d) {
    const Interval offset = offsets(view, d, values, 0), at = box.at[d];
    const int64_t factor = view.factor[d][0];
    if (factor != 0)
      all = intersection(all, values_within({at.begin - offset.end + 1, at.end - offset.begin}, {0, 1}, factor));
    else if (intersection(offset, at).empty()) return {0, 0};
  }
  return all;
}

// Removes the values of the outermost loop that conflict with the boxes; it keeps the longer side.
void leave_out(Interval& left, const Execution& next, const std::vector<Values>& values,
               const std::vector<Bounds>& boxes) {
  for (const auto& [flags, text, view] : next.accesses)
    for (const Bounds& box : boxes) {
      if (view.array != box.view->array || ((flags | box.flags) & Access::writes) == 0) continue;
      const Interval out = touching(view, values, box);
      if (intersection(left, out).empty()) continue;
      const Interval below = {left.begin, std::min(left.end, out.begin)};
      const Interval above = {std::max(left.begin, out.end), left.end};
      left = below.end - below.begin > above.end - above.begin ? below : above;
      if (left.empty()) left = {0, 0};
    }
}

}  // namespace

bool same(const Execution& a, const Execution& b) {
  return a.shared == b.shared && a.values == b.values &&
         std::equal(a.accesses.begin(), a.accesses.end(), b.accesses.begin(), b.accesses.end(),
                    [&](const Access& x, const Access& y) {
                      return x.flags == y.flags && same_view(x.view, y.view, a.values.size());
                    });
}

std::pair<Share, std::vector<Values>> part_of(const Job& job, int rank, const Execution& loop) {
  const Share share = share_of(job, rank, loop.accesses, loop.values, loop.shared);
  std::vector<Values> values = loop.values;
  for (size_t k = 0; k < static_cast<size_t>(loop.shared); ++k)
    values[k].first = share[k].begin, values[k].end = share[k].end;
  return {share, values};
}

Needs needs_of(const Job& job, std::span<const Execution> done, const Execution& next) {
  Needs needs;
  const auto own_next = bounds_of(job, job.rank, next);
  const auto [share, values] = part_of(job, job.rank, next);
  needs.independent = share[0];
  std::vector<std::vector<Bounds>> own_done;
  for (const Execution& loop : done) own_done.push_back(bounds_of(job, job.rank, loop));
  for (int r = 0; r < job.nranks; ++r) {
    if (r == job.rank) continue;
    const auto their_next = bounds_of(job, r, next);
    bool conflicts = false;
    for (size_t i = 0; i < done.size(); ++i) {
      const auto their_done = bounds_of(job, r, done[i]);
      conflicts = conflicts || conflict(own_done[i], their_next) || conflict(their_done, own_next);
      leave_out(needs.independent, next, values, their_done);
    }
    if (conflicts) needs.others.push_back(r);
  }
  return needs;
}

const Neighbours::Known& Neighbours::know(const Memory& memory, const Execution& next) {
  for (const Known& known : known_)
    if (known.done == done_.size() && same(known.next, next)) return known;
  Known known = {done_.size(), next, needs_of(memory.job(), done_, next), 0};
  while (known.place < done_.size() && !same(done_[known.place], next)) ++known.place;
  return known_.emplace_back(std::move(known));
}

void Neighbours::defer_barrier(Memory& memory, Execution loop) {
  deferred_ = true;
  home_writes_ = loop.home_writes && !done_.empty();  // code before the first loop may have written anywhere
  memory.group_sync().arrive(barrier_name, home_writes_, GroupSync::Work::all);
  const auto is_it = [&](const Execution& done) { return same(done, loop); };
  if (std::none_of(done_.begin(), done_.end(), is_it)) done_.push_back(std::move(loop));
}

Status Neighbours::begin_loop(Memory& memory, const Execution& next) {
  awaited_.clear();
  independent_ = {0, 0};
  if (!deferred_) return {};
  if (done_.size() > most_loops) return settle(memory);
  const Known& known = know(memory, next);
  deferred_ = false;
  GroupSync& group = memory.group_sync();
  needed_ = known.place < regarded_ ? GroupSync::Work::part : GroupSync::Work::all;
  if (!group.splits()) return group.await(barrier_name, known.needs.others, needed_);
  if (!group.arrived(known.needs.others, needed_)) awaited_ = known.needs.others;
  independent_ = known.needs.independent, regarded_ = done_.size();
  return {};
}

Status Neighbours::finish(Memory& memory) {
  HIROBA_TRY(memory.group_sync().await(barrier_name, awaited_, needed_));
  awaited_.clear();
  return {};
}

void Neighbours::arrive_with_part(Memory& memory) {
  memory.group_sync().arrive(barrier_name, true, GroupSync::Work::part);
}

Status Neighbours::settle(Memory& memory) {
  awaited_.clear();
  independent_ = {0, 0}, regarded_ = 0;
  if (!deferred_) return {};
  HIROBA_TRY(memory.consistency().sync_drop("the barrier after parallel loops"));
  deferred_ = false;
  done_.clear(), known_.clear();
  return {};
}

}  // namespace hiroba
