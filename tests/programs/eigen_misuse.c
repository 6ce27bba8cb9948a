/* Wrong uses of eigen.h, by name; eigen_misuse.py checks what comes of them. */
#include <eigen.h>
#include <math.h>

#include "programs.h"

enum { N = 200 };

static double coupling = -1;

/* Row i of the matrix of one dimension, and, where `context` says so, an entry that makes it not symmetric. */
static int64_t row(int64_t i, int64_t columns[], void* values, void* context) {
  double* const v = values;
  int64_t n = 0;
  if (i > 0) columns[n] = i - 1, v[n++] = strcmp(context, "not_hermitian") == 0 ? coupling / 2 : coupling;
  columns[n] = i, v[n++] = 2;
  if (i < N - 1) columns[n] = i + 1, v[n++] = coupling;
  return n;
}

static void not_a_number(const void* x, void* y, void* context) {
  const hiroba_linop_facts facts = hiroba_linop_look(*(hiroba_linop*)context);
  (void)x;
  for (int64_t i = facts.first; i < facts.first + facts.count; i++) ((double*)y)[i] = i == 150 ? NAN : 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const name = argv[1];
#define IS(which) (strcmp(name, which) == 0)
  sms_startup(&argc, &argv);
  hiroba_linop a = hiroba_linop_from_rows(HIROBA_DOUBLE, N, 3, row, (void*)name, 0);
  hiroba_linop broken = hiroba_linop_from_function(HIROBA_DOUBLE, N, not_a_number, &a, a);
  hiroba_linop other = hiroba_linop_from_function(HIROBA_DOUBLE, 7, not_a_number, &a, HIROBA_NO_LINOP);
  hiroba_linop ilu = hiroba_linop_ilu(a, 0); /* exact, so few steps */
  hiroba_eigen how = {.count = 2, .part = HIROBA_SMALLEST, .preconditioner = ilu, .absolute = 1e-10};
  hiroba_solver correction = {.method = IS("correction_method") ? 17 : HIROBA_MINRES};
  double values[2 * N + 2], residuals[N + 1];
  if (IS("too_many_pairs")) how.count = N + 1;
  if (IS("negative")) how.count = -3;
  if (IS("no_convergence")) how.most = 20, how.preconditioner = HIROBA_NO_LINOP;
  if (IS("rounding")) how.absolute = 1e-20;
  if (IS("part")) how.part = 9;
  if (IS("target_nan")) how.part = HIROBA_CLOSEST, how.target[0] = NAN;
  if (IS("target_complex")) how.part = HIROBA_CLOSEST, how.target[1] = 1;
  if (IS("harmonic")) how.harmonic = 1;
  if (IS("general")) how.general = 1;
  if (IS("space")) how.space = 5, how.restart = 8;
  if (IS("tolerance")) how.absolute = -1;
  if (IS("preconditioner")) how.preconditioner = other;
  if (IS("correction_method")) how.correction = &correction;
  if (IS("no_how")) (void)hiroba_eigenpairs(a, NULL, values, residuals, NULL);
  if (IS("no_values")) (void)hiroba_eigenpairs(a, &how, NULL, residuals, NULL);
  if (IS("no_operator")) (void)hiroba_eigenpairs(HIROBA_NO_LINOP, &how, values, residuals, NULL);
  double* private_vectors[2] = {values, values + N};
  const hiroba_eigen_result got = hiroba_eigenpairs(IS("nan") ? broken : a, &how, values, residuals,
                                                    IS("private") ? (void* const*)private_vectors : NULL);
  hiroba_linop_free(&broken), hiroba_linop_free(&other), hiroba_linop_free(&ilu), hiroba_linop_free(&a);
  sms_shutdown();
  return got.count == 2 ? 0 : 1;
}
