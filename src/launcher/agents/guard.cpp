// Detects failures on every host that MPICH's launcher does not.
//
//   guard PROGRAM [ARGUMENT ...]
//
// Started instead of a rank's program: starts it, waits for its end, and reports a failure to the launcher. Hydra by
// itself ignores a process that ends with a non-zero status, and sometimes one that is killed while the job starts; all
// others would wait for it for ever. Ends with the program if Hydra's part on this host has ended.
//
//   guard --heard SECONDS COMMAND [ARGUMENT ...]
//
// Started by reach.cpp instead of Hydra's part on a host: starts that, and ends it when nothing has arrived from reach
// for this time. On a host that is cut off while the job starts, Hydra and its ranks may wait for a message that was
// lost, while nothing that this host has sent is unacknowledged: no other process there could detect it.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/log.hpp"
#include "base/machine/host.hpp"
#include "base/tables/launchers.hpp"
#include "launcher/execute.hpp"
#include "launcher/signals.hpp"

namespace {

// stop_signals go to the whole process group, which contains the program: it decides, and guard waits for it.
using hiroba::stop_signals;
constexpr std::array for_the_program = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE,
                                        SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};
volatile sig_atomic_t asked_to_end = 0;  // by the user: then the program's end is no failure to report

std::string rank() {
  const char* const given = std::getenv("PMI_RANK");
  return given == nullptr ? "?" : given;
}

[[noreturn]] void become(char** words) {
  execvp(words[0], words);
  const int error = errno;
  std::fprintf(stderr, "hirobarun: host %s cannot execute '%s' (%s)\n", hiroba::host_name().c_str(), words[0],
               std::strerror(error));
  _exit(error == ENOENT ? hiroba::not_found : hiroba::not_executable);
}

// Not reached for a rank that has reported its end itself: Hydra then ends the job first.
int report(const char* how, int number, const char* meaning, int status) {
  std::fprintf(stderr, "hirobarun: rank %s on host %s %s %d%s\n", rank().c_str(), hiroba::host_name().c_str(), how,
               number, meaning);
  hiroba::tell_launcher(status);
  return status;
}

// Requires the rank's process. Rank 0 reads the input of hirobarun, which may have passed it as a descriptor; the
// others read its end.
void take_input() {
  const char* const given = std::getenv("GUARD_INPUT");
  const int input = given == nullptr ? -1 : std::atoi(given), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (rank() != "0") dup2(nothing, STDIN_FILENO);
  else if (input >= 0) dup2(input, STDIN_FILENO);
  if (input >= 0) close(input);
  close(nothing);
  unsetenv("GUARD_INPUT");
}

// Runs the rank's program.
int guard_program(int hydra, char** words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::array<struct sigaction, for_the_program.size()> before;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (size_t i = 0; i < before.size(); ++i) sigaction(for_the_program[i], &ignore, &before[i]);
  struct sigaction note = {};
  note.sa_handler = [](int) { asked_to_end = 1; };
  for (const int signal : stop_signals) sigaction(signal, &note, nullptr);
  const pid_t self = getpid(), program = fork();
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(1);
    for (size_t i = 0; i < before.size(); ++i) sigaction(for_the_program[i], &before[i], nullptr);
    take_input();
    become(words);
  }
  if (program < 0) become(words);  // without guard's checks
  close(STDIN_FILENO), close(STDOUT_FILENO);
  if (const char* const input = std::getenv("GUARD_INPUT")) close(std::atoi(input));
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
  if (asked_to_end != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return hiroba::exit_status(status);
  // Hydra ends guard, too, if it has detected the failure itself. One message is enough: the end of rank 0 makes others
  // fail.
  usleep(rank() == "0" ? 500000 : 1000000);
  hiroba::set_launcher_word(hydra, hiroba::hydra_abort);
  if (WIFEXITED(status)) return report("ended with status", WEXITSTATUS(status), "", hiroba::exit_status(status));
  char meaning[64];
  std::snprintf(meaning, sizeof meaning, " (%s)", strsignal(WTERMSIG(status)));
  return report("was ended by signal", WTERMSIG(status), meaning, hiroba::exit_status(status));
}

// Runs Hydra's part on this host. The time counts from the first message of reach, because a replacement of ssh that
// the user has set may not forward its input.
int guard_host(double silence, char** words) {
  const timespec limit = {static_cast<time_t>(silence), static_cast<long>(std::fmod(silence, 1) * 1e9)};
  sigset_t child_ended, before;
  sigemptyset(&child_ended), sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, &before);
  sigdelset(&before, SIGCHLD);
  signal(SIGCHLD, [](int) {});
  const pid_t hydra = fork();
  if (hydra == 0) {
    signal(SIGCHLD, SIG_DFL), sigprocmask(SIG_SETMASK, &before, nullptr);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO), close(nothing);
    become(words);
  }
  if (hydra < 0) become(words);
  close(STDOUT_FILENO);
  pollfd reach = {STDIN_FILENO, POLLIN, 0};
  for (bool heard = false;;) {
    int status = 0;
    if (waitpid(hydra, &status, WNOHANG) == hydra) return hiroba::exit_status(status);
    char words_of_reach[64];
    switch (ppoll(&reach, 1, heard ? &limit : nullptr, &before)) {
      case -1: continue;  // the child's end
      case 0:
        kill(hydra, SIGKILL);  // first, because the reader of the message may have ended
        std::fprintf(stderr, "hirobarun: host %s has received nothing from its launcher for %.3g s (option silence)\n",
                     hiroba::host_name().c_str(), silence);
        break;
      default: heard = read(STDIN_FILENO, words_of_reach, sizeof words_of_reach) > 0;
    }
    if (!heard) reach.fd = -1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--heard") == 0) return guard_host(std::atof(argv[2]), argv + 3);
  if (argc < 2) return std::fprintf(stderr, "usage: guard [--heard SECONDS] PROGRAM [ARGUMENT ...]\n"), 2;
  const char* const hydra = std::getenv("PMI_FD");
  if (hydra == nullptr) become(argv + 1);
  return guard_program(std::atoi(hydra), argv + 1);
}
