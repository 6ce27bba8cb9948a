// The reference implementation of the parts of a transport: it uses the core only.
#include <cassert>
#include <string>
#include <vector>

#include "base/debug/whereabouts.hpp"
#include "base/text.hpp"
#include "transport/transport.hpp"

namespace hiroba {

// ---- one-sided access -----------------------------------------------------------------------------------------------

void OneSided::put_strided(int rank, uint64_t to, const void* from, const Walk& walk) {
  const char* const source = static_cast<const char*>(from);
  if (char* const target = core_.local_address(rank, to); target != nullptr) return copy(target, source, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    core_.put(rank, to + static_cast<uint64_t>(at_to), source + at_from, walk.block);
  });
}

void OneSided::get_strided(void* to, int rank, uint64_t from, const Walk& walk) {
  char* const target = static_cast<char*>(to);
  if (const char* const source = core_.local_address(rank, from); source != nullptr) return copy(target, source, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    core_.get(target + at_to, rank, from + static_cast<uint64_t>(at_from), walk.block);
  });
}

void OneSided::start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion&) {
  core_.put(rank, to, from, bytes);
}

void OneSided::start_put_packed(int rank, std::span<const PackedWord> pieces, Completion&) {
  for_each_run(pieces, [&](uint64_t to, const void* data, size_t bytes) { core_.put(rank, to, data, bytes); });
}

void OneSided::start_get(void* to, int rank, uint64_t from, size_t bytes, Completion&, const Piggyback* piggyback) {
  assert(piggyback == nullptr || core_.local_address(rank, from) != nullptr);
  if (piggyback != nullptr)
    core_.deliver(piggyback->handler, core_.config().job.rank, piggyback->payload, piggyback->bytes);
  core_.get(to, rank, from, bytes);
}

void OneSided::start_deferred_get(void*, int, uint64_t, size_t, Completion&, const Piggyback*) {
  assert(!"a transport that gets ahead says how");
}

// ---- barriers ------------------------------------------------------------------------------------------------------

Status RankBarriers::group_barrier(uint64_t tag, std::span<const int>) {
  std::vector<uint64_t> words(static_cast<size_t>(core_.config().job.nranks));
  return barrier(tag, 0, words);
}

Status RankBarriers::late(std::span<const int> missing) const {
  const Transport::Config& config = core_.config();
  RankBoard& self = config.board->rank(config.job.rank);
  std::string text = format("waited %.3g s (option timeout) in %s, collective call %lu, for ", config.timeout,
                            self.where, self.calls.load());
  for (size_t i = 0; i < missing.size() && i < 8; ++i) {
    RankBoard& other = config.board->rank(missing[i]);
    text += format("%srank %d (%s%s)", i == 0 ? "" : ", ", missing[i],
                   other.waiting.load() != 0 ? "waiting in "
                   : other.where[0] == '\0'  ? "not started"
                                             : "computing after ",
                   other.where);
  }
  if (missing.empty()) text += "ranks that have not arrived";
  if (missing.size() > 8) text += format(" and %zu more", missing.size() - 8);
  return Status::error(text);
}

Status RankBarriers::unequal(int a, int b, const std::function<void(int)>& learn) const {
  const Transport::Config& config = core_.config();
  const int self = config.job.rank;
  show_call_place(config.board->rank(self));
  const auto call = [&](int rank) {
    if (rank != self)
      await_call_place(config.board->rank(rank), [&] {
        if (learn) learn(rank);
      });
    return config.board->rank(rank).where;
  };
  return Status::error(
      "collective calls differ: rank %d is in %s, rank %d is in %s; every rank must make the same calls in the same "
      "order with the same arguments",
      a, call(a), b, call(b));
}

}  // namespace hiroba
