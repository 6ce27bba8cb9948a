// The exit status that a shell gives for a process that waitpid() has reported as ended.
#pragma once

#include <sys/wait.h>

namespace hiroba {

inline int exit_status(int reported) {
  return WIFSIGNALED(reported) ? 128 + WTERMSIG(reported) : WEXITSTATUS(reported);
}

}  // namespace hiroba
