/* Hiroba: EPCC's constructs of tasks to which its tasks correspond. The program's thread creates them, as the master of
 * a parallel region does; no other thread does so but in a task. */
#include <sms.h>
#include <stdlib.h>
#include <task.h>

#include "epcc.h"

enum { DEPTH = 6 }; /* of trees of tasks */

static void body(void* t) { spin(((const trial*)t)->delay); }

static void create(void (*function)(void*), const trial* t) {
  hiroba_task_at(function, (void*)t, NULL, 0, HIROBA_SPEC("body", HIROBA_ANYWHERE, 0));
}

static void master_task(const trial* t) {
  for (int k = 0; k < t->repetitions * t->threads; k++) create(body, t);
  hiroba_taskwait();
}

static void task_wait(const trial* t) {
  for (int k = 0; k < t->repetitions; k++) {
    create(body, t);
    hiroba_taskwait();
  }
}

/* A task that makes a task for each thread, and waits for them. */
static void family(void* argument) {
  const trial* const t = argument;
  for (int i = 0; i < t->threads; i++) create(body, t);
  hiroba_taskwait();
}

static void nested_master_task(const trial* t) {
  for (int k = 0; k < t->repetitions; k++) create(family, t);
  hiroba_taskwait();
}

typedef struct node {
  const trial* t;
  int level;
} node;

static void create_node(void (*function)(void*), const trial* t, int level) {
  const node next = {t, level};
  hiroba_task_copy_at(function, &next, sizeof next, NULL, 0, HIROBA_SPEC("node", HIROBA_ANYWHERE, 0));
}

static void branch(void* argument) {
  const node* const n = argument;
  for (int i = 0; i < 2 && n->level > 1; i++) create_node(branch, n->t, n->level - 1);
  spin(n->t->delay);
}

static void leaf(void* argument) {
  const node* const n = argument;
  for (int i = 0; i < 2; i++)
    if (n->level > 1) create_node(leaf, n->t, n->level - 1);
    else spin(n->t->delay);
}

static void trees(const trial* t, void (*function)(void*)) {
  for (int k = 0; k < t->repetitions >> DEPTH; k++) create_node(function, t, DEPTH);
  hiroba_taskwait();
}

static void branch_tree(const trial* t) { trees(t, branch); }
static void leaf_tree(const trial* t) { trees(t, leaf); }

static void reference_tree(const trial* t) {
  for (int k = 0; k < (t->repetitions >> DEPTH) << DEPTH; k++) spin(t->delay);
}

static const construct constructs[] = {
    {"MASTER TASK", master_task, reference_delay, NO_CHUNKS},
    {"TASK WAIT", task_wait, reference_delay, NO_CHUNKS},
    {"NESTED MASTER TASK", nested_master_task, reference_delay, NO_CHUNKS},
    {"BRANCH TASK TREE", branch_tree, reference_tree, NO_CHUNKS},
    {"LEAF TASK TREE", leaf_tree, reference_tree, NO_CHUNKS},
    {0},
};

/* hirobarun has made them. */
static void threads_are(int threads) { (void)threads; }

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const group groups[] = {{"task", 0.1, 64, constructs}};
  const int status = epcc(argc, argv, groups, sizeof groups / sizeof groups[0], threads_are);
  sms_shutdown();
  return status;
}
