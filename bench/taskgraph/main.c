/* What all contestants have: options, the check of the answer, the clock, and the search for the smallest body. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../../apps/common/options.h"
#include "taskgraph.h"

/* The smallest body is looked for between these, in ns, until it is known up to 3 %. */
static const double LEAST_BODY = 10, FIRST_BODY = 160, MOST_BODY = 100e3, PRECISION = 1.03;
static const double BYTES_PER_NS = 8; /* about as many as a core moves: what a body takes is measured */
enum { MOST_REPEATS = 99 };

typedef struct bench {
  const char* graph;
  int width, steps, threads, cores, repeats, bytes;
  double body, seconds;
  bool memory, replay, metg;

  const runtime* r;
  graph g;
  uint64_t expected; /* of the cells of this process */
  double rate;       /* rounds of a body per ns */
  double ns;         /* of the body of this moment */
} bench;

static const option table[] = {
    {"--graph", "NAME", "independent, independent_inout, cholesky, stencil, fft, tree, random or all", OPTION_TEXT,
     offsetof(bench, graph)},
    {"--width", "N", "columns of tasks (default: 32; of cholesky, tiles in a row: 64)", OPTION_COUNT,
     offsetof(bench, width)},
    {"--steps", "N", "tasks in a column (default: 2000)", OPTION_COUNT, offsetof(bench, steps)},
    {"--threads", "N", "threads (default: 2)", OPTION_NUMBER, offsetof(bench, threads)},
    {"--cores", "N", "cores that all threads share, if there are fewer cores than threads", OPTION_NUMBER,
     offsetof(bench, cores)},
    {"--body", "NS", "how long a body computes (default: 0)", OPTION_REAL, offsetof(bench, body)},
    {"--memory", NULL, "bodies go through memory for as long, in the place of computing", OPTION_FLAG,
     offsetof(bench, memory)},
    {"--replay", NULL, "build the graph before the clock starts, and run it again", OPTION_FLAG,
     offsetof(bench, replay)},
    {"--bytes", "N", "size of a message between processes, a multiple of 8 (default: 16)", OPTION_NUMBER,
     offsetof(bench, bytes)},
    {"--metg", NULL, "look for the smallest body with which threads compute for half of the time", OPTION_FLAG,
     offsetof(bench, metg)},
    {"--repeats", "N", "runs of which the median counts (default: 5)", OPTION_NUMBER, offsetof(bench, repeats)},
    {"--seconds", "S", "no new run begins after as long (default: 10)", OPTION_REAL, offsetof(bench, seconds)},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static void print_help(const runtime* r) {
  printf("%s: what a task costs; prints a line of JSON. See bench/taskgraph/taskgraph.h.\n\n", r->name);
  options_print(table, OPTIONS);
}

/* The value of one process, which measures while the others wait. */
static double of_first_rank(const bench* b, double (*measured)(const bench* b)) {
  return team_max(&b->r->team, b->r->team.rank == 0 ? measured(b) : 0);
}

static double rate_of_spin(const bench* b) {
  (void)b;
  return spin_rate();
}

/* ns of a body that goes through memory, by the fastest of some tries: from share to share, as tasks do, which takes
 * longer than in a row; and through all of it, which is more than a cache holds. */
static double time_of_stream(const bench* b) {
  enum { TRIES = 5 };
  const graph* const g = &b->g;
  const int bodies = 1 + (int)((size_t)g->cells * SCRATCH_WORDS * sizeof(uint64_t) / (g->stream + 1));
  double best = INFINITY;
  for (int i = 0; i < TRIES; i++) {
    const double start = now();
    for (int k = 0; k < bodies; k++) task_stream(g, k % g->cells, (size_t)(k / g->cells));
    best = fmin(best, 1e9 * (now() - start));
  }
  return best / bodies;
}

/* The rounds or bytes that take about as long as a body shall. */
static void set_body(bench* b, double ns) {
  graph* const g = &b->g;
  g->spin = 0, g->stream = 0, b->ns = 0;
  if (ns == 0) return;
  if (b->memory) g->stream = (size_t)(ns * BYTES_PER_NS) / sizeof(uint64_t) * sizeof(uint64_t);
  else g->spin = (int64_t)(ns * b->rate);
  b->ns = b->memory ? of_first_rank(b, time_of_stream) : ns;
}

/* One run; it ends the program if the answer is wrong. */
static double timed(bench* b) {
  const team* const t = &b->r->team;
  graph_reset(&b->g);
  team_max(t, 0);
  const double start = now();
  (b->replay ? b->r->replay : b->r->run)(&b->g);
  const double seconds = team_max(t, now() - start);
  team_agree(t, graph_answer(&b->g, b->r->owns) == b->expected, TEAM_WRONG,
             "wrong answer of %s: a dependence of graph "
             "%s was not respected, or a task was left out",
             b->r->name, b->graph);
  return seconds;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median of the runs for which there is time. */
static double measure(bench* b, double body) {
  double seconds[MOST_REPEATS], sum = 0;
  int count = 0;
  set_body(b, body);
  while (count < b->repeats && (count == 0 || sum < b->seconds)) sum += seconds[count++] = timed(b);
  qsort(seconds, (size_t)count, sizeof seconds[0], ascending);
  return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

static double efficiency(const bench* b, double seconds) {
  const int threads = b->threads * b->r->team.count;
  return 1e-9 * b->ns * b->g.tasks / ((b->cores > 0 ? smaller(threads, b->cores) : threads) * seconds);
}

/* What disturbs a run makes it longer, so a second try counts. */
static bool half(bench* b, double body) {
  return efficiency(b, measure(b, body)) >= 0.5 || efficiency(b, measure(b, body)) >= 0.5;
}

/* In ns; infinite if not even the largest body is enough. */
static double smallest_body(bench* b) {
  double high = FIRST_BODY;
  while (!half(b, high)) {
    high *= 2;
    if (high > MOST_BODY) return INFINITY;
  }
  double low = high / 2;
  if (high == FIRST_BODY) /* else the half of it is known to be too small */
    while (low > LEAST_BODY && half(b, low)) high = low, low /= 2;
  while (high / low > PRECISION) {
    const double middle = sqrt(low * high);
    if (half(b, middle)) high = middle;
    else low = middle;
  }
  return high;
}

/* The most memory that this process has had, in MB, since the last call. */
static double peak(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  FILE* const file = fopen("/proc/self/clear_refs", "w"); /* proc(5): 5 forgets the peak */
  if (file != NULL) fputs("5", file), fclose(file);
  return 1024e-6 * (double)used.ru_maxrss;
}

static void report(bench* b) {
  const team* const t = &b->r->team;
  malloc_trim(0); /* what the graph's tables took */
  peak();
  const double before = peak();
  const double body = b->metg ? smallest_body(b) : b->body;
  const double seconds = isfinite(body) ? measure(b, body) : INFINITY;
  if (t->rank != 0) return;
  printf("{\"tasks\": %d, \"edges\": %d, \"ranks\": %d, \"threads\": %d", b->g.tasks, b->g.first_before[b->g.tasks],
         t->count, b->threads);
  if (isfinite(body))
    printf(", \"body\": %.1f, \"seconds\": %.9f, \"ns\": %.2f, \"efficiency\": %.4f", b->ns, seconds,
           1e9 * seconds / b->g.tasks, efficiency(b, seconds));
  if (b->metg) printf(isfinite(body) ? ", \"metg\": %.1f" : ", \"metg\": null", b->ns);
  printf(", \"grown_mb\": %.1f", peak() - before);
  printf("}\n");
}

static void check_options(bench* b) {
  const team* const t = &b->r->team;
  team_agree(t, graph_make(&b->g, b->graph, b->width, b->steps), TEAM_BAD_INPUT, "there is no graph %s; there are: %s",
             b->graph, graph_names);
  team_agree(t, !b->replay || b->r->replay != NULL, TEAM_BAD_INPUT, "%s cannot run a graph again", b->r->name);
  team_agree(t, !b->memory || b->g.width > 0, TEAM_BAD_INPUT, "--memory is for patterns, and %s is none", b->graph);
  team_agree(t, !b->r->patterns_only || b->g.width > 0, TEAM_BAD_INPUT, "%s runs patterns only, and %s is none",
             b->r->name, b->graph);
  team_agree(t, b->bytes % sizeof(uint64_t) == 0, TEAM_BAD_INPUT, "--bytes %d is no multiple of 8", b->bytes);
  b->g.bytes = (size_t)b->bytes;
  team_agree(t, b->repeats <= MOST_REPEATS && b->body >= 0, TEAM_BAD_INPUT,
             "at most %d repeats, and no body shorter than 0", MOST_REPEATS);
}

/* All pages are there before the clock starts. */
static void get_scratch(bench* b) {
  const size_t words = (size_t)b->g.cells * SCRATCH_WORDS;
  b->g.scratch = malloc(words * sizeof *b->g.scratch);
  team_agree(&b->r->team, b->g.scratch != NULL, TEAM_WRONG, "not enough memory for --memory; use fewer columns");
  for (size_t i = 0; i < words; i++) b->g.scratch[i] = i;
}

int taskgraph(int argc, char** argv, const runtime* r) {
  bench b = {.graph = "stencil", .threads = 2, .repeats = 5, .seconds = 10, .bytes = 16, .r = r};
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    if (r->team.rank == 0) print_help(r);
    team_leave(&r->team);
    return 0;
  }
  options_read(&r->team, table, OPTIONS, &b, argc, argv);
  check_options(&b);
  if (b.memory) get_scratch(&b);
  b.rate = of_first_rank(&b, rate_of_spin);
  graph_reset(&b.g);
  graph_run_serial(&b.g);
  b.expected = graph_answer(&b.g, r->owns);

  if (r->start != NULL) r->start(b.threads);
  void (*const prepare)(const graph* g) = b.replay ? r->record : r->prepare;
  if (prepare != NULL) prepare(&b.g);
  report(&b);
  if (r->release != NULL) r->release(&b.g);
  if (r->stop != NULL) r->stop();
  graph_free(&b.g);
  team_leave(&r->team);
  return 0;
}
