// parts.hpp: the tiles in shared memory, in a part for each rank, at home there. For variants over Hiroba's tasks:
// parts_open and parts_close are for cholesky_program.
#pragma once

#include <algorithm>
#include <vector>

#include "../common/tasks.hpp"
#include "turns.h"

// Puts the tiles of each rank into a part of its own. Returns how long a part must be.
inline int64_t parts_place(cholesky* c, double* parts, int64_t length) {
  std::vector<int64_t> used(c->run.team.count);
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) {
      const int rank = cholesky_rank(c, i, j);
      if (parts != nullptr) c->at[i + static_cast<size_t>(j) * c->tiles] = parts + rank * length + used[rank];
      used[rank] += static_cast<int64_t>(cholesky_numbers(c, i, j));
    }
  return *std::max_element(used.begin(), used.end());
}

inline void parts_open(cholesky* c) {
  const int64_t page = 4096 / sizeof(double), length = (parts_place(c, nullptr, 0) / page + 1) * page;
  c->own = shared_rows(&c->run.team, c->run.team.count, length, sizeof(double), "the matrix");
  parts_place(c, static_cast<double*>(c->own), length);
}

inline void parts_close(cholesky* c) { sms_free(c->own); }
