#include "launcher/top/view.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/debug/whereabouts.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

// The seconds that a process has used a processor, and those since its start; 0 if it has ended.
struct ProcessTimes {
  double processor = 0, age = 0;
};

ProcessTimes times_of(pid_t process) {
  std::ifstream file(format("/proc/%d/stat", process));
  std::string text;
  if (process <= 0 || !std::getline(file, text)) return {};
  const size_t name_end = text.rfind(')');
  unsigned long user = 0, system = 0;
  unsigned long long start = 0;
  if (name_end == std::string::npos ||
      std::sscanf(text.c_str() + name_end + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d "
                  "%*d %llu",
                  &user, &system, &start) != 3)
    return {};
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return {static_cast<double>(user + system) / ticks,
          static_cast<double>(now.tv_sec) - static_cast<double>(start) / ticks};
}

std::string name_of(pid_t process) {
  std::ifstream file(format("/proc/%d/comm", process));
  std::string name;
  std::getline(file, name);
  return name.empty() ? "?" : printable(name);
}

// Text of the board, which may change while it is read.
std::string where_of(const RankBoard& rank) {
  char copy[sizeof rank.where + 1] = {};
  std::memcpy(copy, rank.where, sizeof rank.where);
  return printable(copy);
}

}  // namespace

JobView::JobView(RunningJob& job) : job_(job), lines_(static_cast<size_t>(job.nranks())) {
  for (int r = 0; r < job_.nranks(); ++r) lines_[static_cast<size_t>(r)].before = sums_of(r);
}

void JobView::sample() {
  ++samples_;
  for (int r = 0; r < job_.nranks(); ++r)
    if (job_.rank(r).waiting.load(std::memory_order_relaxed) != 0) ++lines_[static_cast<size_t>(r)].waits;
}

JobView::Sums JobView::sums_of(int rank) const {
  const RankBoard& board = job_.rank(rank);
  Sums out;
  out.time = seconds_now(), out.processor = times_of(board.pid.load()).processor, out.calls = board.calls.load();
  const RunRecord* const record = job_.record(rank);
  if (record == nullptr) return out;
  for (const SiteRecord& site : record->sites)
    if (site.kind == static_cast<uint32_t>(SiteKind::fault)) out.faults += site.count.load(std::memory_order_relaxed);
  for (const auto* const moved : {record->fetched_from, record->sent_to})
    for (uint32_t r = 0; r < RunRecord::most_ranks; ++r) out.bytes += moved[r].load(std::memory_order_relaxed);
  return out;
}

// A rank that waits in a collective call waits for those that have made fewer calls; in a lock, for its holder.
std::vector<int> JobView::waited_for(int rank) const {
  const RankBoard& self = job_.rank(rank);
  std::vector<int> out;
  const std::string where = where_of(self);
  const size_t lock = where.find("lock");
  const size_t number = lock == std::string::npos ? lock : where.find('(', lock);
  const int wanted = number == std::string::npos ? -1 : std::atoi(where.c_str() + number + 1);
  for (int r = 0; r < job_.nranks(); ++r) {
    if (r == rank) continue;
    const RankBoard& other = job_.rank(r);
    const bool holds = wanted >= 0 && std::any_of(std::begin(other.locks), std::end(other.locks),
                                                  [wanted](const auto& held) { return held.load() == wanted + 1; });
    if (wanted >= 0 ? holds : other.calls.load() < self.calls.load() && other.phase.load() == Phase::started)
      out.push_back(r);
  }
  return out;
}

std::string JobView::state_of(int rank) const {
  const RankBoard& board = job_.rank(rank);
  const std::string where = where_of(board);
  switch (board.phase.load()) {
    case Phase::launched:
      return job_.spreads() && board.pid.load() == 0 ? "runs on another host" : "has not called its start";
    case Phase::finished: return "has ended";
    case Phase::leaving: return "leaves";
    case Phase::started: break;
  }
  std::string out = where.empty() ? "computes" : "computes after " + where;
  if (board.waiting.load() != 0) {
    const std::vector<int> others = waited_for(rank);
    out = "waits in " + where + (others.empty() ? "" : " for " + list_ranks(others));
  }
  const std::string held = held_locks(board);
  return held.empty() ? out : out + "; holds " + held;
}

std::string JobView::line_of(int rank) {
  Line& line = lines_[static_cast<size_t>(rank)];
  const Sums now = sums_of(rank);
  const double seconds = std::max(1e-3, now.time - line.before.time);
  const auto rate = [seconds](uint64_t before, uint64_t after) {
    return static_cast<double>(after - std::min(before, after)) / seconds;
  };
  std::string out = format("%4d %8d %5.0f %6.0f %10.1f", rank, job_.rank(rank).pid.load(),
                           100 * std::max(0.0, now.processor - line.before.processor) / seconds,
                           100.0 * line.waits / std::max(1, samples_), rate(line.before.calls, now.calls));
  if (job_.record(rank) == nullptr) out += format(" %10s %8s", "-", "-");
  else out += format(" %10.1f %8.2f", rate(line.before.faults, now.faults), rate(line.before.bytes, now.bytes) / 1e6);
  line.before = now, line.waits = 0;
  return out + "  " + state_of(rank);
}

// Returns the process of the first rank of this host; 0: none has started.
pid_t JobView::first_here() const {
  for (int r = 0; r < job_.nranks(); ++r)
    if (const pid_t process = job_.rank(r).pid.load(); process > 0) return process;
  return 0;
}

std::vector<std::string> JobView::picture(int rows) {
  const pid_t first = first_here();
  std::vector<std::string> out = {format("%s: %d rank%s on %d node%s, %.0f s, process %d", name_of(first).c_str(),
                                         job_.nranks(), job_.nranks() == 1 ? "" : "s", job_.nnodes(),
                                         job_.nnodes() == 1 ? "" : "s", times_of(first).age, job_.process())};
  out.push_back(format("%4s %8s %5s %6s %10s %10s %8s  %s", "rank", "process", "cpu %", "wait %", "calls/s", "faults/s",
                       "MB/s", "what it does"));
  const int room = std::max(1, rows - 4), shown = std::min(job_.nranks(), room);
  for (int r = 0; r < job_.nranks(); ++r) {
    const std::string line = line_of(r);
    if (r < shown) out.push_back(line);
  }
  if (shown < job_.nranks())
    out.push_back(format("%d more ranks: a higher terminal shows them", job_.nranks() - shown));
  bool counted = false;
  for (int r = 0; r < job_.nranks(); ++r) counted = counted || job_.record(r) != nullptr;
  if (!counted) out.push_back("Faults and bytes are counted with hirobarun --report or --stats.");
  samples_ = 0;
  return out;
}

}  // namespace hiroba
