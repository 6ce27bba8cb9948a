/* MPI: puts into a window and a flush, as in the OSU benchmarks (osu_put_latency with flush); derived datatypes for
 * what is strided; MPI_Accumulate; messages for the ping-pong. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "pingpong.h"

static MPI_Win window;
static double* local;
static int rank;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void put(const pp_case* c) {
  MPI_Put(local, (int)c->words, MPI_DOUBLE, 1, 0, (int)c->words, MPI_DOUBLE, window);
  MPI_Win_flush(1, window);
}

static void get(const pp_case* c) {
  MPI_Get(local, (int)c->words, MPI_DOUBLE, 1, 0, (int)c->words, MPI_DOUBLE, window);
  MPI_Win_flush(1, window);
}

/* The type of the case at hand; made once a case, as a program would. */
static MPI_Datatype every_second(const pp_case* c) {
  static size_t words;
  static MPI_Datatype type = MPI_DATATYPE_NULL;
  if (words == c->words) return type;
  if (words != 0) MPI_Type_free(&type);
  words = c->words;
  MPI_Type_vector((int)words, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void put2(const pp_case* c) {
  MPI_Put(local, 1, every_second(c), 1, 0, 1, every_second(c), window);
  MPI_Win_flush(1, window);
}

static void get2(const pp_case* c) {
  MPI_Get(local, 1, every_second(c), 1, 0, 1, every_second(c), window);
  MPI_Win_flush(1, window);
}

static void accumulate(const pp_case* c) {
  MPI_Accumulate(local, (int)c->words, MPI_DOUBLE, 1, 0, (int)c->words, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_flush(1, window);
}

static double* shared;

static void pingpong(const pp_case* c) {
  if (rank == 1) MPI_Recv(shared, (int)c->words, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(local, (int)c->words, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(shared, (int)c->words, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Messages need no window, and Open MPI makes none over TCP. */
static int needs_window(int argc, char** argv) {
  for (int k = 1; k < argc; k += 3)
    if (strcmp(argv[k], "pingpong") != 0 && strcmp(argv[k], "word") != 0) return 1;
  return 0;
}

static void word(const pp_case* c) {
  if (rank == 1) MPI_Recv(shared, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&c->turn, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(shared, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  local = malloc(PP_WORDS * sizeof *local);
  const int windowed = needs_window(argc, argv);
  if (!windowed) shared = malloc(PP_WORDS * sizeof *shared);
  else MPI_Win_allocate(PP_WORDS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  if (windowed) MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  const pp_contestant mpi = {"mpi",  rank,    local,
                             shared, barrier, {put, get, put2, get2, accumulate, pingpong, word, NULL}};
  const int status = pp_main(&mpi, argc, argv);
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  if (windowed) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  } else {
    free(shared);
  }
  free(local);
  MPI_Finalize();
  return 0;
}
