#include "openmp/worksharing/singles.hpp"

#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "openmp/program/member.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

void Singles::begin(int64_t& begun, int rank, const Cancellation& cancellation) {
  begun_ = &begun, mine_ = rank == 0, cancellation_ = &cancellation;
}

// All threads count alike, and barriers are counted over all regions: so the word only grows, and nobody clears it.
bool Singles::start() {
  constexpr int most = 30;  // bits for those without a barrier between them
  const auto number = static_cast<int64_t>((member.barriers << most) + ++member.singles);
  if (mine_) return take(number);
  if (seen_.load(std::memory_order_relaxed) < number) await(number);
  return false;
}

bool Singles::take(int64_t number) {
  for (auto begun = static_cast<int64_t>(words::load(begun_)); begun < number;) {
    const auto old =
        static_cast<int64_t>(words::swap(begun_, static_cast<uint64_t>(begun), static_cast<uint64_t>(number)));
    if (old == begun) return true;
    begun = old;
  }
  return false;
}

// Not without end: a program may let rank 0 wait, before the construct, for what another thread does after it.
void Singles::await(int64_t number) {
  constexpr double most_seconds = 1;
  const InRuntime runtime;
  const double begin = seconds_now();
  words::await("a single of OpenMP", [&] {
    const auto begun = static_cast<int64_t>(words::load(begun_));
    if (begun >= number) seen_.store(begun, std::memory_order_relaxed);
    return begun >= number || seconds_now() - begin > most_seconds ||
           (cancellation_->on() && cancellation_->region_was_cancelled());
  });
  if (recording())
    note_event(site_of(SiteKind::barrier, record_caller, 0, "a single of OpenMP"), begin, seconds_now(), 0);
}

}  // namespace hiroba::openmp
