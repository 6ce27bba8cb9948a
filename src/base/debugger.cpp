#include "base/debugger.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "base/text.hpp"

// The commands with which gdb is started set it: no other state shows that a debugger attached and detached before this
// process runs again.
extern "C" {
__attribute__((visibility("default"))) volatile int hiroba_debugger_came = 0;
}

namespace hiroba {

namespace {

Debugging wanted;
int this_rank = 0;
std::atomic<bool> stopping{false};  // one thread waits for the debugger; the others stop with the process

// Its exit status is 0 if gdb is in a visible window, 1 if it is in the tmux session "hiroba", 2 if there is nowhere to
// open it. The first rank on a machine makes the session; the others split it.
constexpr const char* open_window = R"(
if command -v tmux >/dev/null 2>&1; then
  if [ -n "$TMUX" ] && tmux split-window -d -t "$TMUX_PANE" "$1" 2>/dev/null; then
    tmux select-layout -t "$TMUX_PANE" tiled; exit 0
  fi
  unset TMUX
  tmux new-session -d -s hiroba -x 160 -y 50 "$1" 2>/dev/null || tmux split-window -d -t hiroba "$1" 2>/dev/null ||
    tmux new-window -d -t hiroba "$1" || exit 2
  tmux select-layout -t hiroba tiled 2>/dev/null
  exit 1
fi
[ -n "$DISPLAY" ] && command -v xterm >/dev/null 2>&1 || exit 2
xterm -T "$2" -e "$1" >/dev/null 2>&1 &
exit 0
)";

// Runs open_window; its processes inherit no descriptors of this process.
int open_debugger(const char* command, const char* title) {
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0), dup2(nothing, 1), dup2(nothing, 2);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    execl("/bin/sh", "sh", "-c", open_window, "sh", command, title, nullptr);
    _exit(2);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 2;
  return WEXITSTATUS(status);
}

// The line of Python that this thread executes, as words that follow `what`; "" if there is none, or `what` has it.
struct PythonPlace {
  char words[160] = "";
  bool known = false;

  explicit PythonPlace(std::string_view what) {
    const char* const line = program_line();  // "heat.py:12 (step)"
    if (line == nullptr) return;
    known = true;
    const std::string_view text = line;
    if (what.find(text.substr(0, text.rfind(" ("))) == std::string_view::npos)
      std::snprintf(words, sizeof words, ", in %s", line);
  }
};

// The lines of a Python program come after the stack, which is that of the interpreter. The second command of the two
// is for later. The type is there because this library may have been built without a description of its types.
#define PRINT_PYTHON_LINES "printf \"%s\", ((char*(*)())hiroba_python_lines)()"
constexpr const char* show_python_lines =
    " -ex '" PRINT_PYTHON_LINES "' -ex 'alias -- python-lines = " PRINT_PYTHON_LINES "'";

void stop(const char* what) {
  const PythonPlace python(what);
  if (has_debugger()) {
    log_line("%s%s; a debugger is attached", what, python.words);
    raise(SIGTRAP);
    return;
  }
  if (stopping.exchange(true)) {
    for (;;) pause();
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // some kernels let only a parent attach
  char host[HOST_NAME_MAX + 1] = "", command[600], title[32];
  gethostname(host, sizeof host - 1);
  const int pid = static_cast<int>(getpid());
  std::snprintf(command, sizeof command,
                "gdb -q -iex 'set pagination off' -p %d -ex 'handle SIGBUS SIGSEGV nostop noprint pass' "
                "-ex 'set var *(int*)&hiroba_debugger_came = 1' -ex bt%s -ex 'set pagination on'",
                pid, python.known ? show_python_lines : "");
  std::snprintf(title, sizeof title, "rank %d", this_rank);
  const int opened = open_debugger(command, title);
  if (opened == 0) log_line("%s%s; gdb opens in a new pane", what, python.words);
  else if (opened == 1) log_line("%s%s; gdb is in tmux on %s: tmux attach -t hiroba", what, python.words, host);
  else
    log_line("%s%s; on %s: %s; from another machine: gdb -ex 'target remote | ssh %s gdbserver --once --attach - %d'",
             what, python.words, host, command, host, pid);
  while (hiroba_debugger_came == 0 && !has_debugger()) usleep(100000);
  hiroba_debugger_came = 0;
  stopping = false;
}

}  // namespace

bool has_debugger() {
  char text[4096] = "";
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  const char* const line = got > 0 ? std::strstr(text, "TracerPid:") : nullptr;
  return line != nullptr && std::atoi(line + std::strlen("TracerPid:")) != 0;
}

Status Debugging::from_option(const std::string& text, int rank, int nranks, Debugging& out) {
  out = {};
  out.any_rank = text != "no";
  if (text == "all") out.at_start = true;
  if (text == "crash") out.at_crash = true;
  if (text == "all" || text == "crash" || text == "no") return {};
  const auto ranks = parse_numbers(text);
  if (!ranks || *std::max_element(ranks->begin(), ranks->end()) >= nranks)
    return Status::error("option debug: '%s' is not all, crash, or some of the ranks 0 to %d, such as 0,2-3",
                         text.c_str(), nranks - 1);
  out.at_start = std::find(ranks->begin(), ranks->end(), rank) != ranks->end();
  return {};
}

void set_debugging(const Debugging& debugging, int rank) { wanted = debugging, this_rank = rank; }

bool debugging() { return wanted.any_rank; }

void stop_at_start() {
  if (wanted.at_start) stop("this rank waits for a debugger");
}

void stop_at_crash(const char* what) {
  if (wanted.at_crash || (wanted.at_start && has_debugger())) stop(what);
}

}  // namespace hiroba
