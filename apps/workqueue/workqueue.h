/* workqueue.h: a tree is searched by workers that share a queue: tasks whose cost is not known before. What all
 * variants share: the options, the tree, the stack of a worker, the check, the report.
 *
 * A worker visits the nodes on its own stack. When others have nothing to do, it gives them a chunk of its oldest
 * nodes, whose subtrees tend to be large. The search is done --steps times.
 *
 * Collective: workqueue_begin, workqueue_run. */
#ifndef WORKQUEUE_WORKQUEUE_H
#define WORKQUEUE_WORKQUEUE_H

#include "../common/tiled.h"
#include "tree.h"

enum { WORK_VISIT, WORK_QUEUE }; /* categories of the split */

enum {
  WORK_CHUNK = 64,
  WORK_LOOK = 512
}; /* nodes of a chunk; nodes that are visited from one look at the queue to the next */

typedef struct workqueue {
  tiled run;
  const char* name; /* --tree */
  tree tree;
  int seed;
  tree_count found; /* by this rank, in the last step */
} workqueue;

/* Reads the command line. */
void workqueue_begin(workqueue* w, team team, int threads, int argc, char** argv);

/* Searches with `steps`, checks, reports, and leaves the team. Returns the exit status. */
int workqueue_run(workqueue* w, tiled_steps steps);

/* ---- the nodes that a worker has --------------------------------------------------------------------------------- */

typedef struct stack {
  node* nodes;
  int first, end, room;
} stack;

static inline int stack_size(const stack* s) { return s->end - s->first; }
void stack_close(stack* s);

/* Adds nodes; ends the process if there is no memory. */
void stack_push(stack* s, const node* nodes, int count);

/* Visits nodes, the youngest first: at most `most`. */
void stack_visit(stack* s, const tree* t, int most, tree_count* found);

/* Takes out the oldest nodes: at most `most`, and of few nodes none. Returns how many. */
int stack_oldest(stack* s, node to[], int most);

/* The sum of two counts. */
void tree_add(tree_count* to, const tree_count* more);

#endif
