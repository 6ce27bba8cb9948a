#include "launcher/supervise.hpp"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/debug/whereabouts.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

using std::chrono::milliseconds;

constexpr int tick_milliseconds = 100;                               // interval of reads of the board
constexpr milliseconds failure_grace{1000};                          // from SIGTERM to SIGKILL after a rank has failed
constexpr milliseconds leaving_grace{(leaving_seconds + 5) * 1000};  // if a rank that leaves does not end itself
constexpr double most_grace = 1e9;                                   // seconds
constexpr milliseconds told_after{3000};        // from a signal by the user to a message about ranks that still run
constexpr milliseconds unkillable_after{2000};  // from SIGKILL to the end of the wait
constexpr milliseconds abort_grace{1000};       // from the report of an error to the end of the rank that made it
constexpr milliseconds leftover_grace{300};     // for processes that end by themselves after their rank
constexpr milliseconds flush_grace{1000};       // for the reader of the output, after a signal by the user
constexpr int stop_exit_base = 128;             // as in shells: 128 + signal

}  // namespace

Supervisor::Supervisor(const std::vector<Rank>& ranks, const Signals& signals, Board& board, const Launch& launch)
    : signals_(signals),
      board_(board),
      forwarder_(ranks, launch.tag),
      alive_(static_cast<int>(ranks.size())),
      memory_at_start_(memory_state()),
      stop_grace_(static_cast<int64_t>(std::min(launch.grace, most_grace) * 1000)),
      stillness_(launch.still) {
  for (const Rank& rank : ranks) members_.push_back({rank.pid});
}

int Supervisor::run() {
  while (alive_ > 0 && !gave_up_) {
    if (forwarder_.wait(signals_.fd, tick_milliseconds)) read_signals();
    reap();
    watch_board();
    watch_outputs();
    watch_progress();
    end_what_is_due();
  }
  end_leftovers();
  flush();
  return exit_status_;
}

void Supervisor::read_signals() {
  signalfd_siginfo info;
  while (read(signals_.fd, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    const bool ranks_have_it = ranks_have(signals_, info);
    switch (meaning_of(signal)) {
      case SignalMeaning::child_ended: break;
      case SignalMeaning::stop: on_stop_signal(signal, ranks_have_it); break;
      case SignalMeaning::suspend: suspend(ranks_have_it); break;
      case SignalMeaning::pass_on: pass_on(signal, ranks_have_it); break;
    }
  }
}

// Continues on SIGCONT, which is then passed on.
void Supervisor::suspend(bool ranks_have_it) {
  if (!ranks_have_it) signal_descendants(SIGTSTP);
  raise(SIGSTOP);
}

void Supervisor::pass_on(int signal, bool ranks_have_it) {
  if (signal == SIGCONT) return signal_descendants(signal);
  if (state_ != State::running || ranks_have_it) return;
  passed_on_.insert(signal);
  for (const Member& member : members_)
    if (member.alive) kill(member.pid, signal);
}

void Supervisor::on_stop_signal(int signal, bool ranks_have_it) {
  const StopRequests::Request request = stops_.take(signal);
  if (request == StopRequests::Request::same) return;
  // This is a repeated request, or the end of a failed job takes too long.
  if (request == StopRequests::Request::again || state_ != State::running) return kill_all();
  exit_status_ = stop_exit_base + signal;
  const std::string where = whereabouts(board_, alive());
  if (!where.empty())
    forwarder_.message(format("ended by signal %d (%s): %s", signal, strsignal(signal), where.c_str()));
  ask_to_end(ranks_have_it ? 0 : signal, stop_grace_);
}

void Supervisor::reap() {
  int wait_status;
  for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    read_signals();  // if a Ctrl-C ended this rank, it has arrived here before; read it first
    for (size_t r = 0; r < members_.size(); ++r)
      if (members_[r].pid == pid && members_[r].alive) on_exit(static_cast<int>(r), wait_status);
  }
}

void Supervisor::on_exit(int rank, int wait_status) {
  Member& member = members_[rank];
  member.alive = false;
  --alive_;
  forwarder_.drain(rank);
  watch_board();  // a rank may wait for one that left early: that is then the first failure
  if (state_ != State::running) return;

  const Phase phase = board_.rank(rank).phase;
  const bool good = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  if (good && phase != Phase::started) {
    member.left_early = phase == Phase::launched;
    return;
  }
  const uint32_t reported = board_.aborting;
  const int exit_status = reported != 0              ? static_cast<int>(reported & ~Board::reported)
                          : WIFSIGNALED(wait_status) ? stop_exit_base + WTERMSIG(wait_status)
                                                     : std::max(1, WEXITSTATUS(wait_status));
  if (phase == Phase::finished && reported == 0) {  // no rank needs it any more
    if (exit_status_ == 0) forwarder_.message(describe_exit(rank, wait_status, phase));
    if (exit_status_ == 0) exit_status_ = exit_status;
    return;
  }
  fail(exit_status, reported != 0 ? "" : describe_exit(rank, wait_status, phase) + others_ended());
}

