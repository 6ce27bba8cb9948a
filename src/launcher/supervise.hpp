// Supervises a running job: forwards output, waits for ranks that end, decides whether that is a failure, and ends all
// processes of the job. Single-threaded; run() blocks until the job is over.
//
// Signals: those that ask for the end go to all processes of the job; those that it passes on, such as SIGUSR1, to the
// ranks alone, which end by them unless they handle them.
//
// A job is in one of three states. Running: no failure. Asked to end: ranks have received a signal and have time until
// due_. Killing: SIGKILL to all descendants, repeated until there is none. The end of ranks after that signal is not
// reported as a failure.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/debug/whereabouts.hpp"
#include "base/job.hpp"
#include "launcher/command_line.hpp"
#include "launcher/forward.hpp"
#include "launcher/processes.hpp"
#include "launcher/ranks.hpp"
#include "launcher/signals.hpp"

namespace hiroba {

class Supervisor {
 public:
  Supervisor(const std::vector<Rank>& ranks, const Signals& signals, Board& board, const Launch& launch);

  // Returns the exit status of the job.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { running, asked, killing };

  struct Member {
    pid_t pid;
    bool alive = true;
    bool left_early = false;  // ended with status 0, without sms_startup
  };

  void read_signals();
  void on_stop_signal(int signal, bool ranks_have_it);
  void suspend(bool ranks_have_it);
  void pass_on(int signal, bool ranks_have_it);
  void reap();
  void on_exit(int rank, int wait_status);
  std::string describe_exit(int rank, int wait_status, Phase phase) const;
  std::string others_ended() const;
  void watch_board();
  void watch_outputs();
  void watch_progress();
  std::vector<int> alive() const;
  bool some_leave() const;
  void fail(int exit_status, const std::string& message);
  void ask_to_end(int signal, std::chrono::milliseconds grace);
  void kill_all();
  void end_what_is_due();
  void tell_of_grace();
  void end_leftovers();
  void flush();
  std::string ranks_alive() const;

  const Signals& signals_;
  Board& board_;
  Forwarder forwarder_;
  std::vector<Member> members_;
  int alive_;
  MemoryState memory_at_start_;
  const std::chrono::milliseconds stop_grace_;  // after a signal by the user

  State state_ = State::running;
  int exit_status_ = 0;
  StopRequests stops_;
  std::set<int> passed_on_;  // signals
  bool gave_up_ = false, told_of_grace_ = false;
  Clock::time_point asked_, due_, aborting_since_;
  bool aborting_seen_ = false;
  Stillness stillness_;
};

}  // namespace hiroba
