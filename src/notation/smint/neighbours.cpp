#include "notation/smint/neighbours.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace hiroba {

namespace {

bool same_view(const View& a, const View& b, size_t loops) {
  if (a.array != b.array || a.exact != b.exact || a.dims != b.dims) return false;
  for (int d = 0; d < a.dims; ++d)
    if (a.low[d] != b.low[d] || a.high[d] != b.high[d] || !std::equal(a.factor[d], a.factor[d] + loops, b.factor[d]))
      return false;
  return true;
}

bool same_values(const smint_values& a, const smint_values& b) {
  return a.first == b.first && a.end == b.end && a.step == b.step;
}

bool same(const Execution& a, const Execution& b) {
  return a.shared == b.shared &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_values) &&
         std::equal(a.accesses.begin(), a.accesses.end(), b.accesses.begin(), b.accesses.end(),
                    [&](const Touched& x, const Touched& y) {
                      return x.flags == y.flags && same_view(x.view, y.view, a.values.size());
                    });
}

// What one access touches by one rank: between the least and the greatest index of each dimension.
struct Box {
  int flags;
  const View* view;
  Interval at[SMINT_DIMS];
};

std::vector<Box> boxes_of(const Job& job, int rank, const Execution& loop) {
  std::vector<smint_values> values = loop.values;
  const Share share = share_of(job, rank, loop.accesses, loop.values, loop.shared);
  for (size_t k = 0; k < static_cast<size_t>(loop.shared); ++k)
    values[k].first = share[k].begin, values[k].end = share[k].end;
  std::vector<Box> boxes;
  for (const smint_values& v : values)
    if (count_of(v) == 0) return boxes;
  for (const auto& [flags, view] : loop.accesses) {
    Box& box = boxes.emplace_back(Box{flags, &view, {}});
    for (int d = 0; d < view.dims; ++d) box.at[d] = offsets(view, d, values);
  }
  return boxes;
}

bool conflict(const std::vector<Box>& some, const std::vector<Box>& others) {
  for (const Box& a : some)
    for (const Box& b : others) {
      if (a.view->array != b.view->array || ((a.flags | b.flags) & SMINT_WRITES) == 0) continue;
      bool apart = false;  // bytes and elements are not compared
      for (int d = 0; d < a.view->dims && a.view->exact == b.view->exact; ++d)
        apart = apart || meet(a.at[d], b.at[d]).empty();
      if (!apart) return true;
    }
  return false;
}

}  // namespace

const std::vector<int>& Neighbours::others(const Memory& memory, const Execution& next) {
  for (const Known& known : known_)
    if (known.done == done_.size() && same(known.next, next)) return known.others;
  const Job& job = memory.job();
  Known known = {done_.size(), next, {}};
  const auto own_next = boxes_of(job, job.rank, next);
  std::vector<std::vector<Box>> own_done;
  for (const Execution& loop : done_) own_done.push_back(boxes_of(job, job.rank, loop));
  for (int r = 0; r < job.nranks; ++r) {
    if (r == job.rank) continue;
    const auto their_next = boxes_of(job, r, next);
    for (size_t i = 0; i < done_.size(); ++i)
      if (conflict(own_done[i], their_next) || conflict(boxes_of(job, r, done_[i]), own_next)) {
        known.others.push_back(r);
        break;
      }
  }
  return known_.emplace_back(std::move(known)).others;
}

void Neighbours::owe(Execution loop) {
  owed_ = true;
  const auto is_it = [&](const Execution& done) { return same(done, loop); };
  if (std::none_of(done_.begin(), done_.end(), is_it)) done_.push_back(std::move(loop));
}

void Neighbours::pass(Memory& memory, const Execution& next) {
  if (!owed_) return;
  if (done_.size() > most_loops) return settle(memory);
  const Status status = memory.sync_drop("the barrier between two parallel loops", others(memory, next));
  if (!status.ok()) end_job(1, "%s", status.message().c_str());
  owed_ = false;
}

void Neighbours::settle(Memory& memory) {
  if (!owed_) return;
  const Status status = memory.sync_drop("the barrier behind parallel loops");
  if (!status.ok()) end_job(1, "%s", status.message().c_str());
  owed_ = false;
  done_.clear(), known_.clear();
}

}  // namespace hiroba