std::string Supervisor::describe_exit(int rank, int wait_status, Phase phase) const {
  std::string text = format("rank %d (pid %d) ", rank, members_[rank].pid);
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    text += format("was killed by signal %d (%s%s)", signal, strsignal(signal),
                   WCOREDUMP(wait_status) ? ", core dumped" : "");
    if (passed_on_.contains(signal))
      text += ", which hirobarun was sent and has passed on: a rank ends by it unless it handles it";
  } else {
    const int given = board_.rank(rank).exit_status;
    text += given != 0 ? format("exited with status %d, of which the system keeps 0", given)
                       : format("exited with status %d", WEXITSTATUS(wait_status));
  }
  if (phase == Phase::finished) return text + " after " + board_.rank(rank).end;
  if (phase == Phase::started) {
    const RankBoard& last = board_.rank(rank);
    if (!WIFSIGNALED(wait_status)) text += format(" before %s", last.end);
    if (alive_ > 0 && !WIFSIGNALED(wait_status)) text += " while other ranks still need it";
    if (last.where[0] != '\0')
      text += format(" (%s %.*s)", last.waiting != 0 ? "waiting in" : "its last call was",
                     static_cast<int>(strnlen(last.where, sizeof last.where)), last.where);
    if (const std::string locks = held_locks(last); !locks.empty()) text += " while it held " + locks;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
      text += format("; every rank must call %s before it ends", last.end);
  }
  // A rank that can handle these two has told its place and stack.
  if (WIFSIGNALED(wait_status) && phase == Phase::started &&
      (WTERMSIG(wait_status) == SIGBUS || WTERMSIG(wait_status) == SIGSEGV))
    text +=
        "; if a thread blocks signals by a system call of its own, it ends so where it first uses shared memory of "
        "another node: block them by pthread_sigmask, which leaves this one open";
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL) {
    const MemoryState now = memory_state();
    text += format("; %s of %s memory are free now, and ", show_bytes(now.available).c_str(),
                   show_bytes(now.total).c_str());
    text +=
        now.oom_kills > memory_at_start_.oom_kills
            ? "the kernel's out-of-memory killer has killed processes since the job began: use fewer ranks, smaller "
              "arrays or less --cache"
            : "the kernel's out-of-memory killer has killed none since the job began: another process sent the signal";
  }
  return text;
}

std::string Supervisor::others_ended() const {
  if (alive_ == 0) return "";
  return alive_ == 1 ? "; ending the other rank" : format("; ending the other %d ranks", alive_);
}

// Finds failures that no exit of a process shows: a rank that others wait for although it has left, and a rank that has
// reported an error but does not end.
void Supervisor::watch_board() {
  if (state_ != State::running) return;
  const int ranks = static_cast<int>(members_.size());
  int early = 0, waiting = 0;
  while (early < ranks && !members_[early].left_early) ++early;
  while (waiting < ranks && board_.rank(waiting).phase != Phase::started) ++waiting;
  if (early < ranks && waiting < ranks)
    return fail(1, format("rank %d (pid %d) exited (status 0) without sms_startup, in which rank %d waits for it%s",
                          early, members_[early].pid, waiting, others_ended().c_str()));
  if (board_.aborting == 0) return;
  if (!aborting_seen_) aborting_since_ = Clock::now();
  aborting_seen_ = true;
  if (Clock::now() - aborting_since_ > (some_leave() ? leaving_grace : abort_grace))
    fail(static_cast<int>(board_.aborting & ~Board::reported), "");
}

// Returns true if exit handlers of a rank run, which have a time limit of their own.
bool Supervisor::some_leave() const {
  for (const int rank : alive())
    if (board_.rank(rank).phase == Phase::leaving) return true;
  return false;
}

std::vector<int> Supervisor::alive() const {
  std::vector<int> ranks;
  for (size_t r = 0; r < members_.size(); ++r)
    if (members_[r].alive) ranks.push_back(static_cast<int>(r));
  return ranks;
}

