#include <stdint.h>
#include <mpc.h>
#include "check.h"

typedef double real;
typedef struct { real x, y; } point;
typedef int row[16];
enum { N = 300 };
shared real a[N]::[NPROCS](0, NPROCS);
shared point p[N]::[NPROCS](0, NPROCS);
shared row rows[N]::[NPROCS](0, NPROCS);
shared uint64_t big[N]::[NPROCS](0, NPROCS);
shared unsigned long int words[N]::[NPROCS](0, NPROCS);

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == 0)
    for (int i = 0; i < N; i++) {
      a[i] = i;
      p[i] = (point){i, -i};
      rows[i][15] = i;
      big[i] = UINT64_MAX - i;
      words[i] = i;
    }
  mpc_barrier();
  int wrong = sizeof rows != N * 16 * sizeof(int);
  for (int i = 0; i < N; i++)
    wrong += a[i] != i || p[i].y != -i || rows[i][15] != i || big[i] != UINT64_MAX - i || words[i] != (unsigned long)i;
  verdict(wrong);
  return mpc_exit();
}
