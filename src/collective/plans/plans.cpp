#include "collective/plans/plans.hpp"

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

// Gives the same bytes to, or takes them from, the members that `chosen` selects.
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

// Divides `count` elements into one part for each member.
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

// Combines member i's part of the result at `into`.
Step reduce_slices(Member m, const void* send, const BlockTable& parts, char* into, const Combine& combine) {
  const size_t mine = parts.bytes[m.me];
  Step out = step(parted(send, parts), one(into, mine), false, 0);
  out.combine = combine;
  return out;
}

// ---- trees: in a phase, each member communicates with at most one other --------------------------------------------

const Blocks nothing = {};

// Communicates with at most one member in each direction.
Step pair_step(const void* give, int to, void* take, int from, size_t bytes) {
  return step(to < 0 ? nothing : one(give, bytes, to), from < 0 ? nothing : one(take, bytes, from), true, 0);
}

int distances(int members) {
  int distance = 1;
  while (distance < members) distance *= 2;
  return distance;
}

// Sends from the root to all. The greatest distances come first, so few blocks go between nodes.
void add_bcast(Plan& out, Member m, int root, void* buffer, size_t bytes) {
  const int place = (m.me - root + m.count) % m.count;
  const auto member = [&](int at) { return (at + root) % m.count; };
  for (int d = distances(m.count) / 2; d >= 1; d /= 2) {
    const bool gives = place % (2 * d) == 0 && place + d < m.count, takes = place % (2 * d) == d;
    out.phases.push_back(
        pair_step(buffer, gives ? member(place + d) : -1, buffer, takes ? member(place - d) : -1, bytes));
  }
}

// Reduces to member 0; each combining member has a partial result at `into`. A member has the data of itself and of the
// members after it, so elements are combined in the order of members. Returns the place of the final result.
const void* add_reduce(Plan& out, Member m, const void* send, char* into, size_t bytes, const Combine& combine) {
  const void* mine = send;
  for (int d = 1; d < m.count; d *= 2) {
    const bool takes = m.me % (2 * d) == 0 && m.me + d < m.count, gives = m.me % (2 * d) == d;
    Step next = pair_step(mine, gives ? m.me - d : -1, nullptr, -1, bytes);
    if (takes) {
      next.give = one(mine, bytes, m.me), next.take = one(into, bytes, m.me);
      next.take.also = m.me + d, next.combine = combine;
      mine = into;
    }
    out.phases.push_back(std::move(next));
  }
  return mine;
}

Plan tree_plan(size_t bytes) {
  Plan out;
  out.bytes = bytes, out.way = "along a tree";
  return out;
}

Plan reduce_by_tree(Member m, int root, const void* send, char* recv, size_t bytes, const Combine& combine) {
  Plan out = tree_plan(bytes);
  const bool is_root = m.me == root;
  char* const into = is_root && root == 0 ? recv : nullptr;
  if (into == nullptr) out.room = bytes;
  const void* const result = add_reduce(out, m, send, into, bytes, combine);
  if (root != 0) out.phases.push_back(pair_step(result, m.me == 0 ? root : -1, recv, is_root ? 0 : -1, bytes));
  return out;
}

// Returns true if a tree needs no more phases than a plan may have.
bool allreduces_by_tree(Member m) {
  size_t phases = 0;
  for (int d = 1; d < m.count; d *= 2) phases += 2;
  return m.by_tree() && !m.exact && phases <= Plan::most_phases;
}

Plan allreduce_by_tree(Member m, const void* send, char* recv, size_t bytes, const Combine& combine) {
  Plan out = tree_plan(bytes);
  add_reduce(out, m, send, recv, bytes, combine);
  add_bcast(out, m, 0, recv, bytes);
  return out;
}

