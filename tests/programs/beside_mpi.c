/* A program that calls MPI itself beside Hiroba over the same MPI. Who initialises MPI is the first argument (program,
 * hiroba; xmp: the program, by XcalableMP's calls; turned: the program, and the images have the numbers of its
 * communicator, which has the processes in the opposite order; few: one that has not all processes, which must fail).
 * Shared memory of the other node is passed to MPI calls: preloaded, which works, or with `absent` as the second
 * argument as it is, which must end with a message and not hang. */
#include <hiroba_mpi.h>
#include <string.h>

#include "programs.h"

enum { WORDS = 1 << 17 }; /* 1 MiB per rank: beyond what MPI sends at once */

static void check_order(void) {
  int rank = -1, size = -1;
  MPI_Comm_rank(hiroba_comm(), &rank);
  MPI_Comm_size(hiroba_comm(), &size);
  if (rank != sms_rank || size != sms_nprocs)
    fail("beside_mpi: rank %d of %d in hiroba_comm, %d of %d in Hiroba", rank, size, sms_rank, sms_nprocs);
}

/* The communicator of a node array of `count` images, in which this one is number `place`; -1: it is not there. */
static void check_comm(xmp_nodes* nodes, int place, int count) {
  MPI_Comm* comm = NULL;
  int number = 0, rank = -1, sum = 0;
  xmp_nodes_rank(nodes, &number);
  if (xmp_nodes_comm(nodes, (void**)&comm) != 0 || number != place + 1 || (*comm != MPI_COMM_NULL) != (place >= 0))
    fail("beside_mpi: rank %d is number %d of %s, not %d", sms_rank, number, nodes->name, place + 1);
  if (place < 0) return;
  MPI_Comm_rank(*comm, &rank);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, *comm);
  if (rank != place || sum != count)
    fail("beside_mpi: rank %d is %d of %d in %s, not %d of %d", sms_rank, rank, sum, nodes->name, place, count);
}

/* A node array that is defined again: as before, and as other images. With 4 ranks the last ones, 2 3 0 1, are no
 * progression, but a table. */
static void check_nodes(void) {
  static xmp_nodes all = {.name = "all", .dims = 1, .extent = {0}, .of = XMP_ALL_NODES};
  static xmp_nodes rows = {.name = "rows", .dims = 2, .extent = {2, 0}, .of = XMP_ALL_NODES};
  static xmp_nodes some = {.name = "some", .dims = 1};
  const int n = sms_nprocs, half = n / 2;
  const xmp_node_reference every_other = {&all, {{0, XMP_REST, 2}}}, downwards = {&all, {{n - 1, n, -1}}};
  const xmp_node_reference rows_downwards = {&rows, {{1, 2, -1}, {0, XMP_REST, 1}}};
  xmp_nodes_define(&all);
  if (n % 2 == 0) xmp_nodes_define(&rows);
  for (int turn = 0; turn < (n % 2 == 0 ? 6 : 4); ++turn) {
    some.of = turn < 2 ? &every_other : turn < 4 ? &downwards : &rows_downwards;
    some.extent[0] = 0;
    xmp_nodes_define(&some);
    if (turn < 2) check_comm(&some, sms_rank % 2 == 0 ? sms_rank / 2 : -1, (n + 1) / 2);
    else check_comm(&some, turn < 4 ? n - 1 - sms_rank : (sms_rank + half) % n, n);
  }
}

/* The communicator of the executing set has its images. */
static void check_executing(int turns) {
  int rank = -1, size = -1, sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const MPI_Comm comm = xmp_get_mpi_comm();
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank != xmpc_node_num() || size != xmp_num_nodes() || sum != size)
      fail("beside_mpi: image %d of %d is %d of %d in its communicator", xmpc_node_num(), xmp_num_nodes(), rank, size);
  }
}

