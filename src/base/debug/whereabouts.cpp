#include "base/debug/whereabouts.hpp"

#include <limits.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "base/debug/symbols.hpp"
#include "base/log.hpp"
#include "base/status.hpp"
#include "base/thread.hpp"
#include "base/wait.hpp"

namespace hiroba {

std::string list_ranks(const std::vector<int>& ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) out += (end - i == 2 ? ", " : "-") + std::to_string(ranks[end - 1]);
    i = end;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + out;
}

std::string whereabouts(Board& board, const std::vector<int>& ranks, size_t most) {
  std::vector<std::pair<std::string, std::vector<int>>> places;
  for (const int rank : ranks) {
    const RankBoard& at = board.rank(rank);
    const Phase phase = at.phase;
    if (phase == Phase::launched) continue;
    const std::string call(at.where, strnlen(at.where, sizeof at.where));
    const std::string place = phase == Phase::finished  ? "after " + std::string(at.end)
                              : phase == Phase::leaving ? "after its call of exit"
                              : call.empty()            ? "before its first collective call"
                                                        : (at.waiting != 0 ? "in " : "after ") + call;
    size_t i = 0;
    while (i < places.size() && places[i].first != place) ++i;
    if (i == places.size()) places.push_back({place, {}});
    places[i].second.push_back(rank);
  }
  std::string out;
  for (size_t i = 0; i < places.size() && i < most; ++i) {
    const auto& [place, at] = places[i];
    const bool one = at.size() == 1, waits = place.starts_with("in ");
    out += format("%s%s %s %s", i == 0 ? "" : "; ", list_ranks(at).c_str(),
                  waits ? one ? "waits" : "wait"
                  : one ? "computes"
                        : "compute",
                  place.c_str());
  }
  if (places.size() > most) out += format("; and %zu more places", places.size() - most);
  return out;
}

std::string not_come(Board& board, int rank) {
  const RankBoard& other = board.rank(rank);
  const std::string_view where = std::string_view(other.where).substr(0, std::string_view(other.where).find(": "));
  if (where.empty()) return format("rank %d has not arrived", rank);
  return format("rank %d has not arrived; it %s %.*s", rank, other.waiting.load() != 0 ? "waits in" : "computes after",
                static_cast<int>(where.size()), where.data());
}

namespace {
constexpr const char* place_mark = " at ";
bool shows_place(const RankBoard& board) { return std::strstr(board.where, place_mark) != nullptr; }
}  // namespace

std::string own_call_place() {
  const std::string place = calling_location();
  return place_mark + (place.empty() ? "the end of the program" : place);
}

std::string interpreted_place() {
  const char* const line = program_line();
  return line == nullptr ? "" : std::string(place_mark) + line;
}

void show_interpreted_place(RankBoard& self) {
  if (program_line() != nullptr && !shows_place(self)) self.show((self.where + interpreted_place()).c_str());
}

void show_call_place(RankBoard& self) {
  if (!shows_place(self)) self.show((self.where + own_call_place()).c_str());
}

void await_call_place(const RankBoard& other, const std::function<void()>& ask) {
  constexpr double most = 1;
  constexpr useconds_t interval = 10000;
  for (const double begin = seconds_now(); !shows_place(other) && seconds_now() - begin < most; usleep(interval)) ask();
}

std::string call_place(Board& board, int rank, bool is_self) {
  RankBoard& its = board.rank(rank);
  if (is_self) show_call_place(its);
  else await_call_place(its, [] {});
  const char* const place = std::strstr(its.where, place_mark);
  return place == nullptr ? "" : place;
}

std::string held_locks(const RankBoard& board) {
  std::string out;
  int count = 0;
  for (const std::atomic<int32_t>& lock : board.locks) {
    const int32_t shown = lock.load(std::memory_order_relaxed);
    if (shown != 0) out += (count++ == 0 ? "" : ", ") + std::to_string(shown - 1);
  }
  return count == 0 ? "" : (count == 1 ? "lock " : "locks ") + out;
}

double Stillness::look(Board& board, const std::vector<int>& ranks) {
  constexpr int most_told = 2;
  constexpr double again = 10;
  uint64_t steps = 0;
  bool waits = false;
  for (const int rank : ranks) {
    const RankBoard& at = board.rank(rank);
    steps += at.calls.load(std::memory_order_relaxed) + at.ended.load(std::memory_order_relaxed);
    waits = waits || (at.phase == Phase::started && at.waiting.load(std::memory_order_relaxed) != 0);
  }
  const double now = seconds_now();
  if (!waits || steps != steps_ || since_ == 0) steps_ = steps, since_ = now, told_ = 0;
  const double still = now - since_;
  if (limit_ <= 0 || told_ == most_told || still < (told_ == 0 ? limit_ : limit_ * again)) return 0;
  ++told_;
  return still;
}

Status StillWatch::start(Board& board, const Job& job, double seconds) {
  if (seconds <= 0 || job.nranks == 1 || !job.leads()) return {};
  board_ = &board, seconds_ = seconds, always_ = job.node == 0;
  for (int r = job.first_rank_of(job.node); r < job.first_rank_of(job.node) + job.ranks_on(job.node); ++r)
    ranks_.push_back(r);
  const auto run = [](void* self) -> void* { return static_cast<StillWatch*>(self)->run(), nullptr; };
  HIROBA_TRY(start_thread(thread_, "hiroba-still", run, this));
  running_ = true;
  return {};
}

void StillWatch::stop() {
  if (!running_) return;
  stopping_ = true;
  pthread_join(thread_, nullptr);
  running_ = false;
}

void StillWatch::run() {
  constexpr useconds_t interval = 50000;
  Stillness stillness(seconds_);
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  while (!stopping_) {
    usleep(interval);
    const double seconds = stillness.look(*board_, ranks_);
    const std::string where = seconds > 0 ? whereabouts(*board_, ranks_) : "";
    if (seconds > 0 && (always_ || where.find("compute") != std::string::npos))
      log_line("no rank on %s has advanced for %.3g s: %s %s", host, seconds, where.c_str(), still_advice);
  }
}

}  // namespace hiroba
