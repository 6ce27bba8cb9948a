/* 64-bit keys in order, with OpenMP: the threads are parts (radix.h) that sort together. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "sort.h"

typedef struct variant {
  sort sort;
  radix all;
  radix_part* own; /* of each thread */
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
#pragma omp parallel num_threads(v->all.parts.count)
  for (int step = from; step < to; step++)
    radix_sort_part(&v->all, &v->own[omp_get_thread_num()], &v->sort.run.split, omp_get_thread_num());
}

static bool open_parts(variant* v, uint64_t* input) {
  const radix* const all = &v->all;
  bool good = true;
#pragma omp parallel num_threads(all->parts.count) reduction(&& : good)
  {
    const int part = omp_get_thread_num();
    const int64_t first = parts_first(all->keys, all->share, part);
    const int64_t count = parts_first(all->keys, all->share, part + 1) - first;
    sort_fill(&v->sort, input + first, first, count);
    memset(all->staged + first, 0, (size_t)count * sizeof *all->staged);
    memset(all->output + first, 0, (size_t)count * sizeof *all->output);
    good = radix_part_open(&v->own[part], all, part);
  }
  return good;
}

int main(int argc, char** argv) {
  variant v;
  sort* const s = &v.sort;
  sort_begin(s, (team){.count = 1, .program = "sort_omp"}, omp_get_max_threads(), argc, argv);
  const int threads = s->run.threads;
  const int64_t n = s->output_count = s->input_count = s->run.size;
  uint64_t* const input = sort_memory(s, n);
  v.all = (radix){parts_threads(threads),
                  n,
                  radix_share(n, threads),
                  input,
                  sort_memory(s, n),
                  sort_memory(s, n),
                  calloc((size_t)threads * radix_counts(), sizeof(uint32_t)),
                  calloc((size_t)threads * radix_finer(threads), sizeof(uint32_t))};
  v.own = calloc((size_t)threads, sizeof *v.own);
  s->input = v.all.input;
  s->output = v.all.output;
  team_agree(&s->run.team, v.all.counts != NULL && v.all.finer != NULL && v.own != NULL && open_parts(&v, input),
             TEAM_BAD_INPUT, "no memory for %d threads", threads);
  const int status = sort_run(s, steps);
  for (int t = 0; t < threads; t++) radix_part_close(&v.own[t]);
  free(v.own);
  free(input);
  free(v.all.staged);
  free(v.all.output);
  free(v.all.counts);
  free(v.all.finer);
  return status;
}
