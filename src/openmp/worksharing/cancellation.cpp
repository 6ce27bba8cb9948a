#include "openmp/worksharing/cancellation.hpp"

#include "openmp/program/abi.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

void Cancellation::begin(Words& words, int rank, int ranks) {
  words_ = &words, mine_ = rank == 0, ranks_ = static_cast<uint64_t>(ranks);
  on_ = HIROBA_REAL(omp_get_cancellation)() != 0;
}

// libgomp ends the tasks of this rank, and its threads' waiting in barriers.
bool Cancellation::cancel_region() {
  words::swap(&words_->region, 0, 1);
  return HIROBA_REAL(GOMP_cancel)(cancels_parallel, true);
}

bool Cancellation::region_is_cancelled() const {
  return words::load(&words_->region) != 0 && HIROBA_REAL(GOMP_cancel)(cancels_parallel, true);
}

bool Cancellation::region_was_cancelled() const { return on_ && words::load(&words_->region) != 0; }

void Cancellation::cancel_share() const { words::swap(&words_->share[member.barriers % 2], 0, 1); }

bool Cancellation::share_is_cancelled() const { return words::load(&words_->share[member.barriers % 2]) != 0; }

bool Cancellation::await_arrivals() const {
  int64_t* const arrived = &words_->arrived[member.barriers % 2];
  words::add(arrived, 1);
  bool is_cancelled = false;
  words::await("a barrier of OpenMP", [&] {
    if (words::load(arrived) == ranks_) return true;
    return is_cancelled = region_is_cancelled();
  });
  return !is_cancelled;
}

void Cancellation::clear(uint64_t barriers) {
  if (on_ && mine_) words_->share[barriers % 2] = words_->arrived[barriers % 2] = 0;
}

void Cancellation::end_region() {
  if (on_ && mine_) words_->region = 0;
}

}  // namespace hiroba::openmp
