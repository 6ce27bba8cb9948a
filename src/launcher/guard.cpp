// What MPICH's launcher starts in the place of the program, on every host: starts the program, waits for its end, and
// tells the launcher if that was a bad one. Hydra by itself takes no notice of a process that ends with a bad status,
// nor always of one that is killed while the job starts; all others would wait for it for ever.
//
//   guard PROGRAM [ARGUMENT ...]
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/host.hpp"
#include "base/launchers.hpp"
#include "base/log.hpp"

namespace {

// Sent to the whole group, of which the program is a part: it decides, and we wait for it.
constexpr std::array for_the_program = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
constexpr int not_found = 127, not_executable = 126;

std::string rank() {
  const char* const given = std::getenv("PMI_RANK");
  return given == nullptr ? "?" : given;
}

[[noreturn]] void become(char** words) {
  execvp(words[0], words);
  const int error = errno;
  std::fprintf(stderr, "hirobarun: host %s cannot execute '%s' (%s)\n", hiroba::host_name().c_str(), words[0],
               std::strerror(error));
  _exit(error == ENOENT ? not_found : not_executable);
}

// A rank that has reported its end itself has told Hydra before; then we do not come to this.
int report(const char* how, int number, const char* meaning, int status) {
  std::fprintf(stderr, "hirobarun: rank %s on host %s %s %d%s\n", rank().c_str(), hiroba::host_name().c_str(), how,
               number, meaning);
  hiroba::tell_launcher(status);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const descriptor = std::getenv("PMI_FD");
  if (argc < 2) return std::fprintf(stderr, "usage: guard PROGRAM [ARGUMENT ...]\n"), 2;
  if (descriptor == nullptr) become(argv + 1);
  std::array<struct sigaction, for_the_program.size()> before;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (size_t i = 0; i < before.size(); ++i) sigaction(for_the_program[i], &ignore, &before[i]);
  const pid_t self = getpid(), program = fork();
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(1);
    for (size_t i = 0; i < before.size(); ++i) sigaction(for_the_program[i], &before[i], nullptr);
    become(argv + 1);
  }
  if (program < 0) become(argv + 1);  // as good as without
  close(STDIN_FILENO), close(STDOUT_FILENO);
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  // Whom Hydra knows to have failed, it ends with us meanwhile. One message is enough: rank 0's end takes others along.
  usleep(rank() == "0" ? 500000 : 1000000);
  hiroba::set_launcher_word(std::atoi(descriptor), hiroba::hydra_abort);
  if (WIFEXITED(status)) return report("ended with status", WEXITSTATUS(status), "", WEXITSTATUS(status));
  char meaning[64];
  std::snprintf(meaning, sizeof meaning, " (%s)", strsignal(WTERMSIG(status)));
  return report("was ended by signal", WTERMSIG(status), meaning, 128 + WTERMSIG(status));
}
