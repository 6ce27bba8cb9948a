/* Shared arrays, divided into blocks of elements and of rows; the ranks compute together. */
#include <blas.h>
#include <sms.h>

#include "contestant.h"

void start(int* argc, char*** argv) { sms_startup(argc, argv); }
void stop(void) { sms_shutdown(); }
int is_first(void) { return sms_rank == 0; }
void wait_all(void) { sms_barrier(); }
double maximum(double seconds) { return sms_reduce_double(seconds, SMS_MAX); }

vector new_vector(long n) {
  const int64_t dim[] = {n, -1}, div[] = {sms_nprocs, -1};
  number* const all = sms_mapalloc_large(dim, div, sizeof(number), 0, sms_nprocs);
  size_t first[8], length[8];
  sms_local_box(all, sms_rank, first, length);
  return (vector){all + first[0], (long)first[0], (long)length[0], n, all};
}

matrix new_matrix(long m, long n, char trans) {
  (void)trans;
  const int64_t dim[] = {m, n, -1}, div[] = {sms_nprocs, 1, -1};
  number* const all = sms_mapalloc_large(dim, div, sizeof(number), 0, sms_nprocs);
  size_t first[8], length[8];
  sms_local_box(all, sms_rank, first, length);
  return (matrix){all + (long)first[0] * n, (long)first[0], (long)length[0], m, n, n, 1, all};
}

void zaxpy(number a, vector x, vector y) { hiroba_zaxpy(x.n, &a, x.all, 1, y.all, 1); }
number zdotc(vector x, vector y) {
  number out;
  hiroba_zdotc_sub(x.n, x.all, 1, y.all, 1, &out);
  return out;
}
double dznrm2(vector x) { return hiroba_dznrm2(x.n, x.all, 1); }
void zgemv(char trans, number alpha, matrix a, vector x, number beta, vector y) {
  const int op = trans == 'N' ? HIROBA_NO_TRANS : trans == 'T' ? HIROBA_TRANS : HIROBA_CONJ_TRANS;
  hiroba_zgemv(HIROBA_ROW_MAJOR, op, a.m, a.n, &alpha, a.all, a.n, x.all, 1, &beta, y.all, 1);
}
