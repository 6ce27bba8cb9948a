/* MPI's calls out of and into shared memory of another node, from its first touch: point to point, collective, with
 * counts, a derived datatype, and files. Each rank owns a row; calls use the row of the next rank, which no
 * rank's pages have seen. The numbers must be those of private memory.  `large`: more than the cache has room for,
 * which ends the job with a line. */
#include <hiroba_mpi.h>
#include <string.h>
#include <unistd.h>

#include "programs.h"

enum { WORDS = 3 << 15, LARGE = 1 << 20 };

static int64_t* rows; /* one for each rank, in its memory */
static int64_t* mine; /* private, of one row */
static int me, ranks, next, previous, round_number;
static MPI_Comm comm;

static int64_t* row(int rank) { return rows + (size_t)rank * WORDS; }
static int64_t value(int rank, int word) { return (int64_t)mix2((uint64_t)(round_number * 64 + rank), (uint64_t)word); }

static void check(const char* call, const int64_t* words, int count, int rank, int first) {
  for (int w = 0; w < count; ++w)
    if (words[w] != value(rank, first + w))
      fail("%s: rank %d, word %d is %ld, expected %ld", call, me, w, (long)words[w], (long)value(rank, first + w));
}

/* Each rank's row has the values of this rank, nobody has a copy. */
static void fill_rows(void) {
  sms_barrier();
  ++round_number;
  for (int w = 0; w < WORDS; ++w) row(me)[w] = value(me, w);
  sms_sync_drop();
}

static void point_to_point(void) {
  MPI_Status status, statuses[2];
  MPI_Request requests[2];
  fill_rows(); /* out of the next rank's row */
  MPI_Isend(row(next), WORDS, MPI_INT64_T, previous, 1, comm, &requests[0]);
  MPI_Recv(mine, WORDS, MPI_INT64_T, next, 1, comm, &status);
  MPI_Wait(&requests[0], &status);
  check("MPI_Isend", mine, WORDS, (next + 1) % ranks, 0);
  sms_barrier();
  fill_rows(); /* into it */
  for (int w = 0; w < WORDS; ++w) mine[w] = value(me, w);
  MPI_Irecv(row(next), WORDS, MPI_INT64_T, previous, 1, comm, &requests[0]);
  MPI_Isend(mine, WORDS, MPI_INT64_T, next, 1, comm, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  sms_sync_drop();
  check("MPI_Irecv", row(me), WORDS, (previous + ranks - 1) % ranks, 0);
  fill_rows(); /* both */
  MPI_Sendrecv(row(next), WORDS / 2, MPI_INT64_T, next, 2, row(next) + WORDS / 2, WORDS / 2, MPI_INT64_T, previous, 2,
               comm, &status);
  sms_sync_drop();
  check("MPI_Sendrecv", row(me) + WORDS / 2, WORDS / 2, previous, 0);
}

static void collectives(void) {
  fill_rows();
  MPI_Bcast(row(next), WORDS, MPI_INT64_T, 0, comm);
  sms_sync_drop();
  check("MPI_Bcast", row(me), WORDS, 1 % ranks, 0);
  fill_rows();
  MPI_Allreduce(row(next), mine, WORDS, MPI_INT64_T, MPI_BXOR, comm);
  for (int w = 0; w < WORDS; ++w)
    for (int r = 0; r < ranks; ++r) mine[w] ^= value(r, w);
  for (int w = 0; w < WORDS; ++w)
    if (mine[w] != 0) fail("MPI_Allreduce: word %d", w);
  sms_barrier();
  const int part = WORDS / ranks;
  fill_rows();
  MPI_Alltoall(row(next), part, MPI_INT64_T, mine, part, MPI_INT64_T, comm);
  for (int r = 0; r < ranks; ++r) check("MPI_Alltoall", mine + r * part, part, (r + 1) % ranks, me * part);
  fill_rows();
  memcpy(mine, row(me), WORDS * sizeof *mine);
  sms_barrier();
  MPI_Allgather(mine, part, MPI_INT64_T, row(next), part, MPI_INT64_T, comm);
  sms_sync_drop();
  for (int r = 0; r < ranks; ++r) check("MPI_Allgather", row(me) + r * part, part, r, 0);
}

static void with_counts(void) {
  int counts[64], places[64];
  for (int r = 0, at = 0; r < ranks; at += counts[r++] + 5) counts[r] = 1000 * (r + 1), places[r] = at;
  fill_rows();
  memcpy(mine, row(me), WORDS * sizeof *mine);
  sms_barrier();
  MPI_Gatherv(mine, counts[me], MPI_INT64_T, me == 0 ? row(next) : NULL, counts, places, MPI_INT64_T, 0, comm);
  sms_sync_drop();
  if (me == 1 % ranks)
    for (int r = 0; r < ranks; ++r) check("MPI_Gatherv", row(me) + places[r], counts[r], r, 0);
}

static void derived(void) {
  MPI_Datatype column;
  MPI_Type_vector(64, 3, WORDS / 64, MPI_INT64_T, &column);
  MPI_Type_commit(&column);
  fill_rows();
  MPI_Sendrecv(row(next) + 7, 1, column, me, 1, mine, 64 * 3, MPI_INT64_T, me, 1, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < 64; ++i) check("a vector", mine + i * 3, 3, next, 7 + i * (WORDS / 64));
  MPI_Type_free(&column);
}

static void files(void) {
  char name[64];
  MPI_File file;
  snprintf(name, sizeof name, "/tmp/hiroba-mpi-calls-%d.%d", getppid(), me);
  fill_rows();
  if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS)
    fail("MPI_File_open");
  MPI_File_write_at(file, 0, row(next), WORDS, MPI_INT64_T, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, 0, mine, WORDS, MPI_INT64_T, MPI_STATUS_IGNORE);
  check("MPI_File_write_at", mine, WORDS, next, 0);
  sms_sync_drop();
  memset(row(me), 0, WORDS * sizeof *rows);
  sms_sync_drop();
  MPI_File_read_at(file, 0, row(next), WORDS, MPI_INT64_T, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  sms_sync_drop();
  check("MPI_File_read_at", row(me), WORDS, me, 0);
}

static void large(void) {
  int64_t* far = sms_mapalloc((int[]){ranks * LARGE, -1}, (int[]){ranks, -1}, sizeof *far, 0, ranks);
  MPI_Bcast(far + (size_t)next * LARGE, LARGE, MPI_INT64_T, 0, comm);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  me = sms_rank, ranks = sms_nprocs, next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  comm = hiroba_comm();
  rows = sms_mapalloc((int[]){ranks * WORDS, -1}, (int[]){ranks, -1}, sizeof *rows, 0, ranks);
  mine = malloc(WORDS * sizeof *mine);
  if (argc > 1) large();
  point_to_point();
  collectives();
  with_counts();
  derived();
  files();
  free(mine);
  if (me == 0) puts("done");
  sms_shutdown();
  return 0;
}
