// Steps that a process takes before it ends, so that no output of the program is lost and nothing keeps the process
// from ending. Only a process that is certain to end uses them; SIGALRM is then ours.
#pragma once

namespace hiroba {

// Limits the time of steps that may block because the interrupted code, or another thread, holds a lock that they need:
// after `seconds` the process writes `last_words` to stderr, tells the launcher, and ends with `status`. One object at
// a time; safe in a signal handler.
class EndWithin {
 public:
  EndWithin(unsigned seconds, int status, const char* last_words = "");
  EndWithin(const EndWithin&) = delete;
  ~EndWithin();
};

// The hook runs when the program has called exit(), before the exit handlers of network libraries. One per process;
// null removes it.
void set_exit_hook(void (*hook)(void*), void* context);
void run_exit_hook();

// Tells the launcher `status` once this process has ended (see set_launcher_word in log.hpp).
void tell_launcher_afterwards(int status);

// Ends the process with `status` if it has not ended by itself after `seconds`.
void end_at_latest_in(int seconds, int status);

}  // namespace hiroba
