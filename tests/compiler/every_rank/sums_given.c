/* Sums in memory of callers in other files, private or shared: wrong for both, so warnings. */
#include <smint.h>

enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double x[N], y[N];
struct sums {
  double all, parts[4];
};

void plain(double* sum) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) *sum += x[i]; /* of callers */
}
void member(struct sums* to) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) to->all = to->all + x[i]; /* of callers */
}
void element(double sums[], int which) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) sums[which] += x[i]; /* of callers */
}
void inner(double* sums) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 4; j++) sums[j] += x[i] * j; /* of callers */
}
void largest(double* most) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (x[i] > *most) *most = x[i]; /* of callers */
}
void counted(long* n, double limit) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (x[i] > limit) ++*n; /* of callers */
}

void right(double* sum, double* v, double* parts, int one) {
  double here = 0;
#pragma SMint parallel for reduction(+ : here)
  for (int i = 0; i < N; i++) here += x[i];
  *sum += here;
#pragma SMint parallel for reduction(+ : sum[0 : 1])
  for (int i = 0; i < N; i++) sum[0] += x[i];
#pragma SMint parallel for
  for (int i = 0; i < N; i++) v[i] += x[i];
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
#pragma SMint critical
    *sum += x[i];
  }
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    sms_lock(3);
    *sum += x[i];
    sms_unlock(3);
  }
#pragma SMint parallel for
  for (int i = 0; i < N; i++) parts[MYPID] += x[i];
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (i == one) *sum += x[i];
#pragma SMint parallel for independent
  for (int i = 0; i < N; i++) *sum += 0;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    double* of = v + i;
    *of += x[i];
  }
}
