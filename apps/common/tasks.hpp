// tasks.hpp: for variants over Hiroba's tasks: their team and their shared memory. For such variants only: the harness
// itself knows no library.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "memory.h"
#include "shared.h"

// Starts Hiroba. Tasks run in omp_get_max_threads() threads: hirobarun --threads sets both.
inline team task_team(const char* program, int* argc, char*** argv) {
  sms_startup(argc, argv);
  team out = shared_team();
  out.program = program;
  return out;
}

// Shared memory of rows x columns elements of `bytes` bytes, in rows that are divided among the ranks: equal numbers of
// them, the last ones fewer. `what` needs too much, if the machine has less. Collective.
inline void* task_rows(const team& team, int64_t rows, int64_t columns, size_t bytes, const char* what) {
  const int64_t parts = std::min<int64_t>(rows, team.count), share = (rows - 1) / parts + 1;
  const int64_t dim[] = {rows, columns, -1}, div[] = {parts, 1, -1};
  const size_t row = static_cast<size_t>(columns) * bytes;
  memory_check(&team, static_cast<double>(share) * static_cast<double>(row), what);
  void* const out = sms_mapalloc_large(dim, div, bytes, 0, team.count);
  const int64_t first = std::min(share * team.rank, rows), mine = std::min(share, rows - first);
  std::memset(static_cast<char*>(out) + static_cast<size_t>(first) * row, 0, static_cast<size_t>(mine) * row);
  shared_written();
  return out;
}
