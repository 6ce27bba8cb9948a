/* K-means, as in STAMP: threads of all ranks take points in chunks, and add each to the sums of its nearest centre. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/bits.h"
#include "../common/critical.h"
#include "../common/options.h"
#include "points.h"

typedef struct progress { /* of a pass */
  int64_t next, moved;    /* the point to take next; points that have another cluster than before */
} progress;

typedef struct kmeans {
  tiled run;
  const char* with_name;
  critical with;
  int around, chunk, seed;
  double threshold;
  bool raw, gather;
  points points;
  /* shared */
  progress* progress;
  int32_t* member; /* the cluster of each point */
  char* sums;      /* of each cluster: the number of its points, and the sum of each dimension */
  size_t sums_bytes;
  char* own;         /* of each thread, for option gather: the same */
  int passes, wrong; /* passes in which not each point was counted once */
  bool done;
} kmeans;

static const option options[] = {
    {"--size", "N", "points (default 2048)", OPTION_NUMBER, offsetof(kmeans, run) + offsetof(tiled, size)},
    {"--dimensions", "D", "of a point (default 16)", OPTION_NUMBER,
     offsetof(kmeans, points) + offsetof(points, dimensions)},
    {"--clusters", "K", "to find (default 15)", OPTION_NUMBER, offsetof(kmeans, points) + offsetof(points, clusters)},
    {"--around", "C", "the points lie around C places (default 16)", OPTION_NUMBER, offsetof(kmeans, around)},
    {"--threshold", "T", "ends when at most this part of the points moves (default 0.05)", OPTION_REAL,
     offsetof(kmeans, threshold)},
    {"--raw", NULL, "do not scale each dimension to mean 0 and deviation 1", OPTION_FLAG, offsetof(kmeans, raw)},
    {"--chunk", "N", "points that a thread takes at a time (default 3)", OPTION_NUMBER, offsetof(kmeans, chunk)},
    {"--gather", NULL, "a thread adds up its chunk by itself, and then each cluster of it to the sums", OPTION_FLAG,
     offsetof(kmeans, gather)},
    {"--with", "WAY", "transactions (default), locks, one-lock, nothing", OPTION_TEXT, offsetof(kmeans, with_name)},
    {"--seed", "K", "of the points (default 1)", OPTION_COUNT, offsetof(kmeans, seed)},
    TILED_OPTIONS(kmeans, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static int64_t* members(const kmeans* k, char* of, int cluster) {
  return (int64_t*)(of + k->sums_bytes * (size_t)cluster);
}
static double* sums(const kmeans* k, char* of, int cluster) { return (double*)(members(k, of, cluster) + 1); }

/* ---- critical sections ------------------------------------------------------------------------------------------- */

/* Locks: one for the progress, one for each cluster. */
static void lock(const kmeans* k, int id) {
  if (k->with != CRITICAL_NOTHING) sms_lock(k->with == CRITICAL_LOCKS ? id : 0);
}
static void unlock(const kmeans* k, int id) {
  if (k->with != CRITICAL_NOTHING) sms_unlock(k->with == CRITICAL_LOCKS ? id : 0);
}

static int64_t add(critical with, int64_t* to, int64_t more) {
  const int64_t before = critical_load(with, to);
  critical_store(with, to, before + more);
  return before;
}

/* Returns the number before. */
static int64_t add_alone(const kmeans* k, int64_t* to, int64_t more) {
  volatile int64_t before = 0; /* set by each attempt */
  if (k->with == CRITICAL_TRANSACTIONS) {
    HIROBA_ATOMIC { before = add(k->with, to, more); }
    return before;
  }
  lock(k, 0);
  before = add(k->with, to, more);
  unlock(k, 0);
  return before;
}

/* `to` are sums, as k->sums; `at` is the sum of some points. */
static void add_to_sums(const kmeans* k, critical with, char* to, int cluster, int64_t count, const double* at) {
  double* const sum = sums(k, to, cluster);
  add(with, members(k, to, cluster), count);
  for (int d = 0; d < k->points.dimensions; d++) {
    if (with == CRITICAL_TRANSACTIONS) hiroba_tx_store_double(&sum[d], hiroba_tx_load_double(&sum[d]) + at[d]);
    else sum[d] += at[d];
  }
}

static void add_points(const kmeans* k, int cluster, int64_t count, const double* at) {
  if (k->with == CRITICAL_TRANSACTIONS) {
    HIROBA_ATOMIC { add_to_sums(k, k->with, k->sums, cluster, count, at); }
    return;
  }
  lock(k, 1 + cluster);
  add_to_sums(k, k->with, k->sums, cluster, count, at);
  unlock(k, 1 + cluster);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Gives a chunk that a thread has added up by itself. */
static void give(const kmeans* k, char* own) {
  const points* const p = &k->points;
  for (int c = 0; c < p->clusters; c++)
    if (*members(k, own, c) > 0) add_points(k, c, *members(k, own, c), sums(k, own, c));
  memset(own, 0, k->sums_bytes * (size_t)p->clusters);
}

static void work(const kmeans* k) {
  const points* const p = &k->points;
  char* const own = k->own + (size_t)omp_get_thread_num() * k->sums_bytes * (size_t)p->clusters;
  int64_t moved = 0;
  for (;;) {
    const int64_t first = add_alone(k, &k->progress->next, k->chunk);
    if (first >= p->count) break;
    for (int i = (int)first; i < p->count && i < first + k->chunk; i++) {
      const int cluster = points_nearest(p, i);
      moved += k->member[i] != cluster;
      k->member[i] = cluster;
      if (k->gather) add_to_sums(k, CRITICAL_NOTHING, own, cluster, 1, points_row(p->at, p, i));
      else add_points(k, cluster, 1, points_row(p->at, p, i));
    }
    if (k->gather) give(k, own);
  }
  add_alone(k, &k->progress->moved, moved);
}

/* The next centres, in each rank; no rank works on the sums. */
static void move_centres(kmeans* k) {
  points* const p = &k->points;
  int64_t all = 0;
  for (int c = 0; c < p->clusters; c++) {
    const int64_t count = *members(k, k->sums, c);
    all += count;
    for (int d = 0; count > 0 && d < p->dimensions; d++)
      points_row(p->centre, p, c)[d] = sums(k, k->sums, c)[d] / (double)count;
  }
  k->wrong += all != p->count;
  k->passes++;
  k->done = (double)k->progress->moved / p->count <= k->threshold;
}

static void steps(void* of, int from, int to) {
  kmeans* const k = of;
  for (int step = from; step < to && !k->done; step++) {
    if (sms_rank == 0) {
      *k->progress = (progress){0, 0};
      memset(k->sums, 0, k->sums_bytes * (size_t)k->points.clusters);
    }
    sms_barrier();
#pragma omp parallel num_threads(k->run.threads)
    work(k);
    sms_barrier();
    move_centres(k);
    sms_barrier();
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void read_options(kmeans* k, int argc, char** argv) {
  *k = (kmeans){.with_name = "transactions", .around = 16, .chunk = 3, .seed = 1, .threshold = 0.05};
  k->run.size = 2048, k->run.steps = 500;
  k->points.dimensions = 16, k->points.clusters = 15;
  critical_read(&k->run, "kmeans_hiroba", options, OPTIONS, k, argc, argv,
                "clusters of points, whose sums all threads add up in shared memory",
                "  hirobarun -n 2 kmeans_hiroba --verify\n  hirobarun -n 2 --nodes 2 kmeans_hiroba --with locks\n");
  const team team = k->run.team;
  k->with = critical_way(&team, k->run.threads, k->with_name);
  team_agree(&team, k->points.clusters < SMS_LOCKS && k->points.clusters <= k->run.size, TEAM_BAD_INPUT,
             "--clusters %d is more than the %d points of --size, or than %d", k->points.clusters, k->run.size,
             SMS_LOCKS - 1);
  k->run.run.unit = "point";
  k->run.run.work = k->points.count = k->run.size;
}

static void begin(kmeans* k) {
  enum { LINE = 64 };
  const team* const team = &k->run.team;
  team_agree(team, points_make(&k->points, k->around, !k->raw, k->seed), TEAM_BAD_INPUT, "no memory for %d points",
             k->run.size);
  k->sums_bytes = (sizeof(int64_t) + (size_t)k->points.dimensions * sizeof(double) + LINE - 1) / LINE * LINE;
  const size_t bytes = (size_t)k->run.threads * k->sums_bytes * (size_t)k->points.clusters;
  k->own = aligned_alloc(LINE, bytes);
  team_agree(team, k->own != NULL, TEAM_BAD_INPUT, "no memory for the sums of %d threads", k->run.threads);
  memset(k->own, 0, bytes);
  k->progress = shared_rows(team, 1, 1, sizeof *k->progress, "the progress");
  k->sums = shared_rows(team, k->points.clusters, 1, k->sums_bytes, "the sums");
  k->member = shared_rows(team, k->run.size, 1, sizeof *k->member, "the clusters of the points");
  for (int i = 0; team->rank == 0 && i < k->run.size; i++) k->member[i] = -1;
  sms_barrier();
}

/* In rank 0: compares with this process alone. */
static double differences(const kmeans* k) {
  points alone = {k->points.count, k->points.dimensions, k->points.clusters, NULL, NULL};
  double worst = NAN;
  if (points_make(&alone, k->around, !k->raw, k->seed)) {
    const int passes = points_alone(&alone, k->threshold, k->run.steps);
    if (abs(passes - k->passes) <= 1) worst = 0;
    for (int i = 0; passes == k->passes && i < alone.clusters * alone.dimensions; i++)
      worst = fmax(worst, fabs(alone.centre[i] - k->points.centre[i]));
  }
  points_free(&alone);
  return worst;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  static kmeans k;
  static const char* const categories[] = {NULL};
  read_options(&k, argc, argv);
  begin(&k);
  if (!tiled_run(&k.run, categories, steps, &k)) return tiled_stopped(&k.run);
  team_agree(&k.run.team, k.wrong == 0, TEAM_WRONG, "in %d of %d passes not each point was counted once", k.wrong,
             k.passes);
  tiled_figure figures[CRITICAL_FIGURES + 1] = {{"passes", k.passes}};
  critical_figures(figures + 1);
  tiled_answer answer = {.limit = 1e-4, .name = "largest distance from the centres of one thread", .more = figures};
  if (k.run.verify && sms_rank == 0) answer.error = differences(&k);
  for (int i = 0; i < k.run.size && sms_rank == 0; i++) answer.bits += bits_of((uint64_t)i, &k.member[i], 4);
  k.run.steps = k.passes; /* for the rate */
  points_free(&k.points);
  free(k.own);
  return tiled_finish(&k.run, &answer);
}
