// Detects failures on every host that MPICH's launcher does not.
//
//   guard PROGRAM [ARGUMENT ...]
//
// Started instead of a rank's program: starts it, waits for its end, and reports a failure to the launcher. Hydra by
// itself ignores a process that ends with a non-zero status, and sometimes one that is killed while the job starts; all
// others would wait for it for ever. Ends with the program if Hydra's part on this host has ended. Under Open MPI it
// only gives rank 0 the input of hirobarun, and becomes the program.
//
//   guard --heard SECONDS COMMAND
//
// Started by reach.cpp instead of the launcher's part on a host: starts that, a command of the shell, and ends it when
// nothing has arrived from reach for this time (0: never). On a host that is cut off while the job starts, the launcher
// and its ranks may wait for a message that was lost, while nothing that this host has sent is unacknowledged: no other
// process there could detect it. Passes the user's requests to end the job, which come from reach, to the ranks here.
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
#include "launcher/agents/host_messages.hpp"
#include "launcher/execute.hpp"
#include "launcher/input/lent_input.hpp"
#include "launcher/processes.hpp"
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

// Rank 0 reads the input of hirobarun itself, which lends it.
[[noreturn]] void become_rank_of_openmpi(char** words) {
  const char* const name = std::getenv("GUARD_INPUT_NAME");
  const char* const of_rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (name != nullptr && of_rank != nullptr && std::strcmp(of_rank, "0") == 0) hiroba::borrow_input(name);
  unsetenv("GUARD_INPUT_NAME");
  become(words);
}

// Open MPI's daemon removes its files before it ends; everything else ends at once.
void end_descendants(bool at_once) {
  for (const hiroba::Process& process : hiroba::descendants())
    kill(process.pid, process.name == "orted" && !at_once ? SIGTERM : SIGKILL);
}

[[noreturn]] void become_shell(const char* command) {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO), close(nothing);
  const char* const users = std::getenv("SHELL");
  std::string shell = users == nullptr ? "/bin/sh" : users, option = "-c", text = command;
  std::array<char*, 4> words = {shell.data(), option.data(), text.data(), nullptr};
  become(words.data());
}

// Passes on what reach has sent. Returns false if there is nothing more to come.
bool hear_reach() {
  char messages[64];
  const ssize_t count = read(STDIN_FILENO, messages, sizeof messages);
  for (ssize_t i = 0; i < count; ++i)
    if (messages[i] != hiroba::connection_exists) hiroba::signal_launched(messages[i]);
  return count > 0;
}

// Runs the launcher's part on this host. The time counts from the first message of reach, because a replacement of ssh
// that the user has set may not forward its input.
int guard_host(double silence, const char* command) {
  timespec limit = {static_cast<time_t>(silence), static_cast<long>(std::fmod(silence, 1) * 1e9)};
  sigset_t child_ended, before;
  sigemptyset(&child_ended), sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, &before);
  sigdelset(&before, SIGCHLD);
  signal(SIGCHLD, [](int) {});
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // descendants whose parents have ended are still ours
  const pid_t launcher = fork();
  if (launcher == 0) {
    signal(SIGCHLD, SIG_DFL), sigprocmask(SIG_SETMASK, &before, nullptr);
    become_shell(command);
  }
  if (launcher < 0) become_shell(command);
  close(STDOUT_FILENO);
  pollfd reach = {STDIN_FILENO, POLLIN, 0};
  for (bool heard = false, ending = false;;) {
    int status = 0;
    if (waitpid(launcher, &status, WNOHANG) == launcher) return hiroba::exit_status(status);
    switch (ppoll(&reach, 1, (heard && silence > 0) || ending ? &limit : nullptr, &before)) {
      case -1: continue;  // the child's end
      case 0:
        end_descendants(ending);  // first, because the reader of the message may have ended
        if (!ending)
          std::fprintf(stderr,
                       "hirobarun: host %s has received nothing from its launcher for %.3g s (option silence)\n",
                       hiroba::host_name().c_str(), silence);
        ending = true, reach.fd = -1, limit = {hiroba::daemon_seconds, 0};
        break;
      default:
        heard = hear_reach();
        if (!heard) reach.fd = -1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--heard") == 0) return guard_host(std::atof(argv[2]), argv[3]);
  if (argc < 2) return std::fprintf(stderr, "usage: guard --heard SECONDS COMMAND | PROGRAM [ARGUMENT ...]\n"), 2;
  const char* const hydra = std::getenv("PMI_FD");
  if (hydra == nullptr) become_rank_of_openmpi(argv + 1);
  return guard_program(std::atoi(hydra), argv + 1);
}
