/* MPI's calls on shared memory: included by hiroba_mpi.h, and by hirobacc for files that include mpi.h. The network and
 * the kernel cannot handle page faults for MPI, so each call here first fetches the pages of its buffers that are on
 * other nodes (datatypes from their true lower bound to their end), and then calls MPI. A buffer of private memory
 * costs a few comparisons, and the size of a predefined type.
 *
 * Started calls (MPI_Isend, MPI_Irecv, ...) fetch their pages at the start; the pages stay unless the cache needs their
 * room for other pages before the end. Not covered: persistent requests, MPI_Alltoallw, MPI_BOTTOM, windows in shared
 * memory. Call sms_preload_bytes for these, or use a private buffer. (MPI_Send)(...), the name in brackets, calls MPI
 * directly. */
#ifndef HIROBA_MPI_CALLS_H
#define HIROBA_MPI_CALLS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fetches the pages of these bytes that are not in the cache, so that the system may read or write them. If the cache
 * has no room for them, ends the job with a message that names `call`. */
void hiroba_bring_pages(const void* address, size_t bytes, int to_write, const char* call);
int hiroba_may_need_pages(const void* address); /* true if the byte is in shared memory that may not be valid here */

#ifdef __cplusplus
}
#endif

/* MPI is not included: the file includes mpi.h under a condition that is false here. `./` because GCC 12 reports no
 * missing header in an #include whose name __has_include has not found before. */
#if __has_include(<./mpi.h>)
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void hiroba_mpi_bring(const void* address, MPI_Aint from, MPI_Aint count, MPI_Datatype type, int to_write,
                                    const char* call) {
  MPI_Aint low, extent, true_low, true_extent;
  if (count <= 0 || !hiroba_may_need_pages(address)) return;
  MPI_Type_get_extent(type, &low, &extent);
  MPI_Type_get_true_extent(type, &true_low, &true_extent);
  hiroba_bring_pages((const char*)address + from * extent + true_low, (size_t)((count - 1) * extent + true_extent),
                     to_write, call);
}
/* Hiroba calls MPI from threads of its own. */
static inline int hiroba_MPI_Init(int* argc, char*** argv) {
  int provided;
  return MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
}

#define HIROBA_READS(address, count, type) hiroba_mpi_bring(address, 0, count, type, 0, __func__ + 7)
#define HIROBA_WRITES(address, count, type) hiroba_mpi_bring(address, 0, count, type, 1, __func__ + 7)

static inline MPI_Aint hiroba_mpi_size(MPI_Comm comm) {
  int size, between;
  MPI_Comm_test_inter(comm, &between);
  if (between) MPI_Comm_remote_size(comm, &size);
  else MPI_Comm_size(comm, &size);
  return size;
}
static inline int hiroba_mpi_is_root(int root, MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return root == MPI_ROOT || root == rank;
}
static inline void hiroba_mpi_bring_parts(const void* address, const int* counts, const int* places, MPI_Datatype type,
                                          MPI_Comm comm, int to_write, const char* call) {
  if (!hiroba_may_need_pages(address)) return;
  for (MPI_Aint i = 0; i < hiroba_mpi_size(comm); ++i)
    hiroba_mpi_bring(address, places[i], counts[i], type, to_write, call);
}
#define HIROBA_READS_PARTS(address, counts, places, type, comm) \
  hiroba_mpi_bring_parts(address, counts, places, type, comm, 0, __func__ + 7)
#define HIROBA_WRITES_PARTS(address, counts, places, type, comm) \
  hiroba_mpi_bring_parts(address, counts, places, type, comm, 1, __func__ + 7)

/* Defines a call with its parameters, the buffers that it fetches and its arguments; also its started form; and
 * calls that share all of this. __func__ is hiroba_NAME. */
#define HIROBA_MPI_CALL(name, parameters, brings, arguments) \
  static inline int hiroba_##name parameters {               \
    brings;                                                  \
    return name arguments;                                   \
  }
#define HIROBA_MPI_BARE(...) __VA_ARGS__
#define HIROBA_MPI_STARTED(name, parameters, brings, arguments)                      \
  HIROBA_MPI_CALL(name, (HIROBA_MPI_BARE parameters, MPI_Request * request), brings, \
                  (HIROBA_MPI_BARE arguments, request))
#define HIROBA_MPI_BOTH(name, started, parameters, brings, arguments) \
  HIROBA_MPI_CALL(name, parameters, brings, arguments)                \
  HIROBA_MPI_STARTED(started, parameters, brings, arguments)

#define HIROBA_MPI_SEND(name, started)                                                                                 \
  HIROBA_MPI_BOTH(name, started, (const void* from, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm), \
                  HIROBA_READS(from, count, type), (from, count, type, target, tag, comm))
