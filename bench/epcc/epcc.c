/* What all contestants have: options, the clock, statistics, and what is printed: EPCC's lines, and a line of JSON. */
#include "epcc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/options.h"

static const double CONFIDENCE = 1.96, OUTLIER = 3; /* standard deviations */
enum { MOST_OUTER = 1000, MOST_REPETITIONS = 1 << 28, NAME = 48 };

typedef struct settings {
  int threads, outer, iterations;
  double test_time, delay;
  const char* only[OPTION_LIST];
} settings;

static const option table[] = {
    {"--threads", "N", "threads (default: 2)", OPTION_NUMBER, offsetof(settings, threads)},
    {"--outer", "N", "measurements of each construct (default: 20)", OPTION_NUMBER, offsetof(settings, outer)},
    {"--test-time", "US", "how long each takes at least (default: 1000)", OPTION_REAL, offsetof(settings, test_time)},
    {"--delay", "US", "of a body (default: 0.1; of schedule 15)", OPTION_REAL, offsetof(settings, delay)},
    {"--iterations", "N", "of loops of schedule, for each thread (default: 128)", OPTION_NUMBER,
     offsetof(settings, iterations)},
    {"--only", "GROUP", "sync, schedule or task; may be given again", OPTION_TEXTS, offsetof(settings, only)},
};
enum { OPTIONS = sizeof table / sizeof table[0] };
static const team alone = {.count = 1, .program = "epcc"};

/* us of one repetition */
typedef struct statistics {
  double median, mean, min, max, sd;
  int outliers;
} statistics;

typedef struct bench {
  const settings* of;
  trial t;
  double rate; /* rounds of spin() per ns */
  statistics reference;
  void (*referred)(const trial* t); /* what the reference is of */
  int references, results;
  char* json; /* what has been found, for the last line */
  size_t length;
  FILE* out;
} bench;

void reference_delay(const trial* t) {
  for (int k = 0; k < t->repetitions; k++) spin(t->delay);
}

