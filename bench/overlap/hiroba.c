/* hiroba.c: the same program over the collectives of Hiroba. Here is only the communication; common.c and options.c
 * have the rest.
 *
 *     cc -O3 -march=native -fopenmp hiroba.c common.c options.c -lhiroba -o overlap
 *     hirobarun -n 2 ./overlap -M 131072 -N 512
 */
#include <hiroba/collective.h>
#include <hiroba/sms.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"

static hiroba_request request;

static void call(const transfer* t) {
  const int m = t->count;
  switch (t->kind) {
    case ALLTOALL: hiroba_alltoall(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_ALL); break;
    case ALLREDUCE: hiroba_allreduce(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL); break;
    case BCAST: hiroba_bcast(t->recv, m, HIROBA_DOUBLE, 0, HIROBA_ALL); break;
    case REDUCE: hiroba_reduce(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, 0, HIROBA_ALL); break;
    case ALLGATHER: hiroba_allgather(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_ALL); break;
    case GATHER: hiroba_gather(t->send, t->recv, m, HIROBA_DOUBLE, 0, HIROBA_ALL); break;
    case SCATTER: hiroba_scatter(t->send, t->recv, m, HIROBA_DOUBLE, 0, HIROBA_ALL); break;
    case REDUCE_SCATTER: hiroba_reduce_scatter_block(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL); break;
    case SCAN: hiroba_scan(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL); break;
    case BARRIER: hiroba_barrier(HIROBA_ALL); break;
    case COLLECTIVES: break;
  }
}

static void start(const transfer* t) {
  const int m = t->count;
  hiroba_request* const r = &request;
  switch (t->kind) {
    case ALLTOALL: hiroba_ialltoall(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_ALL, r); break;
    case ALLREDUCE: hiroba_iallreduce(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL, r); break;
    case BCAST: hiroba_ibcast(t->recv, m, HIROBA_DOUBLE, 0, HIROBA_ALL, r); break;
    case REDUCE: hiroba_ireduce(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, 0, HIROBA_ALL, r); break;
    case ALLGATHER: hiroba_iallgather(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_ALL, r); break;
    case GATHER: hiroba_igather(t->send, t->recv, m, HIROBA_DOUBLE, 0, HIROBA_ALL, r); break;
    case SCATTER: hiroba_iscatter(t->send, t->recv, m, HIROBA_DOUBLE, 0, HIROBA_ALL, r); break;
    case REDUCE_SCATTER:
      hiroba_ireduce_scatter_block(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL, r);
      break;
    case SCAN: hiroba_iscan(t->send, t->recv, m, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL, r); break;
    case BARRIER: hiroba_ibarrier(HIROBA_ALL, r); break;
    case COLLECTIVES: break;
  }
}

static void test(void) {
  int done;
  hiroba_test(&request, &done); /* a request that is complete becomes one that hiroba_wait returns from */
}

static void wait(void) { hiroba_wait(&request); }

static void region(int begins) {
  if (begins) hiroba_progress_start();
  else hiroba_progress_stop();
}

static void largest(double* values, int count) {
  double* const all = malloc((size_t)count * sizeof *all);
  if (all == NULL) sms_abort(1, "overlap: no memory");
  hiroba_allreduce(values, all, count, HIROBA_DOUBLE, HIROBA_MAX, HIROBA_ALL);
  for (int i = 0; i < count; ++i) values[i] = all[i];
  free(all);
}

static void end_job(int status) { sms_abort(status, "overlap: stopped, see above"); }

/* Virtual nodes share a machine, so its name says which ranks do, as a hash (FNV-1a). */
static void find_local_ranks(library* of) {
  char host[256] = "";
  int64_t mine = (int64_t)0xcbf29ce484222325;
  int64_t* const all = malloc((size_t)of->ranks * sizeof *all);
  if (all == NULL) sms_abort(1, "overlap: no memory");
  gethostname(host, sizeof host - 1);
  for (const char* c = host; *c != '\0'; ++c) {
    mine = (int64_t)(((uint64_t)mine ^ (unsigned char)*c) * 0x100000001b3);
  }
  hiroba_allgather(&mine, all, 1, HIROBA_INT64, HIROBA_ALL);
  for (int rank = 0; rank < of->ranks; ++rank) {
    if (all[rank] != mine) continue;
    if (rank < of->rank) ++of->local_rank;
    ++of->local_ranks;
  }
  free(all);
}

int main(int argc, char** argv) {
  library hiroba = {.name = "Hiroba", .call = call, .start = start, .test = test, .wait = wait, .largest = largest};
  hiroba.region = region;
  hiroba.end_job = end_job;
  sms_startup(&argc, &argv);
  hiroba.rank = sms_rank;
  hiroba.ranks = sms_nprocs;
  find_local_ranks(&hiroba);
  const int status = overlap(argc, argv, &hiroba);
  sms_shutdown();
  return status;
}
