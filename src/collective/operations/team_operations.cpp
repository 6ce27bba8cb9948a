#include "collective/operations/team_operations.hpp"

#include <cstring>

#include "collective/parts.hpp"

namespace hiroba {

Status TeamOperations::barrier(const Team& team, const Call& call) {
  if (team.count == 1) return {};
  if (team.is_all(parts_.world.nranks)) return parts_.barriers.all(call.name, 0);
  HIROBA_TRY(parts_.none_left(team, call));
  return parts_.finish(begin_barrier(begin_sequence(team, 1, call), 0, {}, nullptr), call);
}

Status TeamOperations::barrier(const Team& team, const Call& call, Words& words, Join join) {
  if (team.count == 1) return {};
  HIROBA_TRY(parts_.none_left(team, call));
  const Started met = begin_barrier(begin_sequence(team, 1, {"a barrier", call.place}), 0, words, join);
  HIROBA_TRY(parts_.finish(met, call));
  words = met.words();
  return {};
}

Status TeamOperations::reduce(const Team& team, char* data, int64_t count, const Combine& how, const Call& call) {
  if (team.count == 1) return {};
  const Combine combine = parts_.settled(how);
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  if (bytes <= sizeof(uint64_t) && count == 1 && team.is_all(parts_.world.nranks))
    return reduce_word(data, combine, call);
  HIROBA_TRY(parts_.none_left(team, call));
  Plan plan = plan_allreduce(parts_.member_of(team, team.find(parts_.world.rank)), nullptr, data,
                             static_cast<size_t>(count), combine);
  return parts_.finish(parts_.begin_exchange(begin_sequence(team, 1, call), std::move(plan)), call);
}

// Combines one word of each rank, by one barrier.
Status TeamOperations::reduce_word(char* data, const Combine& combine, const Call& call) {
  uint64_t word = 0;
  std::memcpy(&word, data, combine.element());
  std::vector<uint64_t> words(static_cast<size_t>(parts_.world.nranks));
  HIROBA_TRY(parts_.barriers.with_words(call.name, word, words));
  std::vector<const char*> pieces;
  for (const uint64_t& one : words) pieces.push_back(reinterpret_cast<const char*>(&one));
  combine.all(data, pieces, combine.element());
  return {};
}

Status TeamOperations::broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call) {
  if (team.count == 1) return {};
  HIROBA_TRY(parts_.none_left(team, call));
  Plan plan = plan_bcast(parts_.member_of(team, team.find(parts_.world.rank)), root, data, bytes);
  return parts_.finish(parts_.begin_exchange(begin_sequence(team, 1, call), std::move(plan)), call);
}

Status TeamOperations::gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all) {
  std::vector<uint64_t> words(static_cast<size_t>(parts_.world.nranks));
  HIROBA_TRY(parts_.barriers.with_words(call, mine.size(), words));
  const std::vector<size_t> sizes(words.begin(), words.end());
  const BlockTable parts = BlockTable::one_after_another(sizes);
  std::vector<char> together(parts.at.back() + parts.bytes.back());
  Members& ranks = parts_.planned.all();
  Plan plan = plan_allgatherv(parts_.member_of(ranks.team, ranks.me), mine.data(), mine.size(), together.data(), parts);
  HIROBA_TRY(parts_.planned.perform(ranks, std::move(plan), {call, ""}));
  all.clear();
  for (size_t r = 0; r < sizes.size(); ++r)
    all.emplace_back(together.begin() + static_cast<ptrdiff_t>(parts.at[r]),
                     together.begin() + static_cast<ptrdiff_t>(parts.at[r] + parts.bytes[r]));
  return {};
}

// ---- started operations --------------------------------------------------------------------------------------------

Sequence TeamOperations::begin_sequence(const Team& team, uint64_t operations, const Call& call) {
  return parts_.begin_sequence(team, operations, call);
}

Started TeamOperations::begin_barrier(const Sequence& sequence, int which, const Words& words, Join join) {
  const RunningPtr running = parts_.make(sequence);
  running->sequence.number += static_cast<uint64_t>(which);
  running->words = words, running->join = join;
  return parts_.begin(running, [&] { return parts_.joined_barrier.run(running); });
}

Started TeamOperations::begin_reduce(const Team& team, const char* data, int64_t count, const Combine& how,
                                     const char* what) {
  const Combine combine = parts_.settled(how);
  const auto elements = static_cast<size_t>(count);
  const size_t bytes = combine.element() * elements;
  const RunningPtr running = parts_.make(begin_sequence(team, 1, {what, ""}));
  running->data.assign(data, data + bytes);
  if (count == 0) return Started(running);
  Plan plan =
      plan_allreduce(parts_.member_of(team, running->sequence.me), nullptr, running->data.data(), elements, combine);
  if (plan.copied > 0) {  // others still read the input when the result is there
    running->data.resize(2 * bytes);
    char* const result = running->data.data();
    std::memcpy(result + bytes, result, bytes);
    plan = plan_allreduce(parts_.member_of(team, running->sequence.me), result + bytes, result, elements, combine);
  }
  parts_.explain(plan, what);
  running->phases = std::move(plan.phases);
  return parts_.begin_exchange(running);
}

Started TeamOperations::begin_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what) {
  const RunningPtr running = parts_.make(begin_sequence(team, 1, {what, ""}));
  running->data.resize(bytes);
  if (team.rank(root) == parts_.world.rank && bytes > 0) std::memcpy(running->data.data(), data, bytes);
  Plan plan = plan_bcast(parts_.member_of(team, running->sequence.me), root, running->data.data(), bytes);
  parts_.explain(plan, what);
  running->phases = std::move(plan.phases);
  return parts_.begin_exchange(running);
}

Status TeamOperations::start_barrier(const Sequence& sequence, int which, const Words& words, Join join, Started& out) {
  out = begin_barrier(sequence, which, words, join);
  return parts_.carry_on(out, sequence.team);
}

Status TeamOperations::start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine,
                                    const char* what, Started& out) {
  out = begin_reduce(team, data, count, combine, what);
  return parts_.carry_on(out, team);
}

Status TeamOperations::start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what,
                                       Started& out) {
  out = begin_broadcast(team, root, data, bytes, what);
  return parts_.carry_on(out, team);
}

}  // namespace hiroba
