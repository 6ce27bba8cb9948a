// The signals that the launcher waits for by descriptor instead of by handler: the end of children and the user's
// signals to stop. Blocked once, before ranks are started; children restore the mask.
#pragma once

#include <csignal>

#include "base/status.hpp"

namespace hiroba {

struct Signals {
  int fd = -1;      // becomes readable (signalfd, close-on-exec)
  sigset_t before;  // the mask that we were started with
};

// Blocks SIGCHLD, SIGINT, SIGTERM, and SIGHUP unless it is ignored (nohup); ignores SIGPIPE.
Status take_signals(Signals& out);

// In a forked child: the mask and dispositions that a program expects.
void give_back_signals(const Signals& signals);

}  // namespace hiroba
