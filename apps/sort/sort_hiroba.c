/* 64-bit keys in order, on shared memory over any number of ranks: the ranks are parts (radix.h) that sort together. */
#include "../common/shared.h"
#include "sort.h"

typedef struct variant {
  sort sort;
  radix all;
  radix_part own;
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
  for (int step = from; step < to; step++) radix_sort_part(&v->all, &v->own, &v->sort.run.split, 0);
}

/* A row for each rank. */
static void* rows(const sort* s, int64_t columns, size_t bytes) {
  void* const out = shared_rows(&s->run.team, s->run.team.count, columns, bytes, s->run.team.program);
  sms_promise_preload(out);
  return out;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  variant v;
  sort* const s = &v.sort;
  team ranks = shared_team();
  ranks.program = "sort_hiroba";
  sort_begin(s, ranks, 1, argc, argv);
  const int64_t n = s->run.size, share = radix_share(n, ranks.count);
  uint64_t* const input = rows(s, share, sizeof *input);
  v.all = (radix){shared_parts(),
                  n,
                  share,
                  input,
                  rows(s, share, sizeof *input),
                  rows(s, share, sizeof *input),
                  rows(s, (int64_t)radix_counts(), sizeof(uint32_t)),
                  rows(s, (int64_t)radix_finer(ranks.count), sizeof(uint32_t))};
  s->first = parts_first(n, share, ranks.rank);
  s->input_count = s->output_count = parts_first(n, share, ranks.rank + 1) - s->first;
  s->input = input + ranks.rank * share;
  s->output = v.all.output + ranks.rank * share;
  sort_fill(s, input + ranks.rank * share, s->first, s->input_count);
  team_agree(&ranks, radix_part_open(&v.own, &v.all, ranks.rank), TEAM_BAD_INPUT, "no memory for %d keys", s->run.size);
  const int status = sort_run(s, steps);
  radix_part_close(&v.own);
  return status;
}
