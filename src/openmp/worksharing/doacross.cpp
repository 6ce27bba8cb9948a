#include "openmp/worksharing/doacross.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

Doacross::Doacross(const Loop& loop, std::span<const uint64_t> counts)
    : loops_(static_cast<unsigned>(counts.size())),
      kind_(loop.kind),
      iterations_(loop.iterations),
      chunk_(loop.chunk),
      threads_(static_cast<uint64_t>(member.threads)) {
  if (loops_ > most) end_job(1, "a loop with depend(sink) has %u nested loops; the most are %u", loops_, most);
  if (std::ranges::count(counts, uint64_t{0}) > 0) return;  // nothing waits
  uint64_t all = 1;
  for (unsigned i = loops_; i-- > 0;) {
    weight_[i] = all;
    if (__builtin_mul_overflow(all, counts[i], &all) || all > INT64_MAX)
      end_job(1, "a loop with depend(sink) has more than 2^63 iterations; divide it");
  }
  if (kind_ == Loop::Kind::fixed) parts_ = threads_;
  else parts_ = part(iterations_ - 1) + 1;
}

// Parts are as the schedule makes them, so each is one thread's, whose iterations come in their order: those of a
// thread, of a chunk, or, as guided chunks have no fixed bounds, a single one.
uint64_t Doacross::part(uint64_t outer) const {
  if (kind_ == Loop::Kind::guided) return outer;
  if (kind_ == Loop::Kind::dynamic) return outer / chunk_;
  if (chunk_ != 0) return outer / chunk_ % threads_;
  const uint64_t each = iterations_ / threads_, more = iterations_ % threads_, longer = more * (each + 1);
  return outer < longer ? outer / (each + 1) : more + (outer - longer) / each;
}

uint64_t Doacross::position(const uint64_t* at) const {
  uint64_t out = 0;
  for (unsigned i = 0; i < loops_; ++i) out += at[i] * weight_[i];
  return out;
}

void Doacross::post(const uint64_t* at) {
  const uint64_t mine = part(at[0]), done = position(at) + 1;
  if (mine != posted_part_) posted_part_ = mine, posted_ = 0;
  if (done == posted_) return;
  words::release(word(mine));
  words::add(word(mine), done - posted_);
  posted_ = done;
}

void Doacross::await(const uint64_t* at) const {
  const int64_t* const done = word(part(at[0]));
  const uint64_t wanted = position(at);
  words::await("an ordered loop with depend(sink)", [&] { return words::load(done) > wanted; });
  words::acquire(done);
}

}  // namespace hiroba::openmp
