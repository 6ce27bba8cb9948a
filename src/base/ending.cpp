#include "base/ending.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/log.hpp"
#include "base/thread.hpp"

namespace hiroba {

namespace {

// A signal handler has no argument for these.
int late_status = 1;
const char* late_words = "";

void (*exit_hook)(void*) = nullptr;
void* hook_context = nullptr;

void end_late(int) {
  if (write(STDERR_FILENO, late_words, std::strlen(late_words)) < 0) late_words = "";  // stderr is closed
  tell_launcher(late_status);
  _exit(late_status);
}

}  // namespace

EndWithin::EndWithin(unsigned seconds, int status, const char* last_words) {
  late_status = status, late_words = last_words;
  struct sigaction action = {};
  action.sa_handler = end_late;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm_only;
  sigemptyset(&alarm_only), sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(seconds);
}

EndWithin::~EndWithin() { alarm(0); }

void set_exit_hook(void (*hook)(void*), void* context) { exit_hook = hook, hook_context = context; }

void run_exit_hook() {
  if (exit_hook != nullptr) exit_hook(hook_context);
}

// A child waits for the end of this process, because no code of this process can run after the destructors of
// libraries.
void tell_launcher_afterwards(int status) {
  const int descriptor = has_launcher_word();
  if (descriptor < 0) return;
  const pid_t parent = getpid();
  if (_Fork() != 0) return;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) close(fd);
  constexpr useconds_t interval = 5000;
  while (getppid() == parent) usleep(interval);
  tell_launcher(status);
  _exit(0);
}

void end_at_latest_in(int seconds, int status) {
  static int limit, last_status;
  limit = seconds, last_status = status;
  pthread_t thread;
  const auto run = [](void*) -> void* {
    sleep(static_cast<unsigned>(limit));
    log_line("the program's exit handlers have not ended within %d s; the process ends without them", limit);
    tell_launcher(last_status);
    _exit(last_status);
  };
  (void)start_thread(thread, "hiroba-end", run, nullptr);  // without a thread there is no limit
}

}  // namespace hiroba
