// A debugger on chosen ranks (option debug): at the start, or where a rank crashes or ends the job by a message. The
// process waits until a debugger has attached; gdb is opened in a pane of tmux or a terminal on the rank's machine,
// where there is one, and a line on stderr names the place, or the command to type. One per process, set at the start;
// all calls from any thread, and from a signal handler of a process that has crashed.
#pragma once

#include <string>

#include "base/status.hpp"

namespace hiroba {

// The value of option debug for this rank.
struct Debugging {
  bool any_rank = false, at_start = false, at_crash = false;  // whether any rank has one; whether this one
  // "no", "all", "crash", or ranks: "0,2-3". An error: none of these, or a rank that the job does not have.
  static Status from_option(const std::string& text, int rank, int nranks, Debugging& out);
};

// Stores it for this process.
void set_debugging(const Debugging& debugging, int rank);

bool debugging();  // whether a debugger may stop any rank

// If option debug requires a debugger there: waits for one, and returns when it continues the process.
void stop_at_start();
void stop_at_crash(const char* what);

}  // namespace hiroba
