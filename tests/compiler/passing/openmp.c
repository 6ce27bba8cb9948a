#include <omp.h>
#include <stdio.h>
#define N 1000
#define DO_PRAGMA(x) _Pragma(#x)
static double a[N], b[N];
static int each;
#pragma omp threadprivate(each)
#pragma omp declare simd
static double twice(double x) { return 2 * x; }
#pragma omp declare reduction(longest : int : omp_out = omp_in > omp_out ? omp_in : omp_out) initializer(omp_priv = 0)

int main(void) {
  int longest = 0, n = N;
  double s = 0, shared = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : s) default(none) shared(a, b, n)
  for (int i = 0; i < n; i++) {
    a[i] = b[i] = i;
    s += a[i];
  }
#pragma omp parallel shared(shared) num_threads(2)
  {
#pragma omp single nowait
    shared = s;
#pragma omp critical (shared)
    each++;
#pragma omp barrier
#pragma omp master
    each--;
#pragma omp for simd collapse(2)
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++) a[10 * i + j] = twice(b[i]);
#pragma omp sections
    {
#pragma omp section
      each++;
    }
#pragma omp task depend(out : shared)
    { each += 1; }
#pragma omp taskwait
  }
  DO_PRAGMA(omp parallel for reduction(longest : longest))
  for (int i = 0; i < N; i++) longest = i > longest ? i : longest;
#pragma omp parallel for ordered lastprivate(n)
  for (int i = 0; i < N; i++) a[i] += 1;
#pragma omp atomic update
  s += 1;
  printf("%g %g %d\n", s, shared, longest);
  return 0;
}
