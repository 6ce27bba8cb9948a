/* 64-bit keys in order, in one thread, by radix. */
#include <stdlib.h>

#include "sort.h"

typedef struct variant {
  sort sort;
  uint64_t *input, *work, *output;
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
  for (int step = from; step < to; step++) {
    double clock = team_now();
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < v->sort.run.size; i++) {
      const uint64_t key = v->input[i];
      low = key < low ? key : low;
      high = key > high ? key : high;
    }
    clock = split_add(&v->sort.run.split, 0, SORT_COUNT, clock);
    const radix_block all = {v->input, v->sort.run.size};
    radix_sort(&all, 1, low, high, v->work, v->output);
    split_add(&v->sort.run.split, 0, SORT_SORT, clock);
  }
}

int main(int argc, char** argv) {
  variant v;
  sort* const s = &v.sort;
  sort_begin(s, (team){.count = 1, .program = "sort_serial"}, 1, argc, argv);
  const int64_t n = s->output_count = s->input_count = s->run.size;
  s->input = v.input = sort_memory(s, n);
  s->output = v.output = sort_memory(s, n);
  v.work = sort_memory(s, n);
  sort_fill(s, v.input, 0, n);
  sort_fill(s, v.work, 0, n);
  sort_fill(s, v.output, 0, n);
  const int status = sort_run(s, steps);
  free(v.input);
  free(v.work);
  free(v.output);
  return status;
}
