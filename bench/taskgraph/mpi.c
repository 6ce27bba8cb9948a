/* MPI without tasks: each rank has a block of columns, and runs its tasks of a step when it has received what they read
 * of other ranks: a message for each such dependence, as in Task Bench. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "taskgraph.h"

/* One message: to or from `rank`, about `cell`. */
typedef struct message {
  int rank, cell, tag;
} message;

/* The messages of all steps, in order; those of step s begin at first[s]. */
typedef struct mail {
  message* all;
  int* first;
  int most; /* of one step */
} mail;

static team us = {.program = "mpi"};
static mail in, out;
static uint64_t *received, *sent;
static MPI_Request* requests;

static double max_over_ranks(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static double sum_over_ranks(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void leave(void) { MPI_Finalize(); }

static int first_column(const graph* g, int rank) { return (int)((int64_t)g->width * rank / us.count); }

static int owner(const graph* g, int column) {
  int rank = 0;
  while (column >= first_column(g, rank + 1)) rank++;
  return rank;
}

static bool owns(const graph* g, int cell) { return owner(g, cell % g->width) == us.rank; }

static void* memory(size_t count, size_t size) {
  void* const p = calloc(count + 1, size);
  if (p == NULL) {
    fprintf(stderr, "mpi: not enough memory; ask for fewer steps\n");
    MPI_Abort(MPI_COMM_WORLD, TEAM_WRONG);
  }
  return p;
}

/* Adds the messages of one task: what it reads of others, or what others read of this rank. */
static void add_messages(const graph* g, int t, int counts[2]) {
  const int to = owner(g, t % g->width);
  for (int k = g->first[t]; k < g->first[t + 1]; k++) {
    const int cell = g->reads[k], from = owner(g, cell % g->width);
    const int tag = (k - g->first[t]) * g->width + t % g->width;
    if (from == to) continue;
    if (to == us.rank) in.all[counts[0]++] = (message){from, cell, tag};
    if (from == us.rank) out.all[counts[1]++] = (message){to, cell, tag};
  }
}

static void end_step(mail* m, int step, int count) {
  m->first[step + 1] = count;
  m->most = larger(m->most, count - m->first[step]);
}

static void prepare(const graph* g) {
  const int steps = g->tasks / g->width;
  int counts[2] = {0, 0};
  in = (mail){memory((size_t)g->first[g->tasks], sizeof(message)), memory((size_t)steps + 1, sizeof(int)), 0};
  out = (mail){memory((size_t)g->first[g->tasks], sizeof(message)), memory((size_t)steps + 1, sizeof(int)), 0};
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < g->width; i++) add_messages(g, step * g->width + i, counts);
    end_step(&in, step, counts[0]);
    end_step(&out, step, counts[1]);
  }
  received = memory((size_t)in.most, g->bytes);
  sent = memory((size_t)out.most, g->bytes);
  requests = memory((size_t)in.most + (size_t)out.most, sizeof *requests);
}

static void release(const graph* g) {
  (void)g;
  void* const all[] = {in.all, in.first, out.all, out.first, received, sent, requests};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* Every word is another one, so that a message of which a part is missing is a wrong answer. */
static void pack(uint64_t* words, size_t count, uint64_t value) {
  for (size_t i = 0; i < count; i++) words[i] = value + i;
}

static uint64_t unpack(const uint64_t* words, size_t count) {
  uint64_t differences = 0;
  for (size_t i = 0; i < count; i++) differences |= words[i] - i - words[0];
  return words[0] + differences;
}

static void communicate(const graph* g, int step) {
  const size_t words = g->bytes / sizeof(uint64_t);
  int n = 0;
  uint64_t* at = received;
  for (int i = in.first[step]; i < in.first[step + 1]; i++, at += words)
    MPI_Irecv(at, (int)words, MPI_UINT64_T, in.all[i].rank, in.all[i].tag, MPI_COMM_WORLD, &requests[n++]);
  at = sent;
  for (int i = out.first[step]; i < out.first[step + 1]; i++, at += words) {
    pack(at, words, g->value[out.all[i].cell].value);
    MPI_Isend(at, (int)words, MPI_UINT64_T, out.all[i].rank, out.all[i].tag, MPI_COMM_WORLD, &requests[n++]);
  }
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  at = received;
  for (int i = in.first[step]; i < in.first[step + 1]; i++, at += words)
    g->value[in.all[i].cell].value = unpack(at, words);
}

static void run(const graph* g) {
  const int low = first_column(g, us.rank), high = first_column(g, us.rank + 1);
  for (int step = 0; step < g->tasks / g->width; step++) {
    communicate(g, step);
    for (int i = low; i < high; i++) task_run(g, step * g->width + i);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &us.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &us.count);
  us.max = max_over_ranks, us.sum = sum_over_ranks, us.leave = leave;
  const runtime mpi = {.name = "mpi",
                       .team = us,
                       .prepare = prepare,
                       .run = run,
                       .release = release,
                       .patterns_only = true,
                       .owns = owns};
  return taskgraph(argc, argv, &mpi);
}