// The root gives each member a slice, and each gives its slice to all: the root sends twice the bytes for any team
// size.
Plan bcast_in_slices(Member m, int root, char* buffer, size_t bytes) {
  const BlockTable parts = slices(m.count, bytes, 1);
  const auto me = static_cast<size_t>(m.me);
  char* const mine = buffer + parts.at[me];
  Plan out =
      plan(step(m.me == root ? parted(buffer, parts) : nothing, one(mine, parts.bytes[me], root), false, 0), bytes);
  out.phases.push_back(step(one(mine, parts.bytes[me]), parted(buffer, parts), true, 0));
  out.way = "in slices";
  return out;
}

// In each phase the distance doubles, so each member has received from all, directly or through others.
Plan barrier_by_tree(Member m, const char* byte) {
  Plan out = tree_plan(0);
  out.room = 1;
  for (int d = 1; d < m.count; d *= 2)
    out.phases.push_back(pair_step(byte, (m.me + d) % m.count, nullptr, (m.me - d + m.count) % m.count, 1));
  return out;
}

}  // namespace

BlockTable BlockTable::one_after_another(std::span<const size_t> bytes) {
  BlockTable out;
  size_t at = 0;
  for (const size_t n : bytes) out.bytes.push_back(n), out.at.push_back(at), at += n;
  return out;
}

// Each member sends a byte to each, which nobody reads.
Plan plan_barrier(Member m) {
  static char byte = 0;
  if (m.by_tree()) return barrier_by_tree(m, &byte);
  Plan out = plan(step(one(&byte, 1), row(nullptr, 1), true, 1), 0);
  out.room = static_cast<size_t>(m.count);
  return out;
}

Plan plan_bcast(Member m, int root, void* buffer, size_t bytes) {
  if (m.by_tree() && bytes >= m.sliced) return bcast_in_slices(m, root, static_cast<char*>(buffer), bytes);
  if (m.by_tree()) {
    Plan out = tree_plan(bytes);
    add_bcast(out, m, root, buffer, bytes);
    return out;
  }
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
  if (send == nullptr) send = static_cast<char*>(recv) + parts.at[m.me];
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
  if (recv == nullptr) recv = static_cast<char*>(const_cast<void*>(send)) + parts.at[m.me];
  return plan(step(parted(send, parts), one(recv, bytes, root), false, 0), bytes);
}

Plan plan_allgather(Member m, const void* send, void* recv, size_t bytes) {
  if (send == nullptr) send = static_cast<char*>(recv) + static_cast<size_t>(m.me) * bytes;
  return plan(step(one(send, bytes), row(recv, bytes), true, bytes), bytes);
}

Plan plan_allgatherv(Member m, const void* send, size_t bytes, void* recv, const BlockTable& parts) {
  if (send == nullptr) send = static_cast<char*>(recv) + parts.at[m.me];
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
  if (bytes < m.sliced && allreduces_by_tree(m))
    return allreduce_by_tree(m, send, static_cast<char*>(recv), bytes, combine);
  if (bytes < m.sliced || m.count == 1) {
    Plan out = plan(step(one(send, bytes), one(recv, bytes), true, bytes), bytes);
    out.phases[0].combine = combine;
    if (send == recv) out.copied = bytes;
    return out;
  }
  const BlockTable parts = slices(m.count, count, element);
  char* const mine = static_cast<char*>(recv) + parts.at[m.me];
  Plan out = plan(reduce_slices(m, send, parts, mine, combine), bytes);
  out.phases.push_back(step(one(mine, parts.bytes[m.me]), parted(recv, parts), true, 0));
  return out;
}

Plan plan_reduce(Member m, int root, const void* send, void* recv, size_t count, const Combine& combine) {
  const size_t element = combine.element(), bytes = count * element;
  const bool is_root = m.me == root;
  if (send == nullptr) send = recv;
  if (bytes < m.sliced && m.by_tree() && !m.exact)
    return reduce_by_tree(m, root, send, static_cast<char*>(recv), bytes, combine);
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
  // Phase k moves the k-th block between two members.
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
