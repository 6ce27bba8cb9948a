/* PBLAS of ScaLAPACK, on MPI: a column of processes, vectors and the rows of matrices in blocks, one per process, which
 * lie there by columns. */
#include <mpi.h>
#include <stdlib.h>

#include "contestant.h"

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);

typedef struct described {
  int of[9];
} described;

void pzaxpy_(const int* n, const number* a, const number* x, const int* ix, const int* jx, const int* of_x,
             const int* incx, number* y, const int* iy, const int* jy, const int* of_y, const int* incy);
void pzdotc_(const int* n, number* out, const number* x, const int* ix, const int* jx, const int* of_x, const int* incx,
             const number* y, const int* iy, const int* jy, const int* of_y, const int* incy);
void pdznrm2_(const int* n, double* out, const number* x, const int* ix, const int* jx, const int* of_x,
              const int* incx);
void pzgemv_(const char* trans, const int* m, const int* n, const number* alpha, const number* a, const int* ia,
             const int* ja, const int* of_a, const number* x, const int* ix, const int* jx, const int* of_x,
             const int* incx, const number* beta, number* y, const int* iy, const int* jy, const int* of_y,
             const int* incy);

static const int one = 1;
static int context, rank, ranks;

void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", ranks, 1);
}
void stop(void) {
  Cblacs_gridexit(context);
  MPI_Finalize();
}
int is_first(void) { return rank == 0; }
void wait_all(void) { MPI_Barrier(MPI_COMM_WORLD); }
double maximum(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/* Of m rows and n columns; the process has rows first .. first + count - 1. */
static described* describe(long m, long n, long* first, long* count) {
  const long block = (m + ranks - 1) / ranks;
  *first = rank * block < m ? rank * block : m;
  *count = *first + block < m ? block : m - *first;
  described* const d = malloc(sizeof *d);
  *d = (described){{1, context, (int)m, (int)n, (int)block, (int)n, 0, 0, *count > 0 ? (int)*count : 1}};
  return d;
}
static number* memory(long count) {
  const size_t bytes = ((size_t)count * sizeof(number) + 4095) / 4096 * 4096;
  return aligned_alloc(4096, bytes);
}
vector new_vector(long n) {
  vector v = {.n = n};
  v.all = describe(n, 1, &v.first, &v.count);
  v.data = memory(v.count);
  return v;
}
matrix new_matrix(long m, long n, char trans) {
  (void)trans;
  matrix a = {.m = m, .n = n, .row_step = 1};
  a.all = describe(m, n, &a.first, &a.count);
  a.column_step = a.count;
  a.data = memory(a.count * n);
  return a;
}
static const int* of(void* all) { return ((const described*)all)->of; }

void zaxpy(number a, vector x, vector y) {
  const int n = (int)x.n;
  pzaxpy_(&n, &a, x.data, &one, &one, of(x.all), &one, y.data, &one, &one, of(y.all), &one);
}
number zdotc(vector x, vector y) {
  const int n = (int)x.n;
  number out = 0;
  pzdotc_(&n, &out, x.data, &one, &one, of(x.all), &one, y.data, &one, &one, of(y.all), &one);
  return out;
}
double dznrm2(vector x) {
  const int n = (int)x.n;
  double out = 0;
  pdznrm2_(&n, &out, x.data, &one, &one, of(x.all), &one);
  return out;
}
void zgemv(char trans, number alpha, matrix a, vector x, number beta, vector y) {
  const int m = (int)a.m, n = (int)a.n;
  pzgemv_(&trans, &m, &n, &alpha, a.data, &one, &one, of(a.all), x.data, &one, &one, of(x.all), &one, &beta, y.data,
          &one, &one, of(y.all), &one);
}
