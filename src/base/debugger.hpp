// Attaches a debugger to chosen ranks (option debug): at the start, or when a rank crashes or ends the job by a
// message. The process waits until a debugger has attached. gdb is opened in a pane of tmux or a terminal on the rank's
// machine, if there is one; a line on stderr names it, or gives the command to type. There is one per process, set at
// the start; any thread may call all functions, also in a signal handler of a process that has crashed.
#pragma once

#include <string>

#include "base/status.hpp"

namespace hiroba {

// The value of option debug for this rank.
struct Debugging {
  bool any_rank = false, at_start = false, at_crash = false;  // any_rank: of any rank; the others: of this rank
  // Parses "no", "all", "crash", or ranks: "0,2-3". Anything else, and a rank that the job does not have, is an error.
  static Status from_option(const std::string& text, int rank, int nranks, Debugging& out);
};

void set_debugging(const Debugging& debugging, int rank);

bool debugging();     // returns whether a debugger may stop any rank
bool has_debugger();  // returns whether one follows this process

// Waits for a debugger if option debug requires one there, and returns when it continues the process.
void stop_at_start();
void stop_at_crash(const char* what);

}  // namespace hiroba
