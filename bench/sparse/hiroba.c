/* Products and CG by sparse.h. */
#include <sms.h>
#include <sparse.h>

#include "main.h"

static void multiply(const problem* p, hiroba_linop a) {
  double* const x = hiroba_linop_vector(a);
  double* const y = hiroba_linop_vector(a);
  const hiroba_linop_facts f = hiroba_linop_look(a);
  for (int64_t i = f.first; i < f.first + f.count; i++) x[i] = element(i);
  for (int t = 0; t < 3; t++) hiroba_linop_apply(a, x, y);
  double times[p->times];
  for (int t = 0; t < p->times; t++) {
    sms_barrier();
    const double begin = now();
    hiroba_linop_apply(a, x, y);
    times[t] = sms_reduce_double(now() - begin, SMS_MAX);
  }
  double sum = 0;
  for (int64_t i = f.first; i < f.first + f.count; i++) sum += y[i] * weight(i);
  sum = sms_reduce_double(sum, SMS_SUM);
  if (sms_rank == 0) report(p, median(times, p->times), f.entries, sum, p->times);
}

static void solve(const problem* p, hiroba_linop a, int method) {
  double* const b = hiroba_linop_vector(a);
  double* const x = hiroba_linop_vector(a);
  const hiroba_linop_facts f = hiroba_linop_look(a);
  hiroba_linop m = hiroba_linop_jacobi(a);
  for (int64_t i = f.first; i < f.first + f.count; i++) b[i] = element(i);
  const hiroba_solver how = {
      .method = method, .preconditioner = m, .absolute = 1e-300, .most = p->times, .may_fail = 1};
  double times[3];
  hiroba_solution got = {0};
  for (int t = 0; t < 3; t++) {
    for (int64_t i = f.first; i < f.first + f.count; i++) x[i] = 0;
    sms_barrier();
    const double begin = now();
    got = hiroba_solve(a, b, x, &how);
    times[t] = sms_reduce_double(now() - begin, SMS_MAX);
  }
  double sum = 0;
  for (int64_t i = f.first; i < f.first + f.count; i++) sum += x[i] * weight(i);
  sum = sms_reduce_double(sum, SMS_SUM);
  if (sms_rank == 0) report(p, median(times, 3) / (double)got.iterations, f.entries, sum, got.iterations);
}

int main(int argc, char** argv) {
  problem p = read_problem(argc, argv);
  sms_startup(&argc, &argv);
  const int flags = strcmp(p.format, "csr") == 0 ? HIROBA_CSR : strcmp(p.format, "sell") == 0 ? HIROBA_SELL : 0;
  hiroba_linop const a = hiroba_linop_from_rows(HIROBA_DOUBLE, p.rows, MOST, fill_row, &p, flags);
  sms_barrier(), sms_barrier();
  if (strcmp(p.what, "spmv") == 0) multiply(&p, a);
  else solve(&p, a, strcmp(p.what, "pipelined") == 0 ? HIROBA_PIPELINED_CG : HIROBA_CG);
  sms_shutdown();
  return 0;
}
