// mpirun executes this instead of ssh: it executes ssh (or the user's replacement) with the same arguments, and checks
// that the program exists on the host. If the host is unreachable, now or later, it prints a message and ends mpirun,
// which would wait for ever. It sends guard.cpp on that host a message each second while the connection exists, and
// the user's requests to end the job, which hirobarun sends as the value of SIGUSR1.
//
// From hirobarun, in the environment: REACH_AGENT, the user's own agent with its options, if any; REACH_PROGRAM, the
// program; REACH_GUARD, the path of guard, "" if the installation lacks it; REACH_SILENCE, the seconds after which
// guard ends its host's part of the job, 0 for never.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "launcher/agents/host_messages.hpp"
#include "launcher/execute.hpp"

namespace {

constexpr int unreachable = 255;  // the status of ssh, too
constexpr int no_program = 97, no_guard = 98;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the index of the first word that is neither an option nor an option's value.
size_t host_index(const std::vector<std::string>& words) {
  size_t at = 0;
  while (at < words.size() && words[at].starts_with("-")) {
    const bool with_value = words[at].size() == 2 && std::strchr("bcDeFiIJlLmoOpQRSwW", words[at][1]) != nullptr;
    at += with_value ? 2 : 1;
  }
  return at;
}

std::vector<std::string> agent() {
  std::vector<std::string> words;
  std::istringstream given(variable("REACH_AGENT"));
  for (std::string word; given >> word;) words.push_back(word);
  if (words.empty()) words = {"ssh"};
  const std::string name = words[0].substr(words[0].rfind('/') + 1);
  if (name == "ssh")
    for (const char* word : {"-o", "ConnectTimeout=5", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=3"})
      words.emplace_back(word);
  return words;
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  hiroba::execute(words);
  std::perror(words[0].c_str());
  _exit(unreachable);
}

// Returns the text as one word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Runs the agent and returns its exit status. `speaks`: its input are the messages of reach, else the standard input of
// reach.
int run(const std::vector<std::string>& words, bool speaks) {
  sigset_t expected, before;
  sigemptyset(&expected), sigaddset(&expected, SIGCHLD), sigaddset(&expected, SIGUSR1);
  sigprocmask(SIG_BLOCK, &expected, &before);
  signal(SIGCHLD, SIG_DFL);
  int channel[2] = {-1, -1};
  if (speaks && pipe2(channel, O_CLOEXEC) != 0) return unreachable;
  const pid_t child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (speaks) dup2(channel[0], STDIN_FILENO);
    become(words);
  }
  if (child < 0) return unreachable;
  close(channel[0]);
  fcntl(channel[1], F_SETFL, O_NONBLOCK);  // for an agent that never reads
  signal(SIGPIPE, SIG_IGN);
  int status = 0;
  const timespec second = {1, 0};
  char message = hiroba::connection_exists;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (speaks && write(channel[1], &message, 1) < 0) speaks = errno == EAGAIN;
    siginfo_t info;
    const bool asked = sigtimedwait(&expected, &info, &second) == SIGUSR1 && info.si_code == SI_QUEUE;
    message = asked ? static_cast<char>(info.si_value.sival_int) : hiroba::connection_exists;
  }
  return hiroba::exit_status(status);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  const pid_t launcher = getppid();
  const size_t at = host_index(given);
  if (at >= given.size()) {
    std::fprintf(stderr, "reach: no host among the arguments from mpirun\n");
    return unreachable;
  }
  const std::string program = variable("REACH_PROGRAM"), guard = variable("REACH_GUARD");
  const std::string& host = given[at];
  std::vector<std::string> words = agent();
  words.insert(words.end(), given.begin(), given.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  if (!program.empty()) words.push_back("command -v " + quoted(program) + " >/dev/null || exit 97;");
  std::string command;
  for (size_t i = at + 1; i < given.size(); ++i) command += (command.empty() ? "" : " ") + given[i];
  if (guard.empty()) words.push_back(command);
  else
    words.insert(words.end(), {"command -v " + quoted(guard) + " >/dev/null || exit 98;", quoted(guard), "--heard",
                               quoted(variable("REACH_SILENCE")), quoted(command)});
  const int status = run(words, !guard.empty());
  if (status == unreachable)
    std::fprintf(stderr, "hirobarun: cannot reach host %s, or the connection to it was lost\n", host.c_str());
  else if (status == no_program)
    std::fprintf(stderr, "hirobarun: host %s has no program '%s'\n", host.c_str(), program.c_str());
  else if (status == no_guard)
    std::fprintf(stderr, "hirobarun: host %s has no '%s'; Hiroba must lie on all hosts in the same place\n",
                 host.c_str(), guard.c_str());
  else return status;
  sleep(1);                                            // gives mpirun time to end the job itself
  if (getppid() == launcher) kill(launcher, SIGKILL);  // SIGTERM crashes Open MPI's while it aborts
  return status;
}
