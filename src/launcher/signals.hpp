// The signals that the launcher receives by descriptor instead of by handler: the end of children, the user's signals
// to stop, and those that it passes on to the ranks. Blocked once, before ranks are started; children restore the mask.
//
// A signal may be sent to the launcher alone (kill), to its process group (a terminal, a batch system), or to both
// (timeout). Ranks are in process groups of their own, and get the signals that the launcher passes on, so a rank gets
// a signal once. The exception is a job that has the terminal, or may get it by `fg`: there the terminal's keys reach
// all processes of one group, and rank 0 may read from it.
#pragma once

#include <sys/signalfd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "base/status.hpp"

namespace hiroba {

// The user's requests to end the job.
inline constexpr std::array stop_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Time from a request to the daemons of an MPI, which remove their files, to SIGKILL.
inline constexpr int daemon_seconds = 3;

struct Signals {
  int fd = -1;         // becomes readable (signalfd, close-on-exec)
  sigset_t before;     // the mask at our start
  bool apart = false;  // children are in process groups of their own
};

// Blocks SIGCHLD and the signals below, unless they are ignored (nohup); ignores SIGPIPE and SIGXFSZ.
Status take_signals(Signals& out);

// Restores in a forked child the mask, the dispositions and the process group that a program expects.
void give_back_signals(const Signals& signals);

enum class SignalMeaning {
  child_ended,
  stop,     // SIGINT, SIGTERM, SIGHUP, SIGQUIT: the job is to end
  suspend,  // SIGTSTP, Ctrl-Z: the ranks stop, then the launcher does
  pass_on,  // all others: the ranks decide
};
SignalMeaning meaning_of(int signal);

// Returns true if the ranks have received the signal, too.
bool ranks_have(const Signals& signals, const signalfd_siginfo& info);

// The user's requests to end the job. Signals at nearly the same time are one request: timeout sends two.
class StopRequests {
 public:
  enum class Request { first, same, again };
  Request take(int signal);
  int signal() const { return signal_; }  // the first; 0: none

 private:
  int signal_ = 0;
  std::chrono::steady_clock::time_point at_;
};

}  // namespace hiroba
