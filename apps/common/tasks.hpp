// tasks.hpp: the team of a variant over Hiroba's tasks, and the number of a thread that runs them. For such variants
// only: the harness itself knows no library.
#pragma once

#include <omp.h>

#include <atomic>

#include "shared.h"

// Starts Hiroba. Tasks run in omp_get_max_threads() threads: hirobarun --threads sets both.
inline team task_team(const char* program, int* argc, char*** argv) {
  sms_startup(argc, argv);
  team out = shared_team();
  out.program = program;
  return out;
}

// Of this rank, from 0.
inline int task_thread() {
  static std::atomic<int> next{0};
  thread_local const int mine = next++;
  return mine;
}
