/* What stands around declarations in real programs: attributes, alignment, qualifiers, old-style parameters. */
#include <smint.h>
#include "check.h"

enum { N = 50 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
static double aligned[N] __attribute__((aligned(64)));
#pragma SMint shared ::[NPROCS](0, NPROCS)
static _Alignas(64) float wide[N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
volatile int seen[N];
#pragma SMint shared ::[](0, 1)
const double weights[3] = {0.25, 0.5, 0.25};
typedef struct {
  double x, y;
  struct {
    float w[3];
  } in;
  unsigned flag : 3;
} __attribute__((packed)) Body;
#pragma SMint shared ::[NPROCS](0, NPROCS)
Body bodies[N] __attribute__((unused)), old[N];

static double dot(aligned, wide, n) double aligned[];
float* wide;
int n;
{
  double sum = 0;
  int i;
  for (i = 0; i < n; i++) sum += aligned[i] * wide[i];
  return sum;
}

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    aligned[i] = i, wide[i] = 2, i[seen] = i;
    bodies[i].x = i, bodies[i].y = -i, bodies[i].in.w[1] = i / 2.0f, bodies[i].flag = i & 7;
  }
#pragma SMint parallel for
  for (int i = 1; i < N - 1; i++) {
    old[i].x = bodies[i - 1].x * weights[0] + bodies[i].x * weights[1] + bodies[i + 1].x * weights[2];
    old[i].in.w[i % 3] = bodies[i].in.w[1];
    old[i].flag = bodies[i + 1].flag;
  }
  int wrong = dot(aligned, wide, N) != N * (N - 1);
  for (int i = 1; i < N - 1; i++)
    wrong += (old[i].x != i) + (old[i].in.w[i % 3] != i / 2.0f) + (old[i].flag != ((i + 1) & 7)) + (seen[i] != i);
  return verdict(wrong);
}
