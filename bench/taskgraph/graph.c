/* The graphs: which cells their tasks read and write, and what edges follow from that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taskgraph.h"

enum { WIDTH = 32, STEPS = 2000, TILES = 64, RADIUS = 2 };

static void* memory(size_t count, size_t size) {
  void* const p = aligned_alloc(sizeof(cell), (count * size / sizeof(cell) + 1) * sizeof(cell));
  if (p == NULL) {
    fprintf(stderr, "taskgraph: not enough memory for %zu bytes; ask for fewer steps\n", count * size);
    exit(TEAM_WRONG);
  }
  return memset(p, 0, count * size);
}

typedef struct list {
  int *items, count, room;
} list;

static void append(list* l, int item) {
  if (l->count == l->room) {
    const int room = 2 * l->room + 64;
    int* const items = memory((size_t)room, sizeof *items);
    if (l->count > 0) memcpy(items, l->items, (size_t)l->count * sizeof *items);
    free(l->items);
    l->items = items, l->room = room;
  }
  l->items[l->count++] = item;
}

/* ---- which cells ------------------------------------------------------------------------------------------------- */

typedef struct builder {
  list writes, first, reads;
} builder;

/* The next task; what it reads is appended after this call. */
static void task(builder* b, int writes) {
  append(&b->first, b->reads.count);
  append(&b->writes, writes);
}

static void task2(builder* b, int reads, int reads_too, int writes) {
  task(b, writes);
  append(&b->reads, reads);
  if (reads_too >= 0) append(&b->reads, reads_too);
}

/* The lower half of a matrix of tiles, as LAPACK factorises it. */
static void cholesky(builder* b, int tiles) {
  for (int k = 0; k < tiles; k++) {
    task(b, k * tiles + k);                                                         /* potrf */
    for (int i = k + 1; i < tiles; i++) task2(b, k * tiles + k, -1, i * tiles + k); /* trsm */
    for (int i = k + 1; i < tiles; i++) {
      for (int j = k + 1; j < i; j++) task2(b, i * tiles + k, j * tiles + k, i * tiles + j); /* gemm */
      task2(b, i * tiles + k, -1, i * tiles + i);                                            /* syrk */
    }
  }
}

static bool linked_at_random(int step, int from, int to) {
  return from == to || task_mix(((uint64_t)step << 40) + ((uint64_t)from << 20) + (uint64_t)to) % 2 == 0;
}

typedef enum { STENCIL, FFT, TREE, RANDOM, ALL, PATTERNS } pattern;
static const char* const pattern_names[PATTERNS] = {"stencil", "fft", "tree", "random", "all"};

/* Appends the columns that column i reads at a step, of `width`, each plus `base`. */
static void pattern_reads(list* reads, pattern p, int width, int step, int i, int base) {
  int low = i, high = i, stride = 1; /* all but a tree reads low, low + stride ... high, within the columns */
  int levels = 0;
  while (2 << levels < width) levels++;
  switch (p) {
    case STENCIL: low = i - 1, high = i + 1; break;
    case FFT:
      stride = 1 << (step - 1) % (levels + 1);
      low = i - stride, high = i + stride;
      break;
    case TREE: low = high = i / 2; break;
    case RANDOM: low = i - RADIUS, high = i + RADIUS; break;
    default: low = 0, high = width - 1; break;
  }
  for (int j = low; j <= high; j += stride)
    if (j >= 0 && j < width && (p != RANDOM || linked_at_random(step, j, i))) append(reads, base + j);
}

