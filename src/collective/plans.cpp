#include "collective/plans.hpp"

#include <algorithm>

namespace hiroba {

namespace {

Blocks one(const void* base, size_t bytes, int only = -1) {
  Blocks out;
  out.base = static_cast<char*>(const_cast<void*>(base)), out.bytes = bytes, out.only = only;
  return out;
}

Blocks row(const void* base, size_t bytes) {
  Blocks out = one(base, bytes);
  out.stride = bytes;
  return out;
}

Blocks parted(const void* base, const BlockTable& parts) {
  Blocks out = one(base, 0);
  out.table = std::make_shared<BlockTable>(parts);
  return out;
}

// The same bytes to or from the members that `chosen` says.
template <typename Chosen>
Blocks some(const void* base, int count, size_t bytes, const Chosen& chosen) {
  BlockTable table;
  table.at.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) table.bytes.push_back(chosen(i) ? bytes : 0);
  return parted(base, table);
}

Step step(Blocks give, Blocks take, bool same, size_t whole, bool gives = true) {
  return {std::move(give), std::move(take), same, {}, whole, gives};
}

Plan plan(Step&& only, size_t bytes) {
  Plan out;
  out.bytes = bytes;
  out.phases.push_back(std::move(only));
  return out;
}

// The parts of `count` elements, one for each member.
BlockTable slices(int members, size_t count, size_t element) {
  const size_t n = static_cast<size_t>(members), each = (count + n - 1) / n;
  BlockTable out;
  for (size_t i = 0; i < n; ++i) {
    const size_t first = std::min(count, i * each);
    out.at.push_back(first * element);
    out.bytes.push_back(std::min(each, count - first) * element);
  }
  return out;
}

// Member i's part of the result, combined at `into`.
Step reduce_slices(Member m, const void* send, const BlockTable& parts, char* into, const Combine& combine) {
  const size_t mine = parts.bytes[static_cast<size_t>(m.me)];
  Step out = step(parted(send, parts), one(into, mine), false, 0);
  out.combine = combine;
  return out;
}

}  // namespace

BlockTable BlockTable::one_after_another(std::span<const size_t> bytes) {
  BlockTable out;
  size_t at = 0;
  for (const size_t n : bytes) out.bytes.push_back(n), out.at.push_back(at), at += n;
  return out;
}

// A byte of each to each, which nobody reads.
Plan plan_barrier(Member m) {
  static char byte = 0;
  Plan out = plan(step(one(&byte, 1), row(nullptr, 1), true, 1), 0);
  out.room = static_cast<size_t>(m.count);
  return out;
}

Plan plan_bcast(Member m, int root, void* buffer, size_t bytes) {
  const bool is_root = m.me == root;
  return plan(step(one(buffer, is_root ? bytes : 0), one(buffer, bytes, root), true, bytes, is_root), bytes);
}

Plan plan_gather(Member m, int root, const void* send, void* recv, size_t bytes) {
  const bool is_root = m.me == root;
  if (send == nullptr) send = static_cast<char*>(recv) + static_cast<size_t>(m.me) * bytes;
  return plan(step(one(send, bytes, root), row(recv, is_root ? bytes : 0), true, bytes), bytes);
}

Plan plan_gatherv(Member m, int root, const void* send, size_t bytes, void* recv, const BlockTable& parts) {
  if (m.me != root) return plan(step(one(send, bytes, root), one(nullptr, 0), true, 0), bytes);
  if (send == nullptr) send = static_cast<char*>(recv) + parts.at[static_cast<size_t>(m.me)];
  return plan(step(one(send, bytes, root), parted(recv, parts), true, 0), bytes);
}

Plan plan_scatter(Member m, int root, const void* send, void* recv, size_t bytes) {
  const bool is_root = m.me == root;
  if (recv == nullptr) recv = static_cast<char*>(const_cast<void*>(send)) + static_cast<size_t>(m.me) * bytes;
  return plan(step(row(send, is_root ? bytes : 0), one(recv, bytes, root), false, bytes * static_cast<size_t>(m.count),
                   is_root),
              bytes);
}

Plan plan_scatterv(Member m, int root, const void* send, const BlockTable& parts, void* recv, size_t bytes) {
  if (m.me != root) return plan(step(one(nullptr, 0), one(recv, bytes, root), false, 0), bytes);
  if (recv == nullptr) recv = static_cast<char*>(const_cast<void*>(send)) + parts.at[static_cast<size_t>(m.me)];
  return plan(step(parted(send, parts), one(recv, bytes, root), false, 0), bytes);
}

Plan plan_allgather(Member m, const void* send, void* recv, size_t bytes) {
  if (send == nullptr) send = static_cast<char*>(recv) + static_cast<size_t>(m.me) * bytes;
  return plan(step(one(send, bytes), row(recv, bytes), true, bytes), bytes);
}

Plan plan_allgatherv(Member m, const void* send, size_t bytes, void* recv, const BlockTable& parts) {
  if (send == nullptr) send = static_cast<char*>(recv) + parts.at[static_cast<size_t>(m.me)];
  return plan(step(one(send, bytes), parted(recv, parts), true, 0), bytes);
}

