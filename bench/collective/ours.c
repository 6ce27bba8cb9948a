/* The contestant Hiroba: blocking calls on shared memory of each rank; with MEMORY_OF_MALLOC on memory of malloc. */
#include <hiroba/collective.h>
#include <sms.h>
#include <stdlib.h>

#ifndef MEMORY_OF_MALLOC
static void* own_part(size_t bytes) {
  const int64_t dim[] = {sms_nprocs, (int64_t)bytes, -1}, div[] = {sms_nprocs, 1, -1};
  return (char*)sms_mapalloc_large(dim, div, 1, 0, sms_nprocs) + (size_t)sms_rank * bytes;
}
#define BUFFER(bytes) own_part(bytes)
#else
#define BUFFER(bytes) malloc(bytes)
#endif
#define START(argc, argv) sms_startup(&argc, &argv)
#define RANK sms_rank
#define RANKS sms_nprocs
#define STOP sms_shutdown()
#define BARRIER() hiroba_barrier(HIROBA_ALL)
#define BCAST(buffer, n) hiroba_bcast(buffer, n, HIROBA_DOUBLE, 0, HIROBA_ALL)
#define ALLREDUCE(send, recv, n) hiroba_allreduce(send, recv, n, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL)
#define ALLGATHER(send, recv, n) hiroba_allgather(send, recv, n, HIROBA_DOUBLE, HIROBA_ALL)
#define ALLTOALL(send, recv, n) hiroba_alltoall(send, recv, n, HIROBA_DOUBLE, HIROBA_ALL)
#include "collective.h"
