/* 64-bit keys in order, with MPI: sample sort. Each rank gives a sample of its keys, from which all take the same
 * splitters; sends its keys to the ranks that sort them, which sort what they get. A rank may get more keys than
 * others, with equal keys many more. */
#include <stdlib.h>
#include <string.h>

#include "../common/mpi_team.h"
#include "sort.h"

enum { SAMPLE = 256 }; /* keys of each rank */

typedef struct variant {
  sort sort;
  uint64_t *input, *sent, *received, *work, *output;
  int64_t room; /* keys in received, work and output */
  uint64_t *sample, *splitter;
  int *counts, *starts, *got, *got_starts; /* of each rank */
} variant;

static int by_value(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static void choose_splitters(variant* v) {
  const int ranks = v->sort.run.team.count;
  const int64_t keys = v->sort.input_count;
  uint64_t mine[SAMPLE];
  for (int i = 0; i < SAMPLE; i++) mine[i] = keys > 0 ? v->input[keys * i / SAMPLE] : UINT64_MAX;
  MPI_Allgather(mine, SAMPLE, MPI_UINT64_T, v->sample, SAMPLE, MPI_UINT64_T, MPI_COMM_WORLD);
  qsort(v->sample, (size_t)ranks * SAMPLE, sizeof *v->sample, by_value);
  for (int r = 1; r < ranks; r++) v->splitter[r - 1] = v->sample[r * SAMPLE];
}

/* As many as there are splitters up to the key: without branches, which would be taken at random. */
static int destination(const variant* v, uint64_t key) {
  int rank = 0;
  for (int r = 0; r < v->sort.run.team.count - 1; r++) rank += v->splitter[r] <= key;
  return rank;
}

static void divide(variant* v) {
  const int ranks = v->sort.run.team.count;
  memset(v->counts, 0, (size_t)ranks * sizeof *v->counts);
  for (int64_t i = 0; i < v->sort.input_count; i++) v->counts[destination(v, v->input[i])]++;
  for (int r = 0, at = 0; r < ranks; r++) {
    v->starts[r] = at;
    at += v->counts[r];
  }
  memcpy(v->got, v->starts, (size_t)ranks * sizeof *v->got); /* where the next key for each rank goes */
  for (int64_t i = 0; i < v->sort.input_count; i++) v->sent[v->got[destination(v, v->input[i])]++] = v->input[i];
}

/* Room for the keys that this rank gets, which are known now. */
static void make_room(variant* v, int64_t keys) {
  const bool more = team_max(&v->sort.run.team, keys > v->room) > 0;
  if (!more) return;
  uint64_t** const arrays[] = {&v->received, &v->work, &v->output};
  v->room = keys + keys / 8 + 1;
  for (int i = 0; i < 3; i++) {
    free(*arrays[i]);
    *arrays[i] = sort_memory(&v->sort, v->room);
    memset(*arrays[i], 0, (size_t)v->room * sizeof **arrays[i]);
  }
}

static void exchange(variant* v) {
  const int ranks = v->sort.run.team.count;
  MPI_Alltoall(v->counts, 1, MPI_INT, v->got, 1, MPI_INT, MPI_COMM_WORLD);
  int64_t keys = 0;
  for (int r = 0; r < ranks; r++) {
    v->got_starts[r] = (int)keys;
    keys += v->got[r];
  }
  make_room(v, keys);
  MPI_Alltoallv(v->sent, v->counts, v->starts, MPI_UINT64_T, v->received, v->got, v->got_starts, MPI_UINT64_T,
                MPI_COMM_WORLD);
  v->sort.output_count = keys;
  v->sort.output = v->output;
}

static void steps(void* of, int from, int to) {
  variant* const v = of;
  split* const split = &v->sort.run.split;
  const int rank = v->sort.run.team.rank, ranks = v->sort.run.team.count;
  for (int step = from; step < to; step++) {
    double clock = team_now();
    choose_splitters(v);
    clock = split_add(split, 0, SORT_COUNT, clock);
    divide(v);
    exchange(v);
    clock = split_add(split, 0, SORT_MOVE, clock);
    const uint64_t low = rank > 0 ? v->splitter[rank - 1] : 0;
    const uint64_t high = rank < ranks - 1 ? v->splitter[rank] : UINT64_MAX;
    const radix_block all = {v->received, v->sort.output_count};
    radix_sort(&all, 1, low, high, v->work, v->output);
    split_add(split, 0, SORT_SORT, clock);
  }
}

int main(int argc, char** argv) {
  variant v = {.room = 0};
  sort* const s = &v.sort;
  sort_begin(s, mpi_team("sort_mpi", &argc, &argv, MPI_THREAD_FUNNELED), 1, argc, argv);
  const int rank = s->run.team.rank, ranks = s->run.team.count;
  const int64_t share = (s->run.size - 1) / ranks + 1;
  s->first = parts_first(s->run.size, share, rank);
  s->input_count = parts_first(s->run.size, share, rank + 1) - s->first;
  s->input = v.input = sort_memory(s, share);
  v.sent = sort_memory(s, share);
  v.sample = malloc((size_t)ranks * SAMPLE * sizeof *v.sample);
  v.splitter = malloc((size_t)ranks * sizeof *v.splitter);
  int* const numbers = malloc(4 * (size_t)ranks * sizeof *numbers);
  team_agree(&s->run.team, v.sample != NULL && v.splitter != NULL && numbers != NULL, TEAM_BAD_INPUT,
             "no memory for %d ranks", ranks);
  v.counts = numbers;
  v.starts = v.counts + ranks;
  v.got = v.starts + ranks;
  v.got_starts = v.got + ranks;
  sort_fill(s, v.input, s->first, s->input_count);
  memset(v.sent, 0, (size_t)share * sizeof *v.sent);
  make_room(&v, share);
  const int status = sort_run(s, steps);
  void* const memory[] = {v.input, v.sent, v.received, v.work, v.output, v.sample, v.splitter, numbers};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  return status;
}
