#include "collective/barriers/joined_barrier.hpp"

namespace hiroba {

namespace {

std::span<const char> bytes_of(const Words& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
}

}  // namespace

// In round k every member sends to the member 2^k after it, and receives from the one 2^k before it.
Operation JoinedBarrier::run(RunningPtr running) {
  const Sequence& s = running->sequence;
  const int n = s.team.count;
  Words other(running->words.size());
  for (uint64_t round = 0, distance = 1; distance < static_cast<uint64_t>(n); ++round, distance *= 2) {
    const int d = static_cast<int>(distance);
    const Parcels::Key key = {s.name, s.number << Parcels::kind_bits | round, s.digest, s.what};
    parcels_->send(s.team.rank((s.me + d) % n), key, bytes_of(running->words));
    co_await parcels_->receive(s.team.rank((s.me - d + n) % n), key, other.data(), bytes_of(other).size());
    if (!other.empty()) running->join(running->words, other);
  }
  running.reset();
}

}  // namespace hiroba
