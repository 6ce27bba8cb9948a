#include "ep.h"

#include <math.h>
#include <stdio.h>

enum { LOG_BATCH = 16 };
static const uint64_t seed = 271828183;
static const double tolerance = 1e-8;

static const struct class_constants {
  char name;
  int log_pairs;
  double x, y;
} constants[] = {
    {'S', 24, -3.247834652034740e3, -6.958407078382297e3}, {'W', 25, -2.863319731645753e3, -6.320053679109499e3},
    {'A', 28, -4.295875165629892e3, -1.580732573678431e4}, {'B', 30, 4.033815542441498e4, -2.660669192809235e4},
    {'C', 32, 4.764367927995374e4, -8.084072988043731e4},
};

ep_job ep_begin(npb* n) {
  const struct class_constants* c = constants;
  while (c->name != n->class) c++;
  if (n->team.rank == 0 && !n->json) printf("\n %s: class %c, 2^%d pairs\n", n->program, n->class, c->log_pairs);
  npb_start(n);
  return (ep_job){c->log_pairs, 1 << (c->log_pairs - LOG_BATCH), c->x, c->y};
}

/* The next random number, between -1 and 1. */
static inline double draw(uint64_t* state) { return 2 * ldexp((double)npb_random(state), -NPB_BITS) - 1; }

void ep_batch(int batch, double* x, double* y, double counts[EP_RINGS]) {
  uint64_t state = npb_random_after(seed, (uint64_t)batch << (LOG_BATCH + 1));
  for (int i = 0; i < 1 << LOG_BATCH; i++) {
    const double u = draw(&state), v = draw(&state), square = u * u + v * v;
    if (square > 1) continue;
    const double scale = sqrt(-2 * log(square) / square), a = u * scale, b = v * scale;
    counts[(int)fmax(fabs(a), fabs(b))]++;
    *x += a;
    *y += b;
  }
}

int ep_finish(const ep_job* job, npb* n, double x, double y, const double counts[EP_RINGS]) {
  npb_stop(n);
  const double error =
      fmax(fabs((x - job->expected_x) / job->expected_x), fabs((y - job->expected_y) / job->expected_y));
  double pairs = 0;
  for (int i = 0; i < EP_RINGS; i++) pairs += counts[i];
  char detail[160];
  snprintf(detail, sizeof detail, "sums %.10e, %.10e of %.0f pairs, relative error %.1e of at most %.0e", x, y, pairs,
           error, tolerance);
  const double numbers = ldexp(1, job->log_pairs + 1);
  return npb_finish(n, error <= tolerance, (long)numbers, 1, 1e-6 * numbers, "random numbers", detail);
}