// Reports which ranks wait for which if some rank waits, and no rank makes a call, for long.
void Supervisor::watch_progress() {
  if (state_ != State::running) return;
  const std::vector<int> ranks = alive();
  const double seconds = stillness_.look(board_, ranks);
  if (seconds > 0)
    forwarder_.message(
        format("no rank has advanced for %.3g s: %s %s", seconds, whereabouts(board_, ranks).c_str(), still_advice));
}

void Supervisor::watch_outputs() {
  if (state_ != State::running) return;
  if (forwarder_.reader_left()) fail(stop_exit_base + SIGPIPE, "");
  else if (!forwarder_.failure().ok()) fail(1, forwarder_.failure().message() + others_ended());
}

void Supervisor::fail(int exit_status, const std::string& message) {
  if (exit_status_ == 0) exit_status_ = exit_status;
  if (!message.empty()) forwarder_.message(message);
  ask_to_end(SIGTERM, failure_grace);
}

void Supervisor::ask_to_end(int signal, milliseconds grace) {
  state_ = State::asked;
  asked_ = Clock::now(), due_ = asked_ + grace;
  if (signal == 0) return;
  signal_descendants(signal);
  signal_descendants(SIGCONT);  // a stopped process gets it then
}

void Supervisor::kill_all() {
  state_ = State::killing;
  due_ = Clock::now() + unkillable_after;
  signal_descendants(SIGKILL);
}

void Supervisor::end_what_is_due() {
  if (alive_ == 0) return;                                    // the last rank has ended just now
  if (state_ == State::killing) signal_descendants(SIGKILL);  // also processes that were forked since
  if (state_ == State::asked) tell_of_grace();
  if (state_ == State::running || Clock::now() < due_) return;
  if (state_ == State::asked) {
    if (stops_.signal() == 0 && some_leave() && Clock::now() < due_ + leaving_grace) return;
    if (stops_.signal() != 0)
      forwarder_.message(format("killing rank %s, still running %g s after signal %d (%s)", ranks_alive().c_str(),
                                static_cast<double>(stop_grace_.count()) / 1000.0, stops_.signal(),
                                strsignal(stops_.signal())));
    kill_all();
  } else {
    forwarder_.message(format("rank %s cannot be killed: the kernel holds it (see ps -o pid,wchan); giving up",
                              ranks_alive().c_str()));
    gave_up_ = true;
  }
}

// Tells a user who waits after Ctrl-C why the job has not ended, once.
void Supervisor::tell_of_grace() {
  const Clock::time_point now = Clock::now();
  if (told_of_grace_ || stops_.signal() == 0 || now < asked_ + told_after || due_ < now + milliseconds(1000)) return;
  told_of_grace_ = true;
  const double left = std::chrono::duration<double>(due_ - now).count();
  forwarder_.message(
      format("still running %.0f s after signal %d (%s): rank %s; killed in %.0f s (option grace), or at "
             "once by another signal",
             std::chrono::duration<double>(now - asked_).count(), stops_.signal(), strsignal(stops_.signal()),
             ranks_alive().c_str(), left));
}

std::string Supervisor::ranks_alive() const {
  std::string text;
  for (size_t r = 0; r < members_.size(); ++r)
    if (members_[r].alive) text += format("%s%zu (pid %d)", text.empty() ? "" : ", ", r, members_[r].pid);
  return text;
}

// Ends processes that ranks have started and left running.
void Supervisor::end_leftovers() {
  const Clock::time_point begun = Clock::now();
  bool told = state_ != State::running;  // then no message about leftovers is needed
  while (true) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    const std::vector<Process> left = descendants();
    const Clock::duration waited = Clock::now() - begun;
    if (left.empty() || waited > unkillable_after) return;
    if (state_ != State::running || waited > leftover_grace) {
      if (!told)
        forwarder_.message(format("killing what ranks left running: %zu process%s, such as %s (pid %d)", left.size(),
                                  left.size() == 1 ? "" : "es", left[0].name.c_str(), left[0].pid));
      told = true;
      signal_descendants(SIGKILL);
    }
    if (forwarder_.wait(signals_.fd, 10)) read_signals();
  }
}

// Waits for the reader of the output without limit, unless the user stops the job.
void Supervisor::flush() {
  const Clock::time_point begun = Clock::now();
  forwarder_.drain_all();
  while (!forwarder_.flushed()) {
    if (forwarder_.wait(signals_.fd, tick_milliseconds)) read_signals();
    if (stops_.signal() != 0 && Clock::now() - begun > flush_grace) return;
  }
  if (state_ != State::running) return;
  watch_outputs();
  if (!forwarder_.flushed()) forwarder_.wait(signals_.fd, tick_milliseconds);
}

}  // namespace hiroba
