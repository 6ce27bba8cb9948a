/* Conjugate Gradient in XcalableMP's global view: vectors are aligned with a template, each node has the rows of the
 * matrix that it owns of it, and of the vectors that it multiplies a full shadow, which reflect fills. It takes any
 * number of nodes. */
#include <math.h>
#include <xmp.h>

#include "cg.h"

#pragma xmp nodes nodes[*]

static double sum_over_nodes(double mine) {
#pragma xmp reduction(+ : mine)
  return mine;
}

/* Row i of the matrix times a vector. */
static inline double multiply_row(const cg_job* job, int i, const double* vector) {
  const int* const restrict start = job->start + (i - job->first_row);
  double sum = 0;
  for (int k = start[0]; k < start[1]; k++) sum += job->value[k] * vector[job->column[k]];
  return sum;
}

static int run(cg_job* job, npb* n) {
  const int order = job->order;
  int first = 0, height = 0;
  double x[order], z[order], p[order], q[order], r[order], zeta = 0;
#pragma xmp template t[order]
#pragma xmp distribute t[block] onto nodes
#pragma xmp align[i] with t[i] ::x, z, p, q, r
#pragma xmp shadow[*] ::p, z

#pragma xmp loop on t[i]
  for (int i = 0; i < order; i++) {
    if (height++ == 0) first = i;
    x[i] = 1;
  }
  cg_take_rows(job, n, first, height, (order - 1) / n->team.count + 1);

  for (int pass = 0; pass <= job->iterations; pass++) {
    double rho = 0, residual = 0, product = 0, norm = 0;
    if (pass == 1) {
#pragma xmp loop on t[i]
      for (int i = 0; i < order; i++) x[i] = 1;
      npb_start(n);
    }
#pragma xmp loop on t[i] reduction(+ : rho)
    for (int i = 0; i < order; i++) {
      z[i] = 0;
      r[i] = p[i] = x[i];
      rho += r[i] * r[i];
    }
    for (int step = 0; step < CG_STEPS; step++) {
      double curvature = 0;
      const double before = rho;
      n->communication -= now();
#pragma xmp reflect(p)
      n->communication += now();
#pragma xmp loop on t[i] reduction(+ : curvature)
      for (int i = 0; i < order; i++) {
        q[i] = multiply_row(job, i, p);
        curvature += p[i] * q[i];
      }
      const double alpha = rho / curvature;
      rho = 0;
#pragma xmp loop on t[i] reduction(+ : rho)
      for (int i = 0; i < order; i++) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        rho += r[i] * r[i];
      }
      const double beta = rho / before;
#pragma xmp loop on t[i]
      for (int i = 0; i < order; i++) p[i] = r[i] + beta * p[i];
    }
#pragma xmp reflect(z)
#pragma xmp loop on t[i] reduction(+ : residual, product, norm)
    for (int i = 0; i < order; i++) {
      const double rest = x[i] - multiply_row(job, i, z);
      residual += rest * rest;
      product += x[i] * z[i];
      norm += z[i] * z[i];
    }
    zeta = job->shift + 1 / product;
    norm = sqrt(norm);
#pragma xmp loop on t[i]
    for (int i = 0; i < order; i++) x[i] = z[i] / norm;
    cg_report(n, pass, sqrt(residual), zeta);
  }
  npb_stop(n);
  return cg_finish(job, n, zeta);
}

int main(int argc, char** argv) {
  npb n;
  npb_team team = {.rank = xmpc_node_num(), .count = xmp_num_nodes(), .sum = sum_over_nodes, .leave = xmp_finalize};
  npb_begin(&n, "CG", "cg_global", team, false, argc, argv);
  cg_job job = cg_of_class(&n);
  return run(&job, &n);
}