HIROBA_MPI_SEND(MPI_Send, MPI_Isend)
HIROBA_MPI_SEND(MPI_Ssend, MPI_Issend)
HIROBA_MPI_SEND(MPI_Bsend, MPI_Ibsend)
HIROBA_MPI_SEND(MPI_Rsend, MPI_Irsend)
HIROBA_MPI_CALL(MPI_Recv,
                (void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status),
                HIROBA_WRITES(to, count, type), (to, count, type, source, tag, comm, status))
HIROBA_MPI_STARTED(MPI_Irecv, (void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm),
                   HIROBA_WRITES(to, count, type), (to, count, type, source, tag, comm))
HIROBA_MPI_CALL(MPI_Sendrecv,
                (const void* from, int count, MPI_Datatype type, int target, int tag, void* to, int most,
                 MPI_Datatype type_in, int source, int tag_in, MPI_Comm comm, MPI_Status* status),
                (HIROBA_READS(from, count, type), HIROBA_WRITES(to, most, type_in)),
                (from, count, type, target, tag, to, most, type_in, source, tag_in, comm, status))
HIROBA_MPI_CALL(MPI_Sendrecv_replace,
                (void* data, int count, MPI_Datatype type, int target, int tag, int source, int tag_in, MPI_Comm comm,
                 MPI_Status* status),
                HIROBA_WRITES(data, count, type), (data, count, type, target, tag, source, tag_in, comm, status))

HIROBA_MPI_BOTH(MPI_Bcast, MPI_Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
                HIROBA_WRITES(data, count, type), (data, count, type, root, comm))
