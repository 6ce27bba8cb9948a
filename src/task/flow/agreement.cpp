#include "task/flow/agreement.hpp"

#include <algorithm>

namespace hiroba {

Status Agreement::tell(const char* call, uint64_t word) { return barriers_->with_words(call, word, words_); }

Status Agreement::compare(const char* call, const std::vector<Flow::Made>& made, Tasks::Failed& failed) {
  const uint64_t history = made.empty() ? 0 : made.back().history;
  HIROBA_TRY(tell(call, history << 1 | (failed.rank >= 0 ? 1 : 0)));
  bool same = true;
  for (size_t r = 0; r < words_.size(); ++r) {
    same = same && words_[r] >> 1 == words_[0] >> 1;
    if ((words_[r] & 1) != 0 && failed.rank < 0) failed.rank = static_cast<int>(r);
  }
  return same ? Status() : find_difference(call, made);
}

Status Agreement::tell_failed(Collective& collective, const char* call,
                              const std::function<void(const std::function<bool()>&)>& run_until, bool& failed) const {
  TeamOperations& operations = collective.teams();
  uint32_t mine = failed ? 1 : 0, any = 0;
  Combine combine;
  HIROBA_TRY(Combine::make(Type::uint32, Op::max, combine));
  Started told;
  Members& all = operations.all();
  HIROBA_TRY(
      operations.start(all, plan_allreduce(operations.member_of(all), &mine, &any, 1, combine), {call, ""}, told));
  Status agrees;
  run_until([&] {
    if (!told.done()) collective.world().drive();
    agrees = told.agrees();
    return told.done() || !agrees.ok();
  });
  failed = any != 0;
  return agrees;
}

Status Agreement::find_difference(const char* call, const std::vector<Flow::Made>& made) {
  HIROBA_TRY(tell(call, made.size()));
  size_t low = 0, high = *std::min_element(words_.begin(), words_.end());  // tasks [0, low) are the same
  while (low < high) {
    const size_t middle = (low + high) / 2;
    HIROBA_TRY(tell(call, made[middle].history));
    if (std::all_of(words_.begin(), words_.end(), [&](uint64_t w) { return w == words_[0]; })) low = middle + 1;
    else high = middle;
  }
  constexpr const char* rule = "every rank must create the same tasks in the same order, with the same shared data";
  if (low == made.size())
    return Status::error("%s: this rank has created %zu tasks, and another rank more; %s", call, low, rule);
  const TaskLabel& label = *made[low].label;
  return Status::error("%s: task %zu of this rank, %s (%s), is not the same in all ranks; %s", call, low + 1,
                       label.name, label.place, rule);
}

}  // namespace hiroba
