#include "openmp/program/long_wait.hpp"

#include "base/debug/symbols.hpp"
#include "base/log.hpp"
#include "openmp/program/runtime.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

void LongWait::go_on() {
  constexpr double short_wait = 0.5;  // finding the place takes longer than most waits
  const double now = seconds_about_now();
  if (begin_ == 0) begin_ = now;
  const double waited = now - begin_;
  if (waited < short_wait && shown_ == std::nullopt) return;
  const InRuntime runtime;
  const auto text = [&] {
    const std::string place = calling_location();
    return place.empty() ? what_ : what_ + (" at " + place);
  };
  const World& world = process_memory(what_).collective().world();
  if (world.timeout > 0 && waited > world.timeout)
    end_job(1, "waited %.3g s (option timeout) in %s", waited, text().c_str());
  if (!shown_) shown_.emplace(world.board->rank(world.rank), text().c_str());
}

}  // namespace hiroba::openmp
