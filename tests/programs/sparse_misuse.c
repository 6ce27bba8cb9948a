/* Wrong uses of sparse.h, by name; sparse_misuse.py checks what comes of them. */
#include <blas.h>
#include <complex.h>
#include <fcntl.h>
#include <math.h>
#include <sparse.h>
#include <unistd.h>

#include "programs.h"

enum { N = 200 };

/* Row i of the matrix of one dimension: 2 on the diagonal, -1 beside it; what `context` names is wrong in row 150. */
static int64_t row(int64_t i, int64_t columns[], void* values, void* context) {
  double* const v = values;
  const char* const wrong = context;
  int64_t n = 0;
  if (i > 0) columns[n] = i - 1, v[n++] = -1;
  columns[n] = i, v[n++] = 2;
  if (i < N - 1) columns[n] = i + 1, v[n++] = -1;
  if (i != 150) return n;
  if (strcmp(wrong, "no_diagonal") == 0) v[1] = 0;
  if (strcmp(wrong, "not_symmetric") == 0) v[0] = -1.5;
  if (strcmp(wrong, "slightly_not_symmetric") == 0) v[0] = -1 - 1e-8;
  if (strcmp(wrong, "symmetric_to_rounding") == 0) v[0] = -1 - 1e-15;
  if (strcmp(wrong, "outside") == 0) columns[2] = N;
  if (strcmp(wrong, "nan") == 0) v[2] = NAN;
  if (strcmp(wrong, "indefinite") == 0) v[1] = -3;
  if (strcmp(wrong, "too_many") == 0) n = 4;
  return n;
}

static hiroba_linop matrix(const char* wrong, int flags) {
  return hiroba_linop_from_rows(HIROBA_DOUBLE, N, 3, row, (void*)wrong, flags);
}

static void read_text(const char* text, size_t bytes, int flags) {
  char path[] = "sparse_misuse-XXXXXX";
  if (sms_rank == 0) {
    const int file = mkstemp(path);
    if (write(file, text, bytes) != (ssize_t)bytes) sms_abort(3, "cannot write");
    close(file);
  }
  hiroba_bcast(path, sizeof path, HIROBA_CHAR, 0, HIROBA_ALL);
  sms_barrier();
  const int file = open(path, O_RDONLY); /* the file goes with the job, which ends in the call */
  static char name[40];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  hiroba_barrier(HIROBA_ALL);
  if (sms_rank == 0) unlink(path);
  (void)hiroba_linop_read(name, HIROBA_DOUBLE, flags);
}

