// 64-bit keys in order, in one thread, by std::sort.
#include <algorithm>
#include <cstdlib>

#include "sort.h"

struct Variant {
  sort common;
  uint64_t *input, *output;
};

static void steps(void* of, int from, int to) {
  auto* const v = static_cast<Variant*>(of);
  for (int step = from; step < to; step++) {
    const double clock = team_now();
    std::copy(v->input, v->input + v->common.run.size, v->output);
    std::sort(v->output, v->output + v->common.run.size);
    split_add(&v->common.run.split, 0, SORT_SORT, clock);
  }
}

int main(int argc, char** argv) {
  Variant v;
  sort* const s = &v.common;
  team alone = {};
  alone.count = 1;
  alone.program = "sort_std";
  sort_begin(s, alone, 1, argc, argv);
  const int64_t n = s->output_count = s->input_count = s->run.size;
  s->input = v.input = sort_memory(s, n);
  s->output = v.output = sort_memory(s, n);
  sort_fill(s, v.input, 0, n);
  sort_fill(s, v.output, 0, n);
  const int status = sort_run(s, steps);
  std::free(v.input);
  std::free(v.output);
  return status;
}
