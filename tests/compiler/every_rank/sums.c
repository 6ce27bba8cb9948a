/* Sums and counts in private memory of which each rank gets those of its own iterations: errors, without reduction. */
#include <smint.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int x[N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N];
static int of_the_file[16];
struct sums {
  int n;
  double v[4];
};

static int arrays(const int* at) {
  int h[16] = {0}, h2[4][4] = {{0}}, b[16] = {0};
#pragma SMint parallel for
  for (int i = 0; i < N; i++) h[x[i]]++; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[at[i]] = b[at[i]] + 1; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 4; k++) h2[k][x[i] % 4] += 2; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) of_the_file[x[i] & 15] += 1; /* own iterations */
  return h[1] + h2[1][2] + b[3] + of_the_file[2];
}

static void of_a_parameter(struct sums* s, int* h) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) s->v[x[i] % 4] += a[i]; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) h[x[i]] += 2; /* own iterations */
}

static void extremes(struct sums* s, double* least, double* h) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (a[i] < *least) *least = a[i]; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (s->v[1] < a[i]) s->v[1] = a[i]; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (a[i] >= h[2]) h[2] = a[i]; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    double most[2] = {0};
    for (int k = 0; k < 4; k++)
      if (most[1] < a[i] * k) most[1] = a[i] * k;
    if (s->n == 0) s->n = 1; /* each rank does this once */
    a[i] = most[1];
  }
}

static double others(void) {
  struct sums s = {0};
  double total = 0, *p = &total;
  int *h = calloc(16, sizeof *h), g[16] = {0};
#pragma SMint parallel for
  for (int i = 0; i < N; i++) s.n++; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) *p += a[i]; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) h[x[i]]++; /* own iterations */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    int* q = &g[x[i]];
    *q += 1; /* own iterations */
  }
  of_a_parameter(&s, g);
  extremes(&s, &s.v[2], s.v);
  total += h[3] + s.n + g[1];
  free(h);
  return total;
}

static double what_is_right(void) {
  double begun_anew[3], part[8] = {0};
  int h[16] = {0};
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    double own[2] = {0};
    begun_anew[0] = begun_anew[1] = 0;
    for (int k = 0; k < 2; k++) begun_anew[k] += a[i];
    own[x[i] % 2] += begun_anew[1];
    a[i] = begun_anew[0] + own[1];
  }
#pragma SMint parallel for reduction(+ : h)
  for (int i = 0; i < N; i++) h[x[i]]++;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) part[MYPID] += a[i];
  return begun_anew[0] + part[MYPID] + h[1];
}

int main(void) {
  int at[N] = {0};
  return arrays(at) + others() > what_is_right();
}
