#include "points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"

/* A number of the normal distribution (Box and Muller), which depends on its arguments only. */
static double normal(int seed, int point, int dimension) {
  enum { RADIUS = 1, ANGLE = 2 };
  const double pi = 3.14159265358979323846;
  const double radius = (1 - noise_of((uint64_t)seed, RADIUS, point, dimension)) / 2;
  const double angle = noise_of((uint64_t)seed, ANGLE, point, dimension);
  return sqrt(-2 * log(radius)) * cos(pi * angle);
}

static void standardize(points* p) {
  for (int d = 0; d < p->dimensions; d++) {
    double sum = 0, squares = 0;
    for (int i = 0; i < p->count; i++) sum += points_row(p->at, p, i)[d];
    const double mean = sum / p->count;
    for (int i = 0; i < p->count; i++) {
      double* const x = &points_row(p->at, p, i)[d];
      *x -= mean;
      squares += *x * *x;
    }
    const double deviation = sqrt(squares / p->count);
    for (int i = 0; i < p->count && deviation > 0; i++) points_row(p->at, p, i)[d] /= deviation;
  }
}

bool points_make(points* p, int around, bool zscore, int seed) {
  enum { PLACE = 3, FIRST = 4 };
  p->at = malloc((size_t)p->count * (size_t)p->dimensions * sizeof *p->at);
  p->centre = malloc((size_t)p->clusters * (size_t)p->dimensions * sizeof *p->centre);
  if (p->at == NULL || p->centre == NULL) return false;
  const double sigma = 1.0 / around / around / around;
  for (int i = 0; i < p->count; i++)
    for (int d = 0; d < p->dimensions; d++)
      points_row(p->at, p, i)[d] =
          (1 + noise_of((uint64_t)seed, PLACE, i % around, d)) / 2 + sigma * normal(seed, i, d);
  if (zscore) standardize(p);
  for (int k = 0; k < p->clusters; k++) {
    const int from = (int)((1 + noise_of((uint64_t)seed, FIRST, k, 0)) / 2 * p->count);
    memcpy(points_row(p->centre, p, k), points_row(p->at, p, from), (size_t)p->dimensions * sizeof(double));
  }
  return true;
}

void points_free(points* p) {
  free(p->at);
  free(p->centre);
}

int points_nearest(const points* p, int point) {
  const double* const x = points_row(p->at, p, point);
  int best = 0;
  double least = INFINITY;
  for (int k = 0; k < p->clusters; k++) {
    const double* const c = points_row(p->centre, p, k);
    double distance = 0;
    for (int d = 0; d < p->dimensions; d++) distance += (x[d] - c[d]) * (x[d] - c[d]);
    if (distance < least) least = distance, best = k;
  }
  return best;
}

int points_alone(points* p, double threshold, int most) {
  const size_t numbers = (size_t)p->clusters * (size_t)p->dimensions;
  double* const sum = malloc(numbers * sizeof *sum);
  int* const members = malloc((size_t)p->clusters * sizeof *members);
  int* const member = malloc((size_t)p->count * sizeof *member);
  int pass = sum == NULL || members == NULL || member == NULL ? -1 : 0;
  for (int i = 0; pass == 0 && i < p->count; i++) member[i] = -1;
  for (double moved = p->count; pass >= 0 && pass < most && moved / p->count > threshold; pass++) {
    memset(sum, 0, numbers * sizeof *sum);
    memset(members, 0, (size_t)p->clusters * sizeof *members);
    moved = 0;
    for (int i = 0; i < p->count; i++) {
      const int k = points_nearest(p, i);
      moved += member[i] != k;
      member[i] = k;
      members[k]++;
      for (int d = 0; d < p->dimensions; d++) points_row(sum, p, k)[d] += points_row(p->at, p, i)[d];
    }
    for (int k = 0; k < p->clusters; k++)
      for (int d = 0; members[k] > 0 && d < p->dimensions; d++)
        points_row(p->centre, p, k)[d] = points_row(sum, p, k)[d] / members[k];
  }
  free(sum);
  free(members);
  free(member);
  return pass;
}
