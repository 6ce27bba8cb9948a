/* Wrong uses of blas.h, by name; blas_misuse.py checks what comes of them. */
#include <blas.h>

#include "programs.h"

static double* numbers(int n) {
  const int dim[] = {n, -1}, div[] = {sms_nprocs, -1};
  return sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
}

static void use(const char* name, double* x, double* y) {
  static double mine[100];
  if (strcmp(name, "private") == 0) hiroba_daxpy(100, 2.0, mine, 1, y, 1);
  if (strcmp(name, "too_long") == 0) hiroba_daxpy(101, 2.0, x, 1, y, 1);
  if (strcmp(name, "too_far") == 0) hiroba_daxpy(34, 2.0, x, 3, y + 1, -3);
  if (strcmp(name, "no_distance") == 0) hiroba_dscal(100, 2.0, x, 0);
  if (strcmp(name, "negative") == 0) sms_reduce_double(hiroba_dnrm2(-1, x, 1), SMS_SUM);
  if (strcmp(name, "freed") == 0) sms_free(x), hiroba_dcopy(100, x, 1, y, 1);
  if (strcmp(name, "order") == 0) hiroba_dgemv(1, HIROBA_TRANS, 5, 5, 1, x, 5, x, 1, 0, y, 1);
  if (strcmp(name, "trans") == 0) hiroba_dgemv(HIROBA_ROW_MAJOR, 'T', 5, 5, 1, x, 5, x, 1, 0, y, 1);
  if (strcmp(name, "narrow") == 0) hiroba_dgemv(HIROBA_ROW_MAJOR, HIROBA_TRANS, 5, 6, 1, x, 5, x, 1, 0, y, 1);
  if (strcmp(name, "too_large") == 0) hiroba_dger(HIROBA_COL_MAJOR, 10, 11, 1, x, 1, x, 1, y, 10);
  if (strcmp(name, "lengths") == 0) (void)hiroba_ddot(sms_rank == 0 ? 100 : 99, x, 1, y, 1);
  if (strcmp(name, "not_waited") == 0) {
    static double result;
    hiroba_request request;
    hiroba_ddot_start(100, x, 1, y, 1, &result, &request);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "not_started") == 0) (void)hiroba_ddot(1, (double*)0, 1, (double*)0, 1);
  sms_startup(&argc, &argv);
  double* const x = numbers(100);
  double* const y = numbers(100);
  sms_barrier();
  use(argv[1], x, y);
  sms_shutdown();
  return 0;
}
