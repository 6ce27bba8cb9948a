// tasks.hpp: for variants over Hiroba's tasks: their team. For such variants only: the harness itself knows no library.
#pragma once

#include <omp.h>

#include "shared.h"

// Starts Hiroba. Tasks run in omp_get_max_threads() threads: hirobarun --threads sets both.
inline team task_team(const char* program, int* argc, char*** argv) {
  sms_startup(argc, argv);
  team out = shared_team();
  out.program = program;
  return out;
}
