#include "openmp/worksharing/singles.hpp"

#include <algorithm>
#include <utility>

#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

namespace {

// Values of the word.
constexpr uint64_t begun(uint64_t number) { return 2 * number; }
constexpr uint64_t handed_over(uint64_t number) { return 2 * number + 1; }

}  // namespace

void Singles::begin(int64_t& word, int rank, const Cancellation& cancellation) {
  word_ = &word, mine_ = rank == 0, cancellation_ = &cancellation;
}

// All threads count alike, and barriers are counted over all regions: so the word only grows, and nobody clears it.
//
// The waits are not without end: a program may let rank 0 wait, before the construct, for what another thread does
// after it.
bool Singles::start() {
  pass();
  constexpr int most = 30;  // bits for those without a barrier between them
  const uint64_t number = (member.barriers << most) + ++member.singles;
  const bool executes = mine_ && take(number);
  member.single = number, member.executes_single = executes, member.single_place = record_caller;
  return executes;
}

bool Singles::take(uint64_t number) {
  for (uint64_t value = words::load(word_); value < begun(number);) {
    const uint64_t old = words::swap(word_, value, begun(number));
    if (old == value) return true;
    value = old;
  }
  return false;
}

// A construct may take long, and others need not wait for its end: so they lose patience with a program that has such.
void Singles::hand_over_or_wait() {
  constexpr double least = 1e-3;
  const uint64_t number = std::exchange(member.single, 0);
  const bool orders = !words::checked;  // which the program does not, and option check has to see
  if (std::exchange(member.executes_single, false)) {
    if (orders) words::release(word_);
    words::swap(word_, begun(number), handed_over(number));
    return;
  }
  const RecordedCall recorded(member.single_place);
  const double patience = patience_.load(std::memory_order_relaxed);
  await(begun(number), 1);
  if (!await(handed_over(number), patience)) patience_.store(std::max(patience / 2, least), std::memory_order_relaxed);
  if (orders) words::acquire(word_);
}

bool Singles::await(uint64_t value, double most_seconds) {
  if (seen_.load(std::memory_order_relaxed) >= value) return true;
  const InRuntime runtime;
  const double begin = seconds_now();
  words::await("a single of OpenMP", [&] {
    const uint64_t now = words::load(word_);
    if (now >= value) seen_.store(now, std::memory_order_relaxed);
    return now >= value || seconds_now() - begin > most_seconds ||
           (cancellation_->on() && cancellation_->region_was_cancelled());
  });
  if (recording())
    note_event(site_of(SiteKind::barrier, record_caller, 0, "a single of OpenMP"), begin, seconds_now(), 0);
  return seen_.load(std::memory_order_relaxed) >= value;
}

}  // namespace hiroba::openmp
