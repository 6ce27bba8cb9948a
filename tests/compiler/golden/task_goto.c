/* goto, break and continue that stay in the body of a directive. */
#include <smint.h>
#include <task.h>
#include "check.h"

#pragma SMint shared ::[NPROCS](0,NPROCS)
int w[64], v[64];
#pragma SMint shared ::[](0,1)
int t, u;
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 64; i++) {
    int k = 0;
  again:
    if (++k < i % 7) goto again;
    switch (k) { case 3: goto done; case 4: k += 10; break; default: k += 100; }
    for (;;) { if (k > 200) break; k++; continue; }
  done:
    w[i] = k;
  }
#pragma SMint single
  { int n = 0;
  more: n++; if (n < 5) goto more;
    u = n; }
#pragma SMint critical
  { int n = 0; back: if (++n < 3) goto back; t += n; }
#pragma SMint barrier
#pragma hiroba taskloop grainsize(8) out(v[i])
  for (int i = 0; i < 64; i++) {
    int inner(int x) { return x + 1; }
    int k = 0;
  up: if (k < i) { k = inner(k); goto up; }
    v[i] = k;
  }
#pragma hiroba taskwait
#pragma SMint barrier
  int s = 0;
  for (int i = 0; i < 64; i++) s += w[i] * (i + 1) + v[i];
  return verdict(s != 363072 || u != 5 || t != 3 * NPROCS);
}