Plan plan_alltoall(Member m, const void* send, void* recv, size_t bytes) {
  const bool in_place = send == nullptr;
  const size_t all = bytes * static_cast<size_t>(m.count);
  Plan out = plan(step(row(in_place ? recv : send, bytes), row(recv, bytes), false, all), bytes);
  if (in_place) out.copied = all;
  return out;
}

Plan plan_alltoallv(const void* send, const BlockTable& gives, void* recv, const BlockTable& takes) {
  const bool in_place = send == nullptr;
  Plan out = plan(step(parted(in_place ? recv : send, in_place ? takes : gives), parted(recv, takes), false, 0),
                  takes.bytes[0]);
  if (in_place)
    for (size_t i = 0; i < takes.at.size(); ++i) out.copied = std::max(out.copied, takes.at[i] + takes.bytes[i]);
  return out;
}

Plan plan_allreduce(Member m, const void* send, void* recv, size_t count, const Combine& combine) {
  const size_t element = combine.element(), bytes = count * element;
  if (send == nullptr) send = recv;
  if (bytes < m.sliced || m.count == 1) {
    Plan out = plan(step(one(send, bytes), one(recv, bytes), true, bytes), bytes);
    out.phases[0].combine = combine;
    if (send == recv) out.copied = bytes;
    return out;
  }
  const BlockTable parts = slices(m.count, count, element);
  char* const mine = static_cast<char*>(recv) + parts.at[static_cast<size_t>(m.me)];
  Plan out = plan(reduce_slices(m, send, parts, mine, combine), bytes);
  out.phases.push_back(step(one(mine, parts.bytes[static_cast<size_t>(m.me)]), parted(recv, parts), true, 0));
  return out;
}

Plan plan_reduce(Member m, int root, const void* send, void* recv, size_t count, const Combine& combine) {
  const size_t element = combine.element(), bytes = count * element;
  const bool is_root = m.me == root;
  if (send == nullptr) send = recv;
  if (bytes < m.sliced || m.count == 1) {
    Plan out = plan(step(one(send, bytes, root), one(recv, is_root ? bytes : 0), true, bytes), bytes);
    out.phases[0].combine = combine;
    return out;
  }
  const BlockTable parts = slices(m.count, count, element);
  const auto me = static_cast<size_t>(m.me);
  char* const mine = is_root ? static_cast<char*>(recv) + parts.at[me] : nullptr;
  Plan out = plan(reduce_slices(m, send, parts, mine, combine), bytes);
  if (!is_root) out.room = parts.bytes[me];
  out.phases.push_back(
      step(one(mine, parts.bytes[me], root), is_root ? parted(recv, parts) : one(nullptr, 0), true, 0));
  return out;
}

Plan plan_scan(Member m, const void* send, void* recv, size_t count, const Combine& combine, bool exclusive) {
  const size_t bytes = count * combine.element();
  if (send == nullptr) send = recv;
  Plan out =
      plan(step(some(send, m.count, bytes, [&](int i) { return exclusive ? i > m.me : i >= m.me; }),
                some(recv, m.count, bytes, [&](int i) { return exclusive ? i < m.me : i <= m.me; }), true, bytes),
           bytes);
  out.phases[0].combine = combine;
  if (send == recv) out.copied = bytes;
  return out;
}

Plan plan_reduce_scatter(Member m, const void* send, void* recv, std::span<const size_t> counts,
                         const Combine& combine) {
  BlockTable parts = BlockTable::one_after_another(counts);
  for (size_t& n : parts.bytes) n *= combine.element();
  for (size_t& n : parts.at) n *= combine.element();
  const bool in_place = send == nullptr;
  Plan out = plan(reduce_slices(m, in_place ? recv : send, parts, static_cast<char*>(recv), combine), parts.bytes[0]);
  if (in_place) out.copied = parts.at.back() + parts.bytes.back();
  return out;
}

Plan plan_neighbours(Member m, const void* send, std::span<const int> to, void* recv, std::span<const int> from,
                     size_t bytes) {
  const auto n = static_cast<size_t>(m.count);
  Plan out;
  out.bytes = bytes;
  // The k-th block between two members goes in phase k.
  const auto add = [&](std::span<const int> members, const void* base, Blocks Step::* side) {
    std::vector<BlockTable> tables;
    std::vector<size_t> used(n);
    for (size_t k = 0; k < members.size(); ++k) {
      const auto other = static_cast<size_t>(members[k]);
      const size_t number = used[other]++;
      if (tables.size() == number) tables.push_back({std::vector<size_t>(n), std::vector<size_t>(n)});
      tables[number].bytes[other] = bytes, tables[number].at[other] = k * bytes;
    }
    if (out.phases.size() < tables.size()) out.phases.resize(tables.size());
    for (size_t i = 0; i < tables.size(); ++i) out.phases[i].*side = parted(base, tables[i]);
  };
  add(to, send, &Step::give);
  add(from, recv, &Step::take);
  return out;
}

}  // namespace hiroba
