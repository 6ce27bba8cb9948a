/* The paper's listing prints nothing and computes with zeros, so the test binds this file around it (ld --wrap): it
 * fills the arrays when the last one is allocated, and compares vec2 with what the listing computes after its barrier.
 */
#include <sms.h>
#include <stdio.h>

enum { N = 840 };

static double *vec1, *vec2, (*array)[N];

void* __real_sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place);
void* __real_sms_mapalloc_at(const int dim[], const int div[], size_t elemsize, int first, int count,
                             const char* place);
void __real_sms_barrier(void);

void* __wrap_sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place);
void* __wrap_sms_mapalloc_at(const int dim[], const int div[], size_t elemsize, int first, int count,
                             const char* place);
void __wrap_sms_barrier(void);

void* __wrap_sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place) {
  double* const vector = __real_sms_alloc_at(elemsize, n, rank, place);
  *(rank == 0 ? &vec1 : &vec2) = vector;
  return vector;
}

void* __wrap_sms_mapalloc_at(const int dim[], const int div[], size_t elemsize, int first, int count,
                             const char* place) {
  array = __real_sms_mapalloc_at(dim, div, elemsize, first, count, place);
  size_t from[8], rows[8];
  sms_local_box(array, sms_rank, from, rows);
  for (size_t i = from[0]; i < from[0] + rows[0]; i++)
    for (int k = 0; k < N; k++) array[i][k] = (double)(i + 1) * (k + 1);
  if (sms_rank == 0)
    for (int k = 0; k < N; k++) vec1[k] = 1.0 / (k + 1);
  __real_sms_barrier();
  return array;
}

void __wrap_sms_barrier(void) {
  __real_sms_barrier();
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += vec2[i] != (double)(i + 1) * N * (1.0 / N);
  if (wrong > 0) sms_abort(1, "vec2 is wrong");
  if (sms_rank == 0) printf("vec2 is right in %d ranks\n", sms_nprocs);
}
