#include "collective/trees.hpp"

namespace hiroba {

namespace {

// Two ranks exchange at most one parcel of each kind for one number.
enum Kind : uint64_t { up, down, first_step };

Parcels::Key key(const Sequence& sequence, uint64_t kind) {
  return {sequence.name, sequence.number << Parcels::kind_bits | kind, sequence.what};
}

std::span<const char> bytes_of(const Words& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
}

// Of a tree over the members 0..count-1, counted from its root, where a member is: member 0 is the root, and the
// children of i are i + 1, i + 2, i + 4, ... below the lowest bit of i. Those of a child follow it, before the next
// child.
struct Tree {
  int parent = -1, children = 0;
  int child[32];
  Tree(int me, int count) {
    int distance = 1;
    for (; distance < count && (me & distance) == 0; distance *= 2)
      if (me + distance < count) child[children++] = me + distance;
    if (me > 0) parent = me - distance;
  }
};

}  // namespace

// In step k every member sends to the one 2^k after it, and receives from the one 2^k before it.
Operation Trees::barrier(RunningPtr running) {
  const Sequence& s = running->sequence;
  const int n = s.team.count;
  Words other(running->words.size());
  for (uint64_t step = first_step, distance = 1; distance < static_cast<uint64_t>(n); ++step, distance *= 2) {
    const int d = static_cast<int>(distance);
    parcels_->send(s.team.rank((s.me + d) % n), key(s, step), bytes_of(running->words));
    co_await parcels_->receive(s.team.rank((s.me - d + n) % n), key(s, step), other.data(), bytes_of(other).size());
    if (!other.empty()) running->join(running->words, other);
  }
  running.reset();
}

// To member 0 and back. A member holds the result of itself and of those after it, so the order is that of the members.
Operation Trees::reduce(RunningPtr running) {
  const Sequence& s = running->sequence;
  const Tree tree(s.me, s.team.count);
  std::vector<char>& mine = running->data;
  std::vector<char> theirs(tree.children > 0 ? mine.size() : 0);
  for (int i = 0; i < tree.children; ++i) {
    co_await parcels_->receive(s.team.rank(tree.child[i]), key(s, up), theirs.data(), theirs.size());
    running->combine(mine.data(), theirs.data(), static_cast<int64_t>(mine.size() / running->combine.element()));
  }
  if (tree.parent >= 0) {
    parcels_->send(s.team.rank(tree.parent), key(s, up), mine);
    co_await parcels_->receive(s.team.rank(tree.parent), key(s, down), mine.data(), mine.size());
  }
  for (int i = tree.children; i-- > 0;) parcels_->send(s.team.rank(tree.child[i]), key(s, down), mine);
  running.reset();
}

Operation Trees::broadcast(RunningPtr running, int root) {
  const Sequence& s = running->sequence;
  const int n = s.team.count;
  const Tree tree((s.me - root + n) % n, n);
  std::vector<char>& data = running->data;
  const auto rank = [&s, root, n](int relative) { return s.team.rank((relative + root) % n); };
  if (tree.parent >= 0) co_await parcels_->receive(rank(tree.parent), key(s, down), data.data(), data.size());
  for (int i = tree.children; i-- > 0;) parcels_->send(rank(tree.child[i]), key(s, down), data);
  running.reset();
}

}  // namespace hiroba
