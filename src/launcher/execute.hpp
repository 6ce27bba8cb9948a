// Executes programs, and says by an exit status what has become of one, as shells do.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace hiroba {

// A program that is not there, or may not be executed; any other reason that a job cannot start.
inline constexpr int not_found = 127, not_executable = 126, cannot_start = 1;

// Returns the status for a process that waitpid() has reported as ended.
inline int exit_status(int reported) {
  return WIFSIGNALED(reported) ? 128 + WTERMSIG(reported) : WEXITSTATUS(reported);
}

// Opens closed standard descriptors, in this mode: else another file would get the number, and the output.
inline void open_standard_descriptors(int mode) {
  int fd;
  do fd = open("/dev/null", mode);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

// Replaces this process by the program words[0], from PATH unless that has a slash. Returns, with errno, if it fails.
inline void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
}

}  // namespace hiroba
