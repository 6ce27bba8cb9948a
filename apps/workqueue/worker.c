#include "worker.h"

#include <sched.h>
#include <time.h>

enum { OVER = -1 };

/* With the lock. */
static void publish(const sharing* with, queue* q) {
  with->store(&q->wanted, q->waiting - q->chunks);
  with->store(&q->ready, q->waiting == with->parts.count ? OVER : q->chunks);
}

static void give(const sharing* with, queue* q, stack* own) {
  chunk* const c = with->allocate(sizeof *c);
  c->count = stack_oldest(own, c->nodes, WORK_CHUNK);
  with->lock();
  c->next = q->first;
  q->first = c;
  q->chunks++;
  publish(with, q);
  with->unlock();
}

/* With the lock. */
static chunk* pop(queue* q) {
  chunk* const c = q->first;
  if (c == NULL) return NULL;
  q->first = c->next;
  q->chunks--;
  return c;
}

static void pause_a_moment(int turn) {
  enum { YIELDS = 100 };
  const struct timespec moment = {0, 20000};
  if (turn < YIELDS) sched_yield();
  else nanosleep(&moment, NULL);
}

/* NULL: the search is over. */
static chunk* take(const sharing* with, queue* q) {
  with->lock();
  chunk* found = pop(q);
  if (found == NULL) q->waiting++;
  publish(with, q);
  with->unlock();
  for (int turn = 0; found == NULL; turn++) {
    const int64_t ready = with->load(&q->ready);
    if (ready == OVER) return NULL;
    if (ready == 0) {
      pause_a_moment(turn);
      continue;
    }
    with->lock();
    found = pop(q);
    if (found != NULL) {
      q->waiting--;
      publish(with, q);
    }
    with->unlock();
  }
  return found;
}

void worker_search(const sharing* with, queue* q, int worker, const workqueue* w, split* split, int thread,
                   tree_count* found) {
  stack own = {NULL, 0, 0, 0};
  with->parts.wait(); /* the search before this one is over for all */
  double clock = team_now();
  if (worker == 0) {
    const node root = tree_root(&w->tree);
    stack_push(&own, &root, 1);
    with->lock();
    q->first = NULL;
    q->chunks = q->waiting = 0;
    publish(with, q);
    with->unlock();
  }
  with->parts.wait();
  for (;;) {
    clock = team_now();
    while (stack_size(&own) > 0) {
      stack_visit(&own, &w->tree, WORK_LOOK, found);
      if (stack_size(&own) > WORK_CHUNK / 2 && with->load(&q->wanted) > 0) give(with, q, &own);
    }
    clock = split_add(split, thread, WORK_VISIT, clock);
    chunk* const more = take(with, q);
    if (more == NULL) break;
    stack_push(&own, more->nodes, more->count);
    with->release(more);
    split_add(split, thread, WORK_QUEUE, clock);
  }
  stack_close(&own);
}