static double timed(void (*run)(const trial* t), const trial* t) {
  const double start = now();
  run(t);
  return 1e6 * (now() - start);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static statistics statistics_of(double* times, int count) {
  statistics s = {0};
  double squares = 0;
  qsort(times, (size_t)count, sizeof *times, ascending);
  for (int i = 0; i < count; i++) s.mean += times[i] / count;
  for (int i = 0; i < count; i++) squares += (times[i] - s.mean) * (times[i] - s.mean);
  s.sd = count > 1 ? sqrt(squares / (count - 1)) : 0;
  s.median = (times[(count - 1) / 2] + times[count / 2]) / 2;
  s.min = times[0], s.max = times[count - 1];
  for (int i = 0; i < count; i++) s.outliers += fabs(times[i] - s.mean) > OUTLIER * s.sd;
  return s;
}

/* As many repetitions as take the test time, doubled once more as EPCC does; then the measurements. */
static statistics measure(bench* b, void (*run)(const trial* t), int first) {
  double times[MOST_OUTER];
  trial t = b->t;
  t.repetitions = first;
  for (double time = 0; time < b->of->test_time && t.repetitions < MOST_REPETITIONS; t.repetitions *= 2)
    time = timed(run, &t);
  for (int i = 0; i < b->of->outer; i++) times[i] = timed(run, &t) / t.repetitions;
  return statistics_of(times, b->of->outer);
}

static void print(const char* name, const statistics* s, int count) {
  printf("\n--------------------------------------------------------\nComputing %s time\n\n", name);
  printf("Sample_size       Average     Min         Max          S.D.          Outliers\n");
  printf(" %d                %f   %f   %f    %f      %d\n\n", count, s->mean, s->min, s->max, s->sd, s->outliers);
}

static void refer(bench* b, const construct* c, int first) {
  char name[NAME];
  if (b->referred == c->reference) return;
  b->referred = c->reference;
  b->reference = measure(b, c->reference, first);
  snprintf(name, sizeof name, "reference time %d", ++b->references);
  print(name, &b->reference, b->of->outer);
  printf("%s time     = %f microseconds +/- %f\n", name, b->reference.mean, CONFIDENCE * b->reference.sd);
}

/* One construct, of one chunk. Returns whether all of its figures are numbers. */
static bool bench_one(bench* b, const group* g, const construct* c, int chunk) {
  char name[NAME];
  snprintf(name, sizeof name, chunk > 0 ? "%s %d" : "%s", c->name, chunk);
  b->t.chunk = chunk;
  const statistics s = measure(b, c->run, g->first);
  print(name, &s, b->of->outer);
  printf("%s time     = %f microseconds +/- %f\n", name, s.mean, CONFIDENCE * s.sd);
  printf("%s overhead = %f microseconds +/- %f\n", name, s.mean - b->reference.mean,
         CONFIDENCE * (s.sd + b->reference.sd));
  const double overhead = s.median - b->reference.median;
  fprintf(b->out, "%s{\"group\": \"%s\", \"name\": \"%s\", \"kind\": \"%s\", \"chunk\": %d",
          b->results++ > 0 ? ", " : "", g->name, name, c->name, chunk);
  fprintf(b->out, ", \"median\": %.6f, \"mean\": %.6f, \"min\": %.6f, \"max\": %.6f, \"sd\": %.6f", s.median, s.mean,
          s.min, s.max, s.sd);
  fprintf(b->out, ", \"reference\": %.6f, \"overhead\": %.6f}", b->reference.median, overhead);
  return isfinite(s.mean) && isfinite(s.sd) && isfinite(overhead);
}

static bool bench_group(bench* b, const group* g) {
  bool finite = true;
  b->t.delay = (int64_t)(1e3 * (b->of->delay >= 0 ? b->of->delay : g->delay) * b->rate);
  b->referred = NULL;
  for (const construct* c = g->table; c->name != NULL; c++) {
    const int share = b->t.iterations / (c->chunks == UP_TO_SHARE ? b->t.threads : 1);
    refer(b, c, g->first);
    if (c->chunks == NO_CHUNKS) finite = bench_one(b, g, c, 0) && finite;
    for (int chunk = 1; c->chunks != NO_CHUNKS && chunk <= share; chunk *= 2)
      finite = bench_one(b, g, c, chunk) && finite;
  }
  return finite;
}

static bool wanted(const settings* of, const char* name) {
  for (int i = 0; i < OPTION_LIST && of->only[i] != NULL; i++)
    if (strcmp(of->only[i], name) == 0) return true;
  return of->only[0] == NULL;
}

static void check(const settings* of, const group groups[], int count) {
  team_agree(&alone, of->outer <= MOST_OUTER, TEAM_BAD_INPUT, "--outer %d is more than %d", of->outer, MOST_OUTER);
  for (int i = 0; i < OPTION_LIST && of->only[i] != NULL; i++) {
    bool known = false;
    for (int k = 0; k < count; k++) known = known || strcmp(groups[k].name, of->only[i]) == 0;
    team_agree(&alone, known, TEAM_BAD_INPUT, "there is no group %s; there are sync, schedule and task", of->only[i]);
  }
}

int epcc(int argc, char** argv, const group groups[], int count, void (*threads_are)(int threads)) {
  settings of = {.threads = 2, .outer = 20, .iterations = 128, .test_time = 1000, .delay = -1};
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    printf("epcc: what constructs cost, as EPCC's microbenchmarks measure it; ends with a line of JSON.\n\n");
    options_print(table, OPTIONS);
    return 0;
  }
  options_read(&alone, table, OPTIONS, &of, argc, argv);
  check(&of, groups, count);
  threads_are(of.threads);
  bench b = {.of = &of, .rate = spin_rate(), .t = {.threads = of.threads, .iterations = of.iterations}};
  b.out = open_memstream(&b.json, &b.length);
  team_agree(&alone, b.out != NULL, TEAM_WRONG, "not enough memory");
  printf("Running OpenMP benchmark version 3.0 on %d thread(s)\n", of.threads);
  printf("\t%d outer repetitions\n\t%0.2f test time (microseconds)\n", of.outer, of.test_time);
  bool finite = true;
  for (int i = 0; i < count; i++)
    if (wanted(&of, groups[i].name)) finite = bench_group(&b, &groups[i]) && finite;
  fclose(b.out);
  printf("\n{\"threads\": %d, \"results\": [%s]}\n", of.threads, b.json);
  free(b.json);
  team_agree(&alone, finite, TEAM_WRONG, "a figure is not finite");
  return 0;
}
