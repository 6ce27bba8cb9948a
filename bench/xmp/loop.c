/* A loop over aligned arrays beside the same loop over private arrays of the same length: block, and cyclic(1), whose
 * body is that of another element each time. Each node prints nothing but node 0 its own times, of which the best
 * counts, and the sums, which must be equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmp.h>

#include "../../apps/common/clock.h"

#define N 32768 /* in the caches, so that the instructions of the loop are what is measured */
enum { LENGTH = N, TURNS = 100 };

#pragma xmp nodes p[*]
#pragma xmp template t[LENGTH]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[LENGTH]
#pragma xmp distribute u[cyclic] onto p
double a[LENGTH], b[LENGTH], c[LENGTH], d[LENGTH];
#pragma xmp align[i] with t[i] ::a, b
#pragma xmp align[i] with u[i] ::c, d
static double e[LENGTH], f[LENGTH];

static double best(double before, double started) {
  const double seconds = now() - started;
  return before == 0 || seconds < before ? seconds : before;
}

__attribute__((noinline)) static void on_private(double* restrict to, const double* restrict from, int from_, int to_) {
  for (int i = from_; i < to_; i++) to[i] = to[i] * 0.5 + from[i];
}

__attribute__((noinline)) static void on_block(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < LENGTH; i++) a[i] = a[i] * 0.5 + b[i];
}

__attribute__((noinline)) static void on_cyclic(void) {
#pragma xmp loop on u[i]
  for (int i = 0; i < LENGTH; i++) c[i] = c[i] * 0.5 + d[i];
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200, own = LENGTH / xmp_num_nodes();
  double block = 0, cyclic = 0, private = 0, sums[2] = {0}, expected = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < LENGTH; i++) b[i] = i;
#pragma xmp loop on u[i]
  for (int i = 0; i < LENGTH; i++) d[i] = i;
  for (int i = 0; i < LENGTH; i++) f[i] = i;
  for (int round = 0; round < rounds; round++) {
    double started = now();
    for (int turn = 0; turn < TURNS; turn++) on_block();
    block = best(block, started);
    started = now();
    for (int turn = 0; turn < TURNS; turn++) on_private(e, f, 0, own);
    private = best(private, started);
    started = now();
    for (int turn = 0; turn < TURNS; turn++) on_cyclic();
    cyclic = best(cyclic, started);
  }
  for (int turn = 0; turn < TURNS * rounds; turn++) on_private(e, f, own, LENGTH);
  for (int i = 0; i < LENGTH; i++) expected += e[i];
#pragma xmp loop on t[i] reduction(+ : sums)
  for (int i = 0; i < LENGTH; i++) sums[0] += a[i];
#pragma xmp loop on u[i] reduction(+ : sums)
  for (int i = 0; i < LENGTH; i++) sums[1] += c[i];
  if (xmpc_node_num() == 0)
    printf("{\"block\": %.9f, \"cyclic\": %.9f, \"private\": %.9f, \"sums\": [%.17g, %.17g, %.17g]}\n", block, cyclic,
           private, sums[0], sums[1], expected);
  return 0;
}
