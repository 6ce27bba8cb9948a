/* points.h: the input of kmeans, and what a process does with it alone. */
#ifndef KMEANS_POINTS_H
#define KMEANS_POINTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct points {
  int count, dimensions, clusters;
  double* at;     /* point by point */
  double* centre; /* cluster by cluster */
} points;

/* Points around `around` places in the unit cube, (1/around)^3 away from them on the average, each dimension with mean
 * 0 and deviation 1 if `zscore`; some of them as the first centres. Returns false if there is no memory. */
bool points_make(points* p, int around, bool zscore, int seed);
void points_free(points* p);

/* The cluster whose centre is nearest. */
int points_nearest(const points* p, int point);

/* K-means in this thread alone, until less than `threshold` of the points move, or for `most` passes. Returns how many
 * there were, or -1 if there is no memory. */
int points_alone(points* p, double threshold, int most);

static inline double* points_row(double* of, const points* p, int row) { return of + (int64_t)row * p->dimensions; }

#endif
