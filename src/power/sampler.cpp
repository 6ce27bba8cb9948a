#include "power/sampler.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "base/record/record.hpp"
#include "base/thread.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

void PowerSampler::start(const Power::Settings& settings, const Power::Surroundings& around) {
  settings_ = settings, around_ = around;
  leads_ = around.job.leads();
  leader_ = &around.board->rank(around.job.first_rank_of(around.job.node));
  if (leads_) open();
}

void PowerSampler::open() {
  if (std::exchange(opened_, true)) return;
  meter_.open(settings_.places);
  meter_.sample(seconds_now(), true);
}

double PowerSampler::idle_watts(double seconds) {
  const std::lock_guard lock(guard_);
  meter_.reset();
  const double begin = seconds_now();
  for (double now = begin; now - begin < seconds; now = seconds_now()) {
    meter_.sample(now);
    sleep_for(settings_.period);
  }
  return meter_.watts().value;
}

Status PowerSampler::run(int ranks) {
  ranks_ = ranks;
  double now = 0;
  if (leads_) {
    meter_.reset();
    (void)read(now);
  }
  began_ = last_time_ = point_time_ = seconds_now();
  running_ = true;
  return start_thread(thread_, "hiroba-power", main, this);
}

void PowerSampler::stop() {
  if (!std::exchange(running_, false)) return;
  stopping_.store(1);
  futex_wake_all(stopping_);
  pthread_join(thread_, nullptr);
  double now = 0;
  if (leads_) (void)read(now);
  tick();
}

void* PowerSampler::main(void* self) {
  auto& sampler = *static_cast<PowerSampler*>(self);
  for (double next = seconds_now();;) {
    next = std::max(next + sampler.settings_.period, seconds_now());
    while (sampler.stopping_.load() == 0 && seconds_now() < next)
      futex_wait(sampler.stopping_, 0, next - seconds_now());
    if (sampler.stopping_.load() != 0) break;
    sampler.tick();
  }
  const std::lock_guard lock(sampler.guard_);
  sampler.cpu_seconds_ = cpu_seconds();
  return nullptr;
}

EnergyMeter::Total PowerSampler::read(double& now) { return read(now, ""); }

EnergyMeter::Total PowerSampler::read(double& now, const std::string& device) {
  const std::lock_guard lock(guard_);
  open();
  now = seconds_now();
  meter_.sample(now, true);
  return device.empty() ? meter_.joules(now) : meter_.joules_of(device, now);
}

void PowerSampler::note(const std::string& name, double seconds, double joules) {
  const std::lock_guard lock(guard_);
  accounts_.add(name, seconds, joules);
}

std::map<std::string, PowerAccount> PowerSampler::accounts() const {
  const std::lock_guard lock(guard_);
  return accounts_.all();
}

EnergyMeter::Total PowerSampler::total(double& seconds) const {
  const std::lock_guard lock(guard_);
  seconds = last_time_ - began_;
  EnergyMeter::Total out = meter_.joules(last_time_);
  const std::string unchanged = meter_.unchanged();
  if (out.why_unknown.empty() && !unchanged.empty())
    out.why_unknown = format("not readable: %s: no change of the counter in %.3f s", unchanged.c_str(), seconds);
  return out;
}

void PowerSampler::tick() {
  const std::lock_guard lock(guard_);
  const double now = seconds_now();
  if (opened_) meter_.sample(now);
  if (leads_) {
    const EnergyMeter::Total total = meter_.joules(now);
    leader_->joules.store(total.why_unknown.empty() ? total.value : std::numeric_limits<double>::quiet_NaN(),
                          std::memory_order_relaxed);
  }
  note_state(now - last_time_);
  last_time_ = now;
  ++ticks_;
  const double joules = leader_->joules.load(std::memory_order_relaxed);
  if (std::isnan(joules)) accounts_.lose();
  else if (joules != last_joules_) accounts_.spend((joules - last_joules_) / ranks_);
  if (!std::isnan(joules)) last_joules_ = joules;
  if (recording() && leads_) note_energy(now, joules);
}

// Each thread that runs tasks has an equal share of the rank's time, and the others belong to what the rank does.
void PowerSampler::note_state(double seconds) {
  int others = around_.threads;
  const double share = seconds / around_.threads;
  for (int t = 0; around_.task && t < around_.threads; ++t) {
    const char* const task = around_.task(t);
    if (task == nullptr) continue;
    accounts_.pass(std::string("task ") + task, share);
    --others;
  }
  if (others > 0) accounts_.pass(state(), share * others);
}

// The board says "sms_lock(3)", "the end of the program", or more; numbers are left out, so that names are few.
std::string PowerSampler::state() const {
  const RankBoard& self = around_.board->rank(around_.job.rank);
  if (self.waiting.load(std::memory_order_relaxed) == 0) return "computing";
  constexpr size_t most = 32;
  std::string text(self.where, strnlen(self.where, most));
  text.resize(std::min(text.size(), text.find_first_of("(,:")));
  for (size_t i = 1; i < text.size(); ++i)
    if (text[i - 1] == ' ' && std::isdigit(static_cast<unsigned char>(text[i])) != 0) text.resize(i - 1);
  return "waiting in " + text;
}

// Slow counters change less often than they are sampled.
void PowerSampler::note_energy(double now, double joules) {
  constexpr double interval = 0.1;
  if (now - point_time_ < interval) return;
  if (!std::isnan(joules - point_joules_))
    run_record->timeline.note_energy(run_record->began, point_time_, now, joules - point_joules_);
  point_time_ = now, point_joules_ = joules;
}

}  // namespace hiroba
