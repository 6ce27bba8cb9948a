// What mpirun calls instead of ssh to reach a host: calls ssh (or what the user has set in its place) with the same
// words, checks that the program is there, and if the host cannot be reached, now or later, says so and ends mpirun,
// which would wait for ever.
//
// From hirobarun, in the environment: REACH_AGENT, the user's own agent with its options, if any; REACH_PROGRAM, the
// program; REACH_GUARD, what it runs under (guard.cpp), if anything.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int unreachable = 255;  // as ssh has it
constexpr int no_program = 97, no_guard = 98;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first word that is neither an option nor an option's value.
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

int run(const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(unreachable);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return unreachable;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  const pid_t launcher = getppid();
  const size_t at = host_index(given);
  if (at >= given.size()) {
    std::fprintf(stderr, "reach: no host among the words that mpirun gave\n");
    return unreachable;
  }
  const std::string program = variable("REACH_PROGRAM"), guard = variable("REACH_GUARD");
  const std::string& host = given[at];
  std::vector<std::string> words = agent();
  words.insert(words.end(), given.begin(), given.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  if (!program.empty()) words.push_back("command -v '" + program + "' >/dev/null || exit 97;");
  if (!guard.empty()) words.push_back("command -v '" + guard + "' >/dev/null || exit 98;");
  words.insert(words.end(), given.begin() + static_cast<std::ptrdiff_t>(at) + 1, given.end());
  const int status = run(words);
  if (status == unreachable)
    std::fprintf(stderr, "hirobarun: cannot reach host %s, or the connection to it was lost\n", host.c_str());
  else if (status == no_program)
    std::fprintf(stderr, "hirobarun: host %s has no program '%s'\n", host.c_str(), program.c_str());
  else if (status == no_guard)
    std::fprintf(stderr, "hirobarun: host %s has no '%s'; Hiroba must lie on all hosts in the same place\n",
                 host.c_str(), guard.c_str());
  else return status;
  sleep(1);                                            // if mpirun ends the job itself, it has the time
  if (getppid() == launcher) kill(launcher, SIGKILL);  // SIGTERM crashes Open MPI's while it aborts
  return status;
}
