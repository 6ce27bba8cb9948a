#include "launcher/signals.hpp"

#include <sys/signalfd.h>

#include <cerrno>

#include "base/limits.hpp"

namespace hiroba {

Status take_signals(Signals& out) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now;
    sigaction(signal, nullptr, &now);
    if (signal == SIGHUP && now.sa_handler == SIG_IGN) continue;
    // A shell starts background jobs with SIGINT ignored; the launcher handles it all the same.
    std::signal(signal, SIG_DFL);
    sigaddset(&wanted, signal);
  }
  std::signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &wanted, &out.before);
  out.fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (out.fd < 0) return Status::error(format("cannot open a signal descriptor (%s)", explain_error(errno).c_str()));
  return {};
}

void give_back_signals(const Signals& signals) {
  std::signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals.before, nullptr);
}

}  // namespace hiroba
