/* Changes of shared data that ranks do not all make, or one after the other: not a word about these. */
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N];
#pragma SMint shared ::[](0, 1)
int total;
#pragma SMint shared ::[](0, 1)
int64_t next;

struct part {
  int lo, hi;
};
static void divide(struct part* p) {
  p->lo = MYPID * N / NPROCS;
  p->hi = (MYPID + 1) * N / NPROCS;
}
static void by_part(const struct part* p) {
  for (int i = p->lo; i < p->hi; i++) a[i] *= 2;
}
static void between(int lo, int hi) {
  for (int i = lo; i < hi; i++) a[i] += 1;
}
static void only_first(void) {
  if (MYPID != 0) return;
  total += 2;
}
static int rank_of(void) { return sms_rank; }
static int is_root(void) { return rank_of() == 0; }
static int me;
static void set_me(void) { me = sms_rank; }
static void by_variable_of_file(void) {
  if (me == 0) total++;
}
static void get(int* lo, int* hi) {
  *lo = MYPID;
  *hi = MYPID + 1;
}
static void perhaps(int wanted) {
  if (wanted) total++;
}
static void take(void) { sms_lock(9); }
static void give(void) { sms_unlock(9); }

static void private_data(void) {
  double t[N], *p = t, *h = malloc(N * sizeof *h);
  for (int i = 0; i < N; i++) t[i] = h[i] = i;
  for (int i = 0; i < N; i++) {
    *p++ *= 2;
    h[i] += 1;
  }
  free(h);
}

static void own_places(void) {
  int mine[N], n = 0, lo, hi, i;
  for (i = MYPID; i < N; i += NPROCS) mine[n++] = i;
  for (i = 0; i < n; i++) a[mine[i]] *= 3;
  get(&lo, &hi);
  between(lo, hi);
  double* q = a + MYPID;
  *q += 1;
  q = &a[lo];
  while (q < &a[hi]) *q++ *= 2;
  for (i = 0; i < N; i++) {
    if (i % NPROCS != MYPID) continue;
    a[i] *= 2;
  }
  for (i = 0; i < N; i++)
    if (i == MYPID) break;
  a[i] += 1;
}

int main(void) {
  struct part p;
  int64_t k;
  divide(&p);
  by_part(&p);
  only_first();
  if (is_root()) total++;
  set_me();
  by_variable_of_file();
  if (MYPID == 0) perhaps(1);
  perhaps(0);
  private_data();
  own_places();
  while ((k = sms_fetch_add(&next, 1)) < N) a[k] *= 2;
  take();
  total++;
  give();
#pragma SMint critical
  total++;
  switch (MYPID) {
    case 0: total++; break;
    case 1: a[3] += 1; break;
  }
  const int root = MYPID == 0;
  if (!root) goto end;
  total += 3;
end:
  return 0;
}
