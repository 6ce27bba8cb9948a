/* What the variants of workqueue share: options, stack, check, report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"
#include "../common/files.h"
#include "../common/options.h"
#include "workqueue.h"

static const option options[] = {
    {"--tree", "KIND", "geometric (default) or binomial", OPTION_TEXT, offsetof(workqueue, name)},
    {"--size", "N", "geometric: its depth (default 10); binomial: children of the root (default 2000)", OPTION_NUMBER,
     offsetof(workqueue, run) + offsetof(tiled, size)},
    {"--seed", "K", "of the tree (default 19, or 42 with binomial)", OPTION_COUNT, offsetof(workqueue, seed)},
    TILED_OPTIONS(workqueue, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

/* Sample trees of UTS (T1 and T3), with what it says of them. */
typedef struct sample {
  tree tree;
  int size;
  tree_count count;
} sample;
static const sample samples[] = {
    {{.binomial = false, .seed = 19, .limit = 10, .children = 4}, 10, {4130071, 3305118, 10}},
    {{.binomial = true, .seed = 42, .children = 2000, .many = 8, .chance = 0.124875}, 2000, {4112897, 3599034, 1572}},
};

static void print_help(const workqueue* w) {
  printf(
      "%s: a tree of unknown shape is searched by workers that share a queue\n\n"
      "--verify compares with a search by one process, and with what the Unbalanced Tree Search benchmark says.\n\n",
      w->run.team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  workqueue_serial --verify\n"
      "  OMP_NUM_THREADS=2 workqueue_omp --tree binomial --verify\n"
      "  mpirun -n 2 workqueue_mpi --verify\n"
      "  hirobarun -n 2 --nodes 2 workqueue_hiroba --tree binomial --verify\n");
}

void workqueue_begin(workqueue* w, team team, int threads, int argc, char** argv) {
  enum { NO_SEED = -1, DEEPEST = 30 };
  memset(w, 0, sizeof *w);
  w->run.team = team;
  w->run.threads = threads;
  w->run.steps = 1;
  w->name = "geometric";
  w->seed = NO_SEED;
  options_read(&team, options, OPTIONS, w, argc, argv);
  if (w->run.help) {
    if (team.rank == 0) print_help(w);
    team_leave(&team);
    exit(0);
  }
  const bool binomial = strcmp(w->name, "binomial") == 0;
  const sample* const sample = &samples[binomial];
  team_agree(&team, binomial || strcmp(w->name, "geometric") == 0, TEAM_BAD_INPUT,
             "--tree '%s' is not geometric or binomial", w->name);
  if (w->run.size == 0) w->run.size = sample->size;
  team_agree(&team, binomial || w->run.size <= DEEPEST, TEAM_BAD_INPUT, "--size %d is deeper than %d", w->run.size,
             DEEPEST);
  if (w->run.json != NULL && strcmp(w->run.json, "-") != 0) files_check_writable(&team, "--json", w->run.json);
  w->tree = sample->tree;
  if (w->seed != NO_SEED) w->tree.seed = w->seed;
  if (binomial) w->tree.children = w->run.size;
  else w->tree.limit = w->run.size;
  w->run.run.unit = "node";
}

/* ---- the nodes that a worker has --------------------------------------------------------------------------------- */

void stack_close(stack* s) {
  free(s->nodes);
  *s = (stack){NULL, 0, 0, 0};
}

void stack_push(stack* s, const node* nodes, int count) {
  if (s->end + count > s->room && s->first > 0) {
    memmove(s->nodes, s->nodes + s->first, (size_t)stack_size(s) * sizeof *s->nodes);
    s->end -= s->first;
    s->first = 0;
  }
  if (s->end + count > s->room) {
    s->room = 2 * s->room + count + WORK_CHUNK;
    s->nodes = realloc(s->nodes, (size_t)s->room * sizeof *s->nodes);
    if (s->nodes == NULL) {
      fprintf(stderr, "workqueue: no memory for %d nodes\n", s->room);
      exit(TEAM_BAD_INPUT);
    }
  }
  memcpy(s->nodes + s->end, nodes, (size_t)count * sizeof *nodes);
  s->end += count;
}

void stack_visit(stack* s, const tree* t, int most, tree_count* found) {
  for (int i = 0; i < most && stack_size(s) > 0; i++) {
    const node here = s->nodes[--s->end];
    const int children = tree_children(t, &here);
    found->nodes++;
    found->leaves += children == 0;
    if (here.depth > found->depth) found->depth = here.depth;
    for (int c = 0; c < children; c++) {
      const node child = tree_child(&here, c);
      stack_push(s, &child, 1);
    }
  }
}

int stack_oldest(stack* s, node to[], int most) {
  const int count = smaller(most, stack_size(s) / 2);
  memcpy(to, s->nodes + s->first, (size_t)count * sizeof *to);
  s->first += count;
  return count;
}

void tree_add(tree_count* to, const tree_count* more) {
  to->nodes += more->nodes;
  to->leaves += more->leaves;
  if (more->depth > to->depth) to->depth = more->depth;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static double difference(const tree_count* a, const tree_count* b) {
  return fabs((double)(a->nodes - b->nodes)) + fabs((double)(a->leaves - b->leaves)) +
         fabs((double)(a->depth - b->depth));
}

static double check(const workqueue* w, const tree_count* all) {
  stack own = {NULL, 0, 0, 0};
  tree_count alone = {0};
  const node root = tree_root(&w->tree);
  stack_push(&own, &root, 1);
  while (stack_size(&own) > 0) stack_visit(&own, &w->tree, WORK_LOOK, &alone);
  stack_close(&own);
  const sample* const sample = &samples[w->tree.binomial];
  double wrong = difference(all, &alone);
  if (w->run.size == sample->size && w->tree.seed == sample->tree.seed) wrong += difference(all, &sample->count);
  return wrong;
}

int workqueue_run(workqueue* w, tiled_steps steps) {
  static const char* const categories[] = {"visit", "queue", NULL};
  const team* const team = &w->run.team;
  if (!tiled_run(&w->run, categories, steps, w)) return tiled_stopped(&w->run);
  const double most = team_max(team, (double)w->found.nodes);
  const tree_count all = {(int64_t)team_sum(team, (double)w->found.nodes),
                          (int64_t)team_sum(team, (double)w->found.leaves),
                          (int64_t)team_max(team, (double)w->found.depth)};
  const tiled_figure found[] = {{"nodes", (double)all.nodes},
                                {"leaves", (double)all.leaves},
                                {"depth", (double)all.depth},
                                {"most_by_a_rank", most / (double)all.nodes * team->count},
                                {NULL, 0}};
  tiled_answer answer = {.limit = 0, .name = "nodes, leaves and depths that differ", .more = found};
  answer.bits = bits_of(0, &all.nodes, 8) + bits_of(1, &all.leaves, 8) + bits_of(2, &all.depth, 8);
  w->run.run.work = (double)all.nodes;
  if (w->run.verify) answer.error = check(w, &all);
  return tiled_finish(&w->run, &answer);
}