/* Tasks on some images, each with other ones or none beside it: only these make the call. */
static void check_tasks(void) {
  static xmp_nodes nodes = {.name = "nodes", .dims = 1, .extent = {0}};
  xmp_nodes_define(&nodes);
  const int n = xmp_num_nodes();
  const xmp_node_reference sets[] = {{&nodes, {{n - 1, 1, 1}}},        {&nodes, {{0, (n + 1) / 2, 1}}},
                                     {&nodes, {{0, XMP_REST, 2}}},     {&nodes, {{n - 1, n, -1}}},
                                     {&nodes, {{n / 2, XMP_REST, 1}}}, {&nodes, {{0, (n + 1) / 2, 1}}},
                                     {&nodes, {{XMP_SELF, 1, 1}}},     {&nodes, {{0, n, 1}}}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    if (!xmp_task_begin(&sets[i], "task")) continue;
    check_executing(2);
    if (xmp_task_begin(&sets[6], "inner")) {
      check_executing(1);
      xmp_task_end();
    }
    check_executing(1);
    xmp_task_end();
  }
  check_executing(1);
}

/* xmp_init(comm) after MPI_Init. */
static int by_communicator(int argc, char** argv, int is_few) {
  MPI_Comm comm;
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, is_few ? rank % 2 : 0, -rank, &comm);
  xmp_init(comm);
  if (xmpc_node_num() != size - 1 - rank) fail("beside_mpi: process %d is image %d", rank, xmpc_node_num());
  check_order();
  check_tasks();
  xmp_finalize();
  MPI_Comm_free(&comm);
  return MPI_Finalize();
}

/* Sends the neighbour's part to the neighbour, straight from shared memory and straight into it. */
static void send_shared(int64_t* words, int count, int preloaded) {
  const int right = (sms_rank + 1) % sms_nprocs, left = (sms_rank + sms_nprocs - 1) % sms_nprocs;
  int64_t* got = malloc((size_t)count * sizeof *got);
  for (int round = 1; round <= 5; ++round) {
    int64_t* own = words + (size_t)sms_rank * WORDS;
    for (int w = 0; w < count; ++w) own[w] = round * 1000000 + sms_rank * 1000 + w % 1000;
    sms_barrier();
    if (preloaded) sms_preload_bytes(words + (size_t)right * WORDS, (size_t)count * sizeof *words);
    /* In brackets: MPI's own, which brings no pages. */
    (MPI_Sendrecv)(words + (size_t)right * WORDS, count, MPI_INT64_T, right, 1, got, count, MPI_INT64_T, left, 1,
                   hiroba_comm(), MPI_STATUS_IGNORE);
    for (int w = 0; w < count; ++w)
      if (got[w] != round * 1000000 + sms_rank * 1000 + w % 1000)
        fail("beside_mpi: round %d, rank %d, word %d is %ld", round, sms_rank, w, got[w]);
    sms_barrier();
  }
  free(got);
}

int main(int argc, char** argv) {
  const int ours = argc > 1 && strcmp(argv[1], "program") == 0, by_xmp = argc > 1 && strcmp(argv[1], "xmp") == 0;
  int provided;
  if (argc > 1 && (strcmp(argv[1], "turned") == 0 || strcmp(argv[1], "few") == 0))
    return by_communicator(argc, argv, argv[1][0] == 'f');
  if (ours) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (by_xmp) xmp_init_mpi(&argc, &argv);
  sms_startup(&argc, &argv);
  check_order();
  check_tasks();
  check_nodes();
  int64_t* words = sms_mapalloc((int[]){sms_nprocs * WORDS, -1}, (int[]){sms_nprocs, -1}, sizeof *words, 0, sms_nprocs);
  const int preloaded = argc < 3;
  send_shared(words, 100, 1);
  send_shared(words, WORDS, preloaded);
  sms_shutdown();
  if (ours) MPI_Finalize();
  if (by_xmp) xmp_finalize_mpi();
  int ended = 0;
  MPI_Finalized(&ended);
  if ((ours || by_xmp) && !ended) fail("beside_mpi: MPI has not ended");
  return 0;
}
