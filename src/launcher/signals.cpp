#include "launcher/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/limits.hpp"
#include "base/thread.hpp"

namespace hiroba {

namespace {

constexpr std::array passed_on = {SIGUSR1, SIGUSR2, SIGALRM,  SIGVTALRM, SIGPROF, SIGXCPU,
                                  SIGCONT, SIGURG,  SIGWINCH, SIGIO,     SIGPWR,  SIGSTKFLT};
// Signals that would end the launcher without a message; ignored, its writes return the error.
constexpr std::array of_writes = {SIGPIPE, SIGXFSZ};

// Adds the signal, unless the launcher was started with it ignored. A shell starts background jobs with SIGINT ignored;
// the launcher handles it all the same.
void want(int signal, sigset_t& wanted) {
  struct sigaction now;
  sigaction(signal, nullptr, &now);
  if (now.sa_handler == SIG_IGN && signal != SIGINT && signal != SIGTERM && signal != SIGCHLD) return;
  std::signal(signal, SIG_DFL);
  sigaddset(&wanted, signal);
}

// Returns true if the job has the terminal, or is a job of an interactive shell, which leads its own process group.
bool is_job_of_terminal() {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const pid_t foreground = tcgetpgrp(terminal), group = getpgrp();
  close(terminal);
  return foreground == group || group == getpid();
}

}  // namespace

Status take_signals(Signals& out) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGCHLD, SIGTSTP}) want(signal, wanted);
  for (const int signal : stop_signals) want(signal, wanted);
  for (const int signal : passed_on) want(signal, wanted);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) want(signal, wanted);
  for (const int signal : of_writes) std::signal(signal, SIG_IGN);
  sigprocmask(SIG_BLOCK, &wanted, &out.before);
  leave_faults_open(out.before);  // for the ranks, if who started the launcher blocks all
  out.apart = !is_job_of_terminal();
  out.fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (out.fd < 0) return Status::error("cannot open a signal descriptor (%s)", explain_error(errno).c_str());
  return {};
}

void give_back_signals(const Signals& signals) {
  if (signals.apart) setpgid(0, 0);
  for (const int signal : of_writes) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals.before, nullptr);
}

SignalMeaning meaning_of(int signal) {
  if (signal == SIGCHLD) return SignalMeaning::child_ended;
  if (signal == SIGTSTP) return SignalMeaning::suspend;
  const bool stops = std::find(stop_signals.begin(), stop_signals.end(), signal) != stop_signals.end();
  return stops ? SignalMeaning::stop : SignalMeaning::pass_on;
}

// The kernel sends the signals of terminal keys to all processes of the group.
bool ranks_have(const Signals& signals, const signalfd_siginfo& info) {
  return !signals.apart && info.ssi_code == SI_KERNEL;
}

StopRequests::Request StopRequests::take(int signal) {
  constexpr std::chrono::milliseconds together{250};
  const auto now = std::chrono::steady_clock::now();
  if (signal_ == 0) {
    signal_ = signal, at_ = now;
    return Request::first;
  }
  return now - at_ < together ? Request::same : Request::again;
}

}  // namespace hiroba