HIROBA_MPI_BOTH(MPI_Reduce, MPI_Ireduce,
                (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
                HIROBA_READS(from, count, type);
                if (hiroba_mpi_is_root(root, comm)) HIROBA_WRITES(to, count, type),
                (from, to, count, type, op, root, comm))
#define HIROBA_MPI_REDUCE(name, started)                                                                               \
  HIROBA_MPI_BOTH(name, started, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
                  (HIROBA_READS(from, count, type), HIROBA_WRITES(to, count, type)),                                   \
                  (from, to, count, type, op, comm))
HIROBA_MPI_REDUCE(MPI_Allreduce, MPI_Iallreduce)
HIROBA_MPI_REDUCE(MPI_Scan, MPI_Iscan)
HIROBA_MPI_REDUCE(MPI_Exscan, MPI_Iexscan)
HIROBA_MPI_BOTH(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (HIROBA_READS(from, count* hiroba_mpi_size(comm), type), HIROBA_WRITES(to, count, type)),
                (from, to, count, type, op, comm))

#define HIROBA_MPI_TO_ALL(name, started, pieces)                                                             \
  HIROBA_MPI_BOTH(name, started,                                                                             \
                  (const void* from, int count, MPI_Datatype type, void* to, int each, MPI_Datatype type_in, \
                   MPI_Comm comm),                                                                           \
                  (HIROBA_READS(from, count * (pieces), type),                                               \
                   HIROBA_WRITES(to, each * hiroba_mpi_size(comm), type_in)),                                \
                  (from, count, type, to, each, type_in, comm))
HIROBA_MPI_TO_ALL(MPI_Allgather, MPI_Iallgather, 1)
HIROBA_MPI_TO_ALL(MPI_Alltoall, MPI_Ialltoall, hiroba_mpi_size(comm))
HIROBA_MPI_BOTH(MPI_Gather, MPI_Igather,
                (const void* from, int count, MPI_Datatype type, void* to, int each, MPI_Datatype type_in, int root,
                 MPI_Comm comm),
                HIROBA_READS(from, count, type);
                if (hiroba_mpi_is_root(root, comm)) HIROBA_WRITES(to, each* hiroba_mpi_size(comm), type_in),
                (from, count, type, to, each, type_in, root, comm))
HIROBA_MPI_BOTH(MPI_Scatter, MPI_Iscatter,
                (const void* from, int each, MPI_Datatype type, void* to, int count, MPI_Datatype type_in, int root,
                 MPI_Comm comm),
                HIROBA_WRITES(to, count, type_in);
                if (hiroba_mpi_is_root(root, comm)) HIROBA_READS(from, each* hiroba_mpi_size(comm), type),
                (from, each, type, to, count, type_in, root, comm))

/* Calls with separate counts for each rank. */
HIROBA_MPI_BOTH(MPI_Gatherv, MPI_Igatherv,
                (const void* from, int count, MPI_Datatype type, void* to, const int* counts, const int* places,
                 MPI_Datatype type_in, int root, MPI_Comm comm),
                HIROBA_READS(from, count, type);
                if (hiroba_mpi_is_root(root, comm)) HIROBA_WRITES_PARTS(to, counts, places, type_in, comm),
                (from, count, type, to, counts, places, type_in, root, comm))
HIROBA_MPI_BOTH(MPI_Scatterv, MPI_Iscatterv,
                (const void* from, const int* counts, const int* places, MPI_Datatype type, void* to, int count,
                 MPI_Datatype type_in, int root, MPI_Comm comm),
                HIROBA_WRITES(to, count, type_in);
                if (hiroba_mpi_is_root(root, comm)) HIROBA_READS_PARTS(from, counts, places, type, comm),
                (from, counts, places, type, to, count, type_in, root, comm))
HIROBA_MPI_BOTH(MPI_Allgatherv, MPI_Iallgatherv,
                (const void* from, int count, MPI_Datatype type, void* to, const int* counts, const int* places,
                 MPI_Datatype type_in, MPI_Comm comm),
                (HIROBA_READS(from, count, type), HIROBA_WRITES_PARTS(to, counts, places, type_in, comm)),
                (from, count, type, to, counts, places, type_in, comm))
HIROBA_MPI_BOTH(MPI_Alltoallv, MPI_Ialltoallv,
                (const void* from, const int* counts, const int* places, MPI_Datatype type, void* to,
                 const int* counts_in, const int* places_in, MPI_Datatype type_in, MPI_Comm comm),
                (HIROBA_READS_PARTS(from, counts, places, type, comm),
                 HIROBA_WRITES_PARTS(to, counts_in, places_in, type_in, comm)),
                (from, counts, places, type, to, counts_in, places_in, type_in, comm))

/* Files and windows: the buffers of this rank. */
#define HIROBA_MPI_FILE(name, brings, word)                                                                 \
  HIROBA_MPI_CALL(name, (MPI_File file, word void* data, int count, MPI_Datatype type, MPI_Status* status), \
                  brings(data, count, type), (file, data, count, type, status))
#define HIROBA_MPI_FILE_AT(name, brings, word)                                                      \
  HIROBA_MPI_CALL(name,                                                                             \
                  (MPI_File file, MPI_Offset offset, word void* data, int count, MPI_Datatype type, \
                   MPI_Status* status),                                                             \
                  brings(data, count, type), (file, offset, data, count, type, status))
HIROBA_MPI_FILE(MPI_File_read, HIROBA_WRITES, )
HIROBA_MPI_FILE(MPI_File_read_all, HIROBA_WRITES, )
HIROBA_MPI_FILE_AT(MPI_File_read_at, HIROBA_WRITES, )
HIROBA_MPI_FILE_AT(MPI_File_read_at_all, HIROBA_WRITES, )
HIROBA_MPI_FILE(MPI_File_write, HIROBA_READS, const)
HIROBA_MPI_FILE(MPI_File_write_all, HIROBA_READS, const)
HIROBA_MPI_FILE_AT(MPI_File_write_at, HIROBA_READS, const)
HIROBA_MPI_FILE_AT(MPI_File_write_at_all, HIROBA_READS, const)
HIROBA_MPI_CALL(MPI_Put,
                (const void* from, int count, MPI_Datatype type, int target, MPI_Aint place, int most,
                 MPI_Datatype type_there, MPI_Win window),
                HIROBA_READS(from, count, type), (from, count, type, target, place, most, type_there, window))
HIROBA_MPI_CALL(MPI_Get,
                (void* to, int count, MPI_Datatype type, int target, MPI_Aint place, int most, MPI_Datatype type_there,
                 MPI_Win window),
                HIROBA_WRITES(to, count, type), (to, count, type, target, place, most, type_there, window))
HIROBA_MPI_CALL(MPI_Accumulate,
                (const void* from, int count, MPI_Datatype type, int target, MPI_Aint place, int most,
                 MPI_Datatype type_there, MPI_Op op, MPI_Win window),
                HIROBA_READS(from, count, type), (from, count, type, target, place, most, type_there, op, window))

#define MPI_Init(...) hiroba_MPI_Init(__VA_ARGS__)
#define MPI_Send(...) hiroba_MPI_Send(__VA_ARGS__)
#define MPI_Isend(...) hiroba_MPI_Isend(__VA_ARGS__)
#define MPI_Ssend(...) hiroba_MPI_Ssend(__VA_ARGS__)
#define MPI_Issend(...) hiroba_MPI_Issend(__VA_ARGS__)
#define MPI_Bsend(...) hiroba_MPI_Bsend(__VA_ARGS__)
#define MPI_Ibsend(...) hiroba_MPI_Ibsend(__VA_ARGS__)
#define MPI_Rsend(...) hiroba_MPI_Rsend(__VA_ARGS__)
#define MPI_Irsend(...) hiroba_MPI_Irsend(__VA_ARGS__)
#define MPI_Recv(...) hiroba_MPI_Recv(__VA_ARGS__)
#define MPI_Irecv(...) hiroba_MPI_Irecv(__VA_ARGS__)
#define MPI_Sendrecv(...) hiroba_MPI_Sendrecv(__VA_ARGS__)
#define MPI_Sendrecv_replace(...) hiroba_MPI_Sendrecv_replace(__VA_ARGS__)
#define MPI_Bcast(...) hiroba_MPI_Bcast(__VA_ARGS__)
#define MPI_Ibcast(...) hiroba_MPI_Ibcast(__VA_ARGS__)
#define MPI_Reduce(...) hiroba_MPI_Reduce(__VA_ARGS__)
#define MPI_Ireduce(...) hiroba_MPI_Ireduce(__VA_ARGS__)
#define MPI_Allreduce(...) hiroba_MPI_Allreduce(__VA_ARGS__)
#define MPI_Iallreduce(...) hiroba_MPI_Iallreduce(__VA_ARGS__)
#define MPI_Scan(...) hiroba_MPI_Scan(__VA_ARGS__)
#define MPI_Iscan(...) hiroba_MPI_Iscan(__VA_ARGS__)
#define MPI_Exscan(...) hiroba_MPI_Exscan(__VA_ARGS__)
#define MPI_Iexscan(...) hiroba_MPI_Iexscan(__VA_ARGS__)
#define MPI_Reduce_scatter_block(...) hiroba_MPI_Reduce_scatter_block(__VA_ARGS__)
#define MPI_Ireduce_scatter_block(...) hiroba_MPI_Ireduce_scatter_block(__VA_ARGS__)
#define MPI_Allgather(...) hiroba_MPI_Allgather(__VA_ARGS__)
#define MPI_Iallgather(...) hiroba_MPI_Iallgather(__VA_ARGS__)
#define MPI_Alltoall(...) hiroba_MPI_Alltoall(__VA_ARGS__)
#define MPI_Ialltoall(...) hiroba_MPI_Ialltoall(__VA_ARGS__)
#define MPI_Gather(...) hiroba_MPI_Gather(__VA_ARGS__)
#define MPI_Igather(...) hiroba_MPI_Igather(__VA_ARGS__)
#define MPI_Scatter(...) hiroba_MPI_Scatter(__VA_ARGS__)
#define MPI_Iscatter(...) hiroba_MPI_Iscatter(__VA_ARGS__)
#define MPI_Gatherv(...) hiroba_MPI_Gatherv(__VA_ARGS__)
#define MPI_Igatherv(...) hiroba_MPI_Igatherv(__VA_ARGS__)
#define MPI_Scatterv(...) hiroba_MPI_Scatterv(__VA_ARGS__)
#define MPI_Iscatterv(...) hiroba_MPI_Iscatterv(__VA_ARGS__)
#define MPI_Allgatherv(...) hiroba_MPI_Allgatherv(__VA_ARGS__)
#define MPI_Iallgatherv(...) hiroba_MPI_Iallgatherv(__VA_ARGS__)
#define MPI_Alltoallv(...) hiroba_MPI_Alltoallv(__VA_ARGS__)
#define MPI_Ialltoallv(...) hiroba_MPI_Ialltoallv(__VA_ARGS__)
#define MPI_File_read(...) hiroba_MPI_File_read(__VA_ARGS__)
#define MPI_File_read_all(...) hiroba_MPI_File_read_all(__VA_ARGS__)
#define MPI_File_read_at(...) hiroba_MPI_File_read_at(__VA_ARGS__)
#define MPI_File_read_at_all(...) hiroba_MPI_File_read_at_all(__VA_ARGS__)
#define MPI_File_write(...) hiroba_MPI_File_write(__VA_ARGS__)
#define MPI_File_write_all(...) hiroba_MPI_File_write_all(__VA_ARGS__)
#define MPI_File_write_at(...) hiroba_MPI_File_write_at(__VA_ARGS__)
#define MPI_File_write_at_all(...) hiroba_MPI_File_write_at_all(__VA_ARGS__)
#define MPI_Put(...) hiroba_MPI_Put(__VA_ARGS__)
#define MPI_Get(...) hiroba_MPI_Get(__VA_ARGS__)
#define MPI_Accumulate(...) hiroba_MPI_Accumulate(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif /* mpi.h */
#endif
