/* The contestants OpenMP: gcc compiles it for libgomp, clang for libomp. */
#include <omp.h>

#include "epcc.h"

int main(int argc, char** argv) {
  /* Trees of tasks need a multiple of 64 repetitions. */
  const group groups[] = {{"sync", 0.1, 10, sync_constructs},
                          {"schedule", 15, 1, schedule_constructs},
                          {"task", 0.1, 64, task_constructs}};
  return epcc(argc, argv, groups, sizeof groups / sizeof groups[0], omp_set_num_threads);
}