static void files(const char* name) {
#define TEXT_SAID(which, flags, text) \
  if (strcmp(name, which) == 0) read_text(text, sizeof text - 1, flags)
#define TEXT(which, text) TEXT_SAID(which, 0, text)
  const char* const none = "no-such-file.mtx";
  if (strcmp(name, "no_file") == 0) (void)hiroba_linop_read(none, HIROBA_DOUBLE, 0);
  if (strcmp(name, "file_folder") == 0) (void)hiroba_linop_read(".", HIROBA_DOUBLE, 0);
  TEXT("file_empty", "");
  TEXT("file_binary",
       "\x7f"
       "ELF\0\1\2");
  TEXT("file_dense", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  TEXT("file_wide", "%%MatrixMarket matrix coordinate real general\n% a comment\n2 3 1\n1 1 1\n");
  TEXT("file_outside", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n%\n3 1 5\n");
  TEXT("file_zero_based", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n0 1 5\n");
  TEXT("file_short", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 2 5\n");
  TEXT("file_cut", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2");
  TEXT("file_cut_early", "%%MatrixMarket matrix coordinate real general\n% only");
  TEXT("file_words", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 one\n2 2 1\n");
  TEXT("file_zeros", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 \0\0\0 2 1\n");
  TEXT("file_nan", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 nan\n");
  TEXT("file_complex", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 2\n");
  TEXT("file_huge_number", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1e999\n");
  TEXT_SAID("file_not_hermitian", HIROBA_HERMITIAN,
            "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 4\n2 1 5\n");
  TEXT("file_above", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n1 2 3\n");
}

static void solve(hiroba_linop a, int method, hiroba_linop m, int64_t most, double start) {
  double* const b = hiroba_linop_vector(a);
  double* const x = hiroba_linop_vector(a);
  const hiroba_linop_facts facts = hiroba_linop_look(a);
  for (int64_t i = facts.first; i < facts.first + facts.count; i++) b[i] = i == 0 ? start : 1;
  const hiroba_solver how = {.method = method, .preconditioner = m, .most = most, .relative = 1e-10};
  (void)hiroba_solve(a, b, x, &how);
}

static void solvers(const char* name) {
  hiroba_linop a = matrix(name, 0);
  if (strcmp(name, "no_diagonal") == 0) (void)hiroba_linop_jacobi(a);
  if (strcmp(name, "indefinite") == 0) solve(a, HIROBA_CG, HIROBA_NO_LINOP, 0, 1);
  const struct {
    const char* name;
    int method;
  } of_symmetric[] = {{"cg_", HIROBA_CG}, {"pipelined_", HIROBA_PIPELINED_CG}, {"minres_", HIROBA_MINRES}};
  for (int i = 0; i < 3; i++)
    if (strncmp(name, of_symmetric[i].name, strlen(of_symmetric[i].name)) == 0 && strstr(name, "symmetric") != NULL)
      solve(matrix(strchr(name, '_') + 1, 0), of_symmetric[i].method, HIROBA_NO_LINOP,
            strstr(name, "slightly") != NULL ? 20 : 0, 1);
  if (strcmp(name, "no_convergence") == 0) solve(a, HIROBA_MINRES, HIROBA_NO_LINOP, 20, 1);
  if (strcmp(name, "b_nan") == 0) solve(a, HIROBA_GMRES, HIROBA_NO_LINOP, 0, NAN);
  if (strcmp(name, "method") == 0) solve(a, 17, HIROBA_NO_LINOP, 0, 1);
  if (strcmp(name, "wrong_rows") == 0) {
    const int64_t one = 0;
    const double value = 1;
    solve(a, HIROBA_CG, hiroba_linop_from_triplets(HIROBA_DOUBLE, 1, 1, &one, &one, &value, 0), 0, 1);
  }
  if (strcmp(name, "bad_preconditioner") == 0)
    solve(a, HIROBA_MINRES, hiroba_linop_jacobi(matrix("indefinite", 0)), 0, 1);
  if (strcmp(name, "different_settings") == 0) solve(a, HIROBA_CG, HIROBA_NO_LINOP, 50 + sms_rank, 1);
  if (strcmp(name, "restart") == 0) { /* 2^19 rows on each of 2 ranks, and as many vectors: 2 TiB */
    const int64_t n = 1 << 20;
    hiroba_linop wide = hiroba_linop_from_triplets(HIROBA_DOUBLE, n, 0, NULL, NULL, NULL, 0);
    double* const b = hiroba_linop_vector(wide);
    b[hiroba_linop_look(wide).first] = 1;
    const hiroba_solver how = {.method = HIROBA_GMRES, .restart = 1 << 19, .most = n};
    (void)hiroba_solve(wide, b, hiroba_linop_vector(wide), &how);
  }
  if (strcmp(name, "degree") == 0) (void)hiroba_linop_chebyshev(a, 0, 0, 0);
  if (strcmp(name, "different_bounds") == 0) (void)hiroba_linop_chebyshev(a, 3, 0, sms_rank);
  if (strcmp(name, "bounds") == 0) (void)hiroba_linop_chebyshev(a, 3, 2, 1);
  if (strcmp(name, "used") == 0) {
    (void)hiroba_linop_chebyshev(a, 3, 0, 0);
    hiroba_linop_free(&a);
  }
  if (strcmp(name, "of_preconditioner") == 0) (void)hiroba_linop_ilu(hiroba_linop_jacobi(a), 0);
  if (strcmp(name, "relax") == 0) (void)hiroba_linop_ilu(a, 1.5);
  if (strcmp(name, "different_relax") == 0) (void)hiroba_linop_ilu(a, sms_rank);
  if (strcmp(name, "no_operator") == 0) (void)hiroba_linop_vector(HIROBA_NO_LINOP);
  hiroba_linop copy = a;
  double* const x = strstr(name, "_of_freed") != NULL ? hiroba_linop_vector(a) : NULL;
  if (x != NULL) hiroba_linop_free(&a);
  if (strcmp(name, "product_of_freed") == 0) hiroba_linop_apply(copy, x, x);
  if (strcmp(name, "look_of_freed") == 0) (void)hiroba_linop_look(copy);
  if (strcmp(name, "free_of_freed") == 0) hiroba_linop_free(&copy);
  if (strcmp(name, "preconditioner_of_freed") == 0) solve(matrix("", 0), HIROBA_CG, copy, 50, 1);
}

static int stop_rank_0(int64_t iteration, double residual, void* context) {
  (void)residual, (void)context;
  return sms_rank == 0 && iteration == 5;
}

/* What one rank stops ends on all. */
static void stopped_by_one(void) {
  hiroba_linop a = matrix("", 0);
  double* const b = hiroba_linop_vector(a);
  double* const x = hiroba_linop_vector(a);
  const hiroba_linop_facts facts = hiroba_linop_look(a);
  for (int64_t i = facts.first; i < facts.first + facts.count; i++) b[i] = 1;
  for (int method = HIROBA_CG; method <= HIROBA_MINRES; method++) {
    const hiroba_solver how = {.method = method, .progress = stop_rank_0, .may_fail = 1};
    for (int64_t i = facts.first; i < facts.first + facts.count; i++) x[i] = 0;
    const hiroba_solution got = hiroba_solve(a, b, x, &how);
    if (got.status != HIROBA_STOPPED || got.iterations != 5) sms_abort(3, "it was not stopped");
  }
}

/* A matrix of complex numbers, of which one rank gives the entries. */
static hiroba_linop complex_matrix(int64_t count, const int64_t rows[], const int64_t columns[],
                                   const double complex values[]) {
  return hiroba_linop_from_triplets(HIROBA_DOUBLE_COMPLEX, N, sms_rank == 0 ? count : 0, rows, columns, values,
                                    HIROBA_HERMITIAN);
}

static void complex_matrices(const char* name) {
  const int64_t rows[] = {3, 150}, columns[] = {150, 3}, diagonal[] = {150};
  const double complex equal[] = {1 + 2 * I, 1 + 2 * I};
  if (strcmp(name, "not_hermitian") == 0) (void)complex_matrix(2, rows, columns, equal);
  if (strcmp(name, "one_side") == 0) (void)complex_matrix(1, rows, columns, equal);
  if (strcmp(name, "diagonal") == 0) (void)complex_matrix(1, diagonal, diagonal, equal);
}

/* Row 0 has no entry. */
static void singular_matrix(void) {
  const int64_t places[] = {1, 2};
  const double values[] = {1, 2};
  solve(hiroba_linop_from_triplets(HIROBA_DOUBLE, 3, sms_rank == 0 ? 2 : 0, places, places, values, 0), HIROBA_GMRES,
        HIROBA_NO_LINOP, 0, 1);
}

/* The last two rows are multiples of each other. */
static void singular_factors(void) {
  int64_t rows[N + 2], columns[N + 2];
  double values[N + 2];
  for (int i = 0; i < N; i++) rows[i] = columns[i] = i, values[i] = 1;
  rows[N] = N - 2, columns[N] = N - 1, values[N] = 1;
  rows[N + 1] = N - 1, columns[N + 1] = N - 2, values[N + 1] = 1;
  const int64_t count = sms_rank == 0 ? N + 2 : 0;
  (void)hiroba_linop_ilu(hiroba_linop_from_triplets(HIROBA_DOUBLE, N, count, rows, columns, values, 0), 0);
}

static void vectors(const char* name) {
  static double mine[N];
  hiroba_linop a = matrix(name, 0);
  const int dim[] = {N, -1}, div[] = {1, -1};
  double* const x = hiroba_linop_vector(a);
  double* const other = sms_mapalloc(dim, div, sizeof(double), 1, 1);
  if (strcmp(name, "short") == 0) {
    const int64_t one = 0;
    const double value = 1;
    hiroba_linop small = hiroba_linop_from_triplets(HIROBA_DOUBLE, 3, 1, &one, &one, &value, 0);
    hiroba_linop_apply(a, hiroba_linop_vector(small), x);
  }
  if (strcmp(name, "other_type") == 0) {
    hiroba_linop of_floats = hiroba_linop_from_triplets(HIROBA_FLOAT, N, 0, NULL, NULL, NULL, 0);
    hiroba_linop_apply(a, hiroba_linop_vector(of_floats), x);
  }
  if (strcmp(name, "private") == 0) hiroba_linop_apply(a, mine, x);
  if (strcmp(name, "other_distribution") == 0) hiroba_linop_apply(a, x, other);
  if (strcmp(name, "same_vector") == 0) hiroba_linop_apply(a, x, x);
  if (strcmp(name, "redistributed") == 0) { /* as the message says */
    double* const y = hiroba_linop_vector(a);
    hiroba_dcopy(N, other, 1, x, 1);
    hiroba_linop_apply(a, x, y);
    hiroba_dcopy(N, y, 1, other, 1);
  }
}

static void matrices(const char* name) {
  const int64_t place = -1;
  const double value = 1;
  if (strcmp(name, "outside") == 0 || strcmp(name, "nan") == 0 || strcmp(name, "too_many") == 0) (void)matrix(name, 0);
  if (strcmp(name, "not_symmetric") == 0) (void)matrix(name, HIROBA_SYMMETRIC);
  if (strcmp(name, "negative") == 0) (void)hiroba_linop_from_triplets(HIROBA_DOUBLE, N, 1, &place, &place, &value, 0);
  if (strcmp(name, "different_rows") == 0)
    (void)hiroba_linop_from_triplets(HIROBA_DOUBLE, N + sms_rank, 0, NULL, NULL, NULL, 0);
  if (strcmp(name, "huge") == 0)
    (void)hiroba_linop_from_triplets(HIROBA_DOUBLE, INT64_C(1) << 40, 0, NULL, NULL, NULL, 0);
  if (strcmp(name, "no_rows") == 0) (void)hiroba_linop_from_triplets(HIROBA_DOUBLE, 0, 0, NULL, NULL, NULL, 0);
  if (strcmp(name, "type") == 0) (void)hiroba_linop_from_triplets(HIROBA_INT, N, 0, NULL, NULL, NULL, 0);
  if (strcmp(name, "two_formats") == 0) (void)matrix("", HIROBA_CSR | HIROBA_SELL);
  if (strcmp(name, "triangle") == 0) (void)matrix("", HIROBA_ONE_TRIANGLE);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "not_started") == 0) (void)hiroba_linop_look(HIROBA_NO_LINOP);
  sms_startup(&argc, &argv);
  files(argv[1]);
  matrices(argv[1]);
  complex_matrices(argv[1]);
  if (strcmp(argv[1], "singular_factors") == 0) singular_factors();
  if (strcmp(argv[1], "singular_matrix") == 0) singular_matrix();
  if (strcmp(argv[1], "stopped_by_one") == 0) stopped_by_one();
  solvers(argv[1]);
  vectors(argv[1]);
  sms_shutdown();
  return 0;
}
