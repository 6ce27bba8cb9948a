/* The Himeno benchmark in XcalableMP's global view: the sequential program with directives. */
#include <xmp.h>

#include "himeno.h"

#pragma xmp nodes nodes[*]

static double over_nodes(double mine, bool sum) {
  if (sum) {
#pragma xmp reduction(+ : mine)
  } else {
#pragma xmp reduction(max : mine)
  }
  return mine;
}

static double sum_over_nodes(double mine) { return over_nodes(mine, true); }
static double max_over_nodes(double mine) { return over_nodes(mine, false); }

/* Returns gosa of the last step. */
static double jacobi(himeno* h, uint64_t* bits) {
  const int rows = h->rows, columns = h->columns, depth = h->depth;
  float p[rows][columns][depth], bnd[rows][columns][depth], wrk1[rows][columns][depth], wrk2[rows][columns][depth];
  float a0[rows][columns][depth], a1[rows][columns][depth], a2[rows][columns][depth], a3[rows][columns][depth];
  float b0[rows][columns][depth], b1[rows][columns][depth], b2[rows][columns][depth];
  float c0[rows][columns][depth], c1[rows][columns][depth], c2[rows][columns][depth];
  double gosa = 0;
  uint64_t sum = 0;
#pragma xmp template t[rows][columns][depth]
#pragma xmp distribute t[block][*][*] onto nodes
#pragma xmp align[i][j][k] with t[i][j][k] ::p, bnd, wrk1, wrk2, a0, a1, a2, a3, b0, b1, b2, c0, c1, c2
#pragma xmp shadow p[1][0][0]

#pragma xmp loop on t[i][*][*]
  for (int i = 0; i < rows - 1; i++)
    for (int j = 0; j < columns - 1; j++)
      for (int k = 0; k < depth - 1; k++) {
        p[i][j][k] = himeno_start(h, i);
        a0[i][j][k] = a1[i][j][k] = a2[i][j][k] = 1;
        a3[i][j][k] = 1.0f / 6;
        c0[i][j][k] = c1[i][j][k] = c2[i][j][k] = 1;
        bnd[i][j][k] = 1;
      }
  run_start(&h->run, &h->team, 0, h->steps);
  for (int step = 0; step < h->steps; step++) {
    gosa = 0;
#pragma xmp reflect(p)
#pragma xmp loop on t[i][*][*] reduction(+ : gosa)
    for (int i = 1; i < rows - 2; i++)
      for (int j = 1; j < columns - 2; j++)
        for (int k = 1; k < depth - 2; k++) {
          const float s0 =
              a0[i][j][k] * p[i + 1][j][k] + a1[i][j][k] * p[i][j + 1][k] + a2[i][j][k] * p[i][j][k + 1] +
              b0[i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) +
              b1[i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) +
              b2[i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) +
              c0[i][j][k] * p[i - 1][j][k] + c1[i][j][k] * p[i][j - 1][k] + c2[i][j][k] * p[i][j][k - 1] +
              wrk1[i][j][k];
          const float ss = (s0 * a3[i][j][k] - p[i][j][k]) * bnd[i][j][k];
          gosa += ss * ss;
          wrk2[i][j][k] = p[i][j][k] + HIMENO_OMEGA * ss;
        }
#pragma xmp loop on t[i][*][*]
    for (int i = 1; i < rows - 2; i++)
      for (int j = 1; j < columns - 2; j++)
        for (int k = 1; k < depth - 2; k++) p[i][j][k] = wrk2[i][j][k];
  }
  run_stop(&h->run);
#pragma xmp loop on t[i][*][*]
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      for (int k = 0; k < depth; k++) sum += himeno_bits(h, i, j, k, p[i][j][k]);
  *bits = sum;
  return gosa;
}

int main(int argc, char** argv) {
  himeno h;
  uint64_t bits;
  const team team = {xmpc_node_num(), xmp_num_nodes(), max_over_nodes, sum_over_nodes, xmp_finalize, "himeno_global"};
  himeno_begin(&h, team, argc, argv);
  const double gosa = jacobi(&h, &bits);
  return himeno_finish(&h, gosa, bits);
}
