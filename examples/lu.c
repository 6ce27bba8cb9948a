/* lu.c: solves a dense system of linear equations by Gaussian elimination with partial pivoting, as the HPL benchmark
 * does, in XcalableMP's global view.
 *
 * The columns of the matrix are distributed in turn (cyclic), so that all nodes have work until the end. The owner of a
 * column chooses its pivot and sends the multipliers to all (gmove to memory of each node); every node then updates its
 * own columns. The right side is one more column. Run it with
 *
 *     hirobacc -O3 lu.c -lm -o lu && hirobarun -n 4 ./lu 1000
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>

#pragma xmp nodes nodes[*]

/* Element (i, j) of the matrix, between -0.5 and 0.5; the same on each node. */
static double element(int64_t i, int64_t j) {
  uint64_t x = (uint64_t)(i << 32 | j) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
  return (double)(x >> 11) * 0x1p-53 - 0.5;
}

/* || A x - b || / (eps (|| A || || x || + || b ||) n), in maximum norms: HPL demands less than 16. */
static double residual(int n, const double* x) {
  double worst = 0, of_a = 0, of_x = 0, of_b = 0;
  for (int i = 0; i < n; i++) {
    double sum = -element(i, n), row = 0;
    for (int j = 0; j < n; j++) sum += element(i, j) * x[j], row += fabs(element(i, j));
    worst = fmax(worst, fabs(sum));
    of_a = fmax(of_a, row), of_x = fmax(of_x, fabs(x[i])), of_b = fmax(of_b, fabs(element(i, n)));
  }
  return worst / (DBL_EPSILON * (of_a * of_x + of_b) * n);
}

/* Solves the system of the elements above. a[j][i] is the one in row i and column j. */
// clang-format off: it takes sections for labels
static void solve(int n, double* x) {
  double a[n + 1][n], *column = x;
#pragma xmp template t[n + 1]
#pragma xmp distribute t[cyclic] onto nodes
#pragma xmp align a[j][*] with t[j]

#pragma xmp loop on t[j]
  for (int j = 0; j <= n; j++)
    for (int i = 0; i < n; i++) a[j][i] = element(i, j);

  for (int k = 0; k < n; k++) {
    int pivot = k;
#pragma xmp task on t[k]
    {
      for (int i = k + 1; i < n; i++)
        if (fabs(a[k][i]) > fabs(a[k][pivot])) pivot = i;
      const double chosen = a[k][pivot];
      a[k][pivot] = a[k][k], a[k][k] = chosen;
      for (int i = k + 1; i < n; i++) a[k][i] /= chosen;
    }
#pragma xmp bcast(pivot) from t[k]
#pragma xmp gmove
    column[k:n - k] = a[k][k:n - k];
#pragma xmp loop on t[j]
    for (int j = k + 1; j <= n; j++) {
      const double top = a[j][pivot];
      a[j][pivot] = a[j][k], a[j][k] = top;
      for (int i = k + 1; i < n; i++) a[j][i] -= column[i] * top;
    }
  }

  double upper[n];
#pragma xmp gmove
  x[0:n] = a[n][0:n];
  for (int k = n - 1; k >= 0; k--) {
#pragma xmp gmove
    upper[0:k + 1] = a[k][0:k + 1];
    x[k] /= upper[k];
    for (int i = 0; i < k; i++) x[i] -= upper[i] * x[k];
  }
}
// clang-format on

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 300;
  if (n < 1) {
    if (xmpc_node_num() == 0) fprintf(stderr, "lu: the order must be a positive number, not '%s'\n", argv[1]);
    return 2;
  }
  double* x = malloc((size_t)n * sizeof *x);
  const double start = xmp_wtime();
  solve(n, x);
  const double seconds = xmp_wtime() - start, error = residual(n, x);
  if (xmpc_node_num() == 0) {
    printf("order %d on %d nodes: %.3f s, %.2f Gflop/s\n", n, xmp_num_nodes(), seconds, 2e-9 / 3 * n * n * n / seconds);
    printf("residual %.3g: %s\n", error, error < 16 ? "PASSED" : "FAILED");
  }
  free(x);
  return !(error < 16);
}
