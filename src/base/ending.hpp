// What a process does before it ends, so that nothing that the program has written is lost and nothing keeps the
// process from ending. Used by a process that is certain to end; SIGALRM is then ours.
#pragma once

namespace hiroba {

// While it lives, the process has `seconds` left: then it ends with `status`, after writing `last_words` to stderr and
// telling the launcher. For steps that may block, because the code that a signal interrupted, or another thread, holds
// a lock that they need. One at a time; safe in a signal handler.
class EndWithin {
 public:
  EndWithin(unsigned seconds, int status, const char* last_words = "");
  EndWithin(const EndWithin&) = delete;
  ~EndWithin();
};

// For what has to be done before the exit handlers of network libraries, when the program has called exit(). One per
// process; null: nothing.
void set_exit_hook(void (*hook)(void*), void* context);
void run_exit_hook();

// Tells the launcher `status` once this process has ended (see set_launcher_word in log.hpp).
void tell_launcher_afterwards(int status);

// Ends the process with `status` if it has not ended by itself after `seconds`.
void end_at_latest_in(int seconds, int status);

}  // namespace hiroba
