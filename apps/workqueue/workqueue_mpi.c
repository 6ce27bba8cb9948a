/* A tree is searched, with MPI: work is stolen by messages. A rank without work asks the others in turn for a chunk; a
 * rank with work looks for such requests from time to time. That all have none shows by a token, which goes around
 * from rank to rank as long as one has given away work since it last saw it (Dijkstra, Feijen, van Gasteren 1983). */
#include <stdlib.h>
#include <time.h>

#include "../common/mpi_team.h"
#include "workqueue.h"

enum { REQUEST, WORK, TOKEN, OVER };
enum { WHITE, BLACK };

static const double yielding = 2e-4; /* seconds that a rank waits before it sleeps between looks for messages */

typedef struct rank {
  workqueue* common;
  stack own;
  int colour;     /* black: has given away work since the token was here */
  bool has_token; /* rank 0 has it at first */
  int token;
  bool over;
} rank;

static int other(const rank* r, int by) { return (r->common->run.team.rank + by) % r->common->run.team.count; }

static void take_message(rank* r, const MPI_Status* of) {
  int number = 0;
  if (of->MPI_TAG == REQUEST) {
    node nodes[WORK_CHUNK];
    MPI_Recv(NULL, 0, MPI_BYTE, of->MPI_SOURCE, REQUEST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int count = stack_oldest(&r->own, nodes, WORK_CHUNK);
    if (count > 0) r->colour = BLACK;
    MPI_Send(nodes, count * (int)sizeof(node), MPI_BYTE, of->MPI_SOURCE, WORK, MPI_COMM_WORLD);
  } else if (of->MPI_TAG == TOKEN) {
    MPI_Recv(&number, 1, MPI_INT, of->MPI_SOURCE, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    r->has_token = true;
    r->token = number;
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, of->MPI_SOURCE, OVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    r->over = true;
  }
}

/* At most one from each rank: a rank without work sends the next one as soon as this one is answered. */
static void take(rank* r, int tag) {
  int there = 1;
  for (int n = 1; there && n < r->common->run.team.count; n++) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
    if (there) take_message(r, &status);
  }
}

/* Requests, the token, the end: whatever is there, but work, for which a rank waits where it has sent a request. */
static void take_messages(rank* r) {
  take(r, REQUEST);
  take(r, TOKEN);
  take(r, OVER);
}

/* This rank has no work, and no request of its own is on its way. */
static void pass_token(rank* r) {
  const int self = r->common->run.team.rank, ranks = r->common->run.team.count;
  if (!r->has_token) return;
  if (self == 0 && r->token == WHITE && r->colour == WHITE) {
    for (int to = 1; to < ranks; to++) MPI_Send(NULL, 0, MPI_BYTE, to, OVER, MPI_COMM_WORLD);
    r->over = true;
    return;
  }
  const int token = self == 0 ? WHITE : r->colour == BLACK ? BLACK : r->token;
  r->has_token = false;
  r->colour = WHITE;
  MPI_Send(&token, 1, MPI_INT, other(r, 1), TOKEN, MPI_COMM_WORLD);
}

/* Between looks for messages, of a rank that waits since that time. Where there are more ranks than cores, one that
 * only yields takes whole time slices from those that it waits for. */
static void back_off(double since) {
  const struct timespec pause = {0, 50000};
  if (team_now() - since < yielding) sched_yield();
  else nanosleep(&pause, NULL);
}

/* From another rank; whether it had any. */
static bool steal(rank* r, int victim) {
  node nodes[WORK_CHUNK];
  MPI_Request answer;
  MPI_Status status;
  int there = 0, bytes = 0;
  const double since = team_now();
  MPI_Irecv(nodes, sizeof nodes, MPI_BYTE, victim, WORK, MPI_COMM_WORLD, &answer);
  MPI_Send(NULL, 0, MPI_BYTE, victim, REQUEST, MPI_COMM_WORLD);
  while (!there) {
    take_messages(r);
    MPI_Test(&answer, &there, &status);
    if (!there) back_off(since);
  }
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  stack_push(&r->own, nodes, bytes / (int)sizeof(node));
  return bytes > 0;
}

/* Other ranks may still send requests. A token that comes meanwhile is of the next search, and stays for it. */
static void answer_until_all_are_here(rank* r) {
  MPI_Request all;
  const double since = team_now();
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; !done;) {
    take(r, REQUEST);
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (!done) back_off(since);
  }
}

static void search(workqueue* w) {
  const int self = w->run.team.rank, ranks = w->run.team.count;
  rank r = {.common = w, .has_token = self == 0, .token = BLACK, .over = false};
  const node root = tree_root(&w->tree);
  if (self == 0) stack_push(&r.own, &root, 1);
  for (int victim = 1; !r.over;) {
    double clock = team_now();
    while (stack_size(&r.own) > 0) {
      stack_visit(&r.own, &w->tree, WORK_LOOK, &w->found);
      take_messages(&r);
    }
    clock = split_add(&w->run.split, 0, WORK_VISIT, clock);
    r.over = ranks == 1;
    while (!r.over && stack_size(&r.own) == 0) {
      take_messages(&r);
      pass_token(&r);
      if (r.over || steal(&r, other(&r, victim))) break;
      victim = victim % (ranks - 1) + 1;
      if (victim == 1) back_off(clock); /* none had work */
    }
    split_add(&w->run.split, 0, WORK_QUEUE, clock);
  }
  answer_until_all_are_here(&r);
  stack_close(&r.own);
}

static void steps(void* of, int from, int to) {
  workqueue* const w = of;
  for (int step = from; step < to; step++) {
    w->found = (tree_count){0};
    search(w);
  }
}

int main(int argc, char** argv) {
  workqueue w;
  workqueue_begin(&w, mpi_team("workqueue_mpi", &argc, &argv, MPI_THREAD_FUNNELED), 1, argc, argv);
  return workqueue_run(&w, steps);
}