/* Steps by turns write one half of the cells and read the other, as a program with two buffers does. */
static void pattern_tasks(builder* b, pattern p, int width, int steps) {
  for (int step = 0; step < steps; step++)
    for (int i = 0; i < width; i++) {
      task(b, step % 2 * width + i);
      if (step > 0) pattern_reads(&b->reads, p, width, step, i, (step + 1) % 2 * width);
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

typedef struct tracker {
  int* writer;   /* per cell, the last task that wrote it; -1: none */
  list* readers; /* per cell, those that have read it since */
  int* seen;     /* per task, the task that was last found to depend on it */
} tracker;

static void edge(tracker* k, list* before, int from, int to) {
  if (from < 0 || from == to || k->seen[from] == to) return;
  k->seen[from] = to;
  append(before, from);
}

/* The tasks before t: who wrote what it reads; and who read, or if nobody did, who wrote, what it writes. */
static void track(const graph* g, tracker* k, list* before, int t) {
  const int target = g->writes[t];
  for (int i = g->first[t]; i < g->first[t + 1]; i++) {
    edge(k, before, k->writer[g->reads[i]], t);
    append(&k->readers[g->reads[i]], t);
  }
  list* const readers = &k->readers[target];
  for (int i = 0; i < readers->count; i++) edge(k, before, readers->items[i], t);
  if (readers->count == 0) edge(k, before, k->writer[target], t);
  readers->count = 0;
  k->writer[target] = t;
}

static void turn_round(graph* g) {
  g->first_after = memory((size_t)g->tasks + 2, sizeof *g->first_after);
  g->after = memory((size_t)g->first_before[g->tasks] + 1, sizeof *g->after);
  int* const end = g->first_after + 1; /* of a task's list, while it is filled */
  for (int e = 0; e < g->first_before[g->tasks]; e++) end[g->before[e] + 1]++;
  for (int t = 0; t < g->tasks; t++) end[t + 1] += end[t];
  for (int t = 0; t < g->tasks; t++)
    for (int e = g->first_before[t]; e < g->first_before[t + 1]; e++) g->after[end[g->before[e]]++] = t;
}

static void make_edges(graph* g) {
  tracker k = {memory((size_t)g->cells, sizeof(int)), memory((size_t)g->cells, sizeof(list)),
               memory((size_t)g->tasks, sizeof(int))};
  for (int c = 0; c < g->cells; c++) k.writer[c] = -1;
  for (int t = 0; t < g->tasks; t++) k.seen[t] = -1;
  list first = {0}, before = {0};
  for (int t = 0; t < g->tasks; t++) {
    append(&first, before.count);
    track(g, &k, &before, t);
  }
  append(&first, before.count);
  append(&before, -1); /* so that there is an array, even without edges */
  g->first_before = first.items, g->before = before.items;
  for (int c = 0; c < g->cells; c++) free(k.readers[c].items);
  free(k.writer), free(k.readers), free(k.seen);
  turn_round(g);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

const char graph_names[] = "independent, independent_inout, cholesky, stencil, fft, tree, random, all";

static bool fill(graph* g, builder* b, int width, int steps) {
  if (strcmp(g->name, "cholesky") == 0) {
    const int tiles = width > 0 ? width : TILES;
    cholesky(b, tiles);
    g->updates = true, g->cells = tiles * tiles;
    return true;
  }
  width = width > 0 ? width : WIDTH;
  if (strcmp(g->name, "independent") == 0 || strcmp(g->name, "independent_inout") == 0) {
    g->updates = true, g->free = strcmp(g->name, "independent") == 0, g->cells = width * steps;
    for (int t = 0; t < g->cells; t++) task(b, t);
    return true;
  }
  for (pattern p = 0; p < PATTERNS; p++)
    if (strcmp(g->name, pattern_names[p]) == 0) {
      pattern_tasks(b, p, width, steps);
      g->width = width, g->cells = 2 * width;
      return true;
    }
  return false;
}

bool graph_make(graph* g, const char* name, int width, int steps) {
  *g = (graph){.name = name};
  builder b = {{0}, {0}, {0}};
  if (!fill(g, &b, width, steps > 0 ? steps : STEPS)) return false;
  g->tasks = b.writes.count;
  append(&b.first, b.reads.count);
  append(&b.reads, -1);
  g->writes = b.writes.items, g->first = b.first.items, g->reads = b.reads.items;
  g->value = memory((size_t)g->cells, sizeof *g->value);
  make_edges(g);
  return true;
}

void graph_reset(graph* g) {
  for (int c = 0; c < g->cells; c++) g->value[c].value = task_mix((uint64_t)c + 1);
}

void graph_run_serial(const graph* g) {
  for (int t = 0; t < g->tasks; t++) task_run(g, t);
}

uint64_t graph_answer(const graph* g, bool (*owns)(const graph* g, int cell)) {
  uint64_t sum = 0;
  for (int c = 0; c < g->cells; c++)
    if (owns == NULL || owns(g, c)) sum += task_mix(g->value[c].value + (uint64_t)c);
  return sum;
}

void graph_free(graph* g) {
  int* const arrays[] = {g->writes, g->first, g->reads, g->first_before, g->before, g->first_after, g->after};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(g->value);
  free(g->scratch);
}
