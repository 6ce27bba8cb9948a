/* collective.h: collective operations on private or shared memory, blocking, started, and persistent.
 *
 * Names, arguments and meaning are those of MPI, with hiroba_ instead of MPI_, and counts of 64 bits. A program starts
 * with sms_startup (sms.h) or as an image (xmp.h). docs/collectives.md teaches them.
 *
 * Collective: all ranks of the team make the call, in the same order with the same counts, types, operators and roots;
 * a rank that does otherwise ends the job with a message that names both calls. Counts are of elements.
 * Buffers: any memory. Shared memory whose home is this node is read in place; other memory is copied once more. Send
 * and receive buffers must not overlap; HIROBA_IN_PLACE as `send` (in scatter: as `recv`) uses the data of the other
 * one. The buffers of a started operation belong to it until it is complete.
 * Results: elements are combined in the order of ranks, so all ranks have the same bits, and every run has.
 * Order: hiroba_barrier publishes shared memory as sms_barrier does (sms.h), among the ranks of the team. No other
 * operation does, nor do hiroba_ibarrier and hiroba_barrier_init: each moves the data of its buffers alone. A rank that
 * reads what another one has written to a shared array needs a barrier, or a lock, between (docs/memory-model.md).
 * Threads: one thread of a rank at a time makes calls for one team. Waits and tests are for any thread.
 * Errors: misuse ends the job with one message. Functions return nothing, unless they say so.
 *
 * hiroba_NAME blocks. hiroba_iNAME starts and returns; hiroba_wait waits. hiroba_NAME_init stores the arguments, all
 * ranks alike; hiroba_start starts the operation, any number of times, and hiroba_request_free ends that.
 */
#ifndef HIROBA_COLLECTIVE_H
#define HIROBA_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types and operators ------------------------------------------------------------------------------------ */

typedef int64_t hiroba_type;
enum {
  HIROBA_BOOL,
  HIROBA_INT8,
  HIROBA_UINT8,
  HIROBA_INT16,
  HIROBA_UINT16,
  HIROBA_INT32,
  HIROBA_UINT32,
  HIROBA_INT64,
  HIROBA_UINT64,
  HIROBA_FLOAT,
  HIROBA_DOUBLE,
  HIROBA_LONG_DOUBLE,
  HIROBA_FLOAT_COMPLEX,
  HIROBA_DOUBLE_COMPLEX,
  HIROBA_LONG_DOUBLE_COMPLEX
};
#define HIROBA_CHAR HIROBA_INT8
#define HIROBA_BYTE HIROBA_UINT8
#define HIROBA_INT HIROBA_INT32
/* Elements of `bytes` bytes, as sizeof(struct pair): for moves, and for the program's own operators. */
#define HIROBA_TYPE(bytes) ((hiroba_type)(bytes) << 8 | 0xff)

/* An operator: one of those below, or the program's own. */
typedef struct hiroba_operator {
  /* mine[i] = mine[i] op theirs[i] for count elements, `theirs` of a later rank; associative. It must not throw, nor
   * call this library. */
  void (*function)(void* mine, const void* theirs, int64_t count, void* context);
  void* context;
  const char* name; /* for messages */
} hiroba_operator;
typedef const hiroba_operator* hiroba_op; /* must outlive its uses */
extern const hiroba_operator hiroba_operators[9];
#define HIROBA_SUM (&hiroba_operators[0])
#define HIROBA_PROD (&hiroba_operators[1])
#define HIROBA_MAX (&hiroba_operators[2])
#define HIROBA_MIN (&hiroba_operators[3])
#define HIROBA_LAND (&hiroba_operators[4])
#define HIROBA_LOR (&hiroba_operators[5])
#define HIROBA_BAND (&hiroba_operators[6])
#define HIROBA_BOR (&hiroba_operators[7])
#define HIROBA_BXOR (&hiroba_operators[8])
/* Returns an operator by its number, for languages that have no address of it. */
hiroba_op hiroba_known_operator(int number);

extern char hiroba_in_place[1];
#define HIROBA_IN_PLACE ((void*)hiroba_in_place)

/* ---- teams -------------------------------------------------------------------------------------------------- */

typedef struct hiroba_team_part* hiroba_team;
#define HIROBA_ALL ((hiroba_team)0) /* all ranks */
#define HIROBA_NO_TEAM ((hiroba_team) - 1)

int hiroba_team_rank(hiroba_team team);
int hiroba_team_size(hiroba_team team);
/* Returns the rank in HIROBA_ALL of a member. */
int hiroba_team_member(hiroba_team team, int member);
/* Collective in `team`: ranks with the same colour become a team, ordered by key, then by rank. With a negative colour
 * a rank gets HIROBA_NO_TEAM. */
void hiroba_team_split(hiroba_team team, int color, int key, hiroba_team* out);
/* Collective in `team`: makes a team of the ranks of the list, in its order; HIROBA_NO_TEAM for the others. All give
 * the same list. */
void hiroba_team_from_list(hiroba_team team, int count, const int ranks[], hiroba_team* out);
/* Collective in `team`: makes a team of the images of an XcalableMP node array (xmp.h), in its order; HIROBA_NO_TEAM
 * for the others. All name the same array: xmp_desc_of(p) in hirobacc, else the address of an xmp_nodes. If it has
 * other images on other ranks, as a row for each, each of these sets becomes a team; two of them must have no rank
 * in common. */
struct xmp_nodes;
void hiroba_team_from_nodes(hiroba_team team, const struct xmp_nodes* nodes, hiroba_team* out);
/* Collective in the team; no operation of it may be under way. Sets it to HIROBA_NO_TEAM. */
void hiroba_team_free(hiroba_team* team);

/* ---- requests ----------------------------------------------------------------------------------------------- */

/* A started operation. Wait for each once, or test it until it is done: then it is HIROBA_NO_REQUEST (a persistent
 * one stays and may be started again). A wait for HIROBA_NO_REQUEST returns at once. */
#ifdef __cplusplus
#define HIROBA_NO_REQUEST (hiroba_request{0})
#else
#define HIROBA_NO_REQUEST ((hiroba_request){0})
#endif

void hiroba_wait(hiroba_request* request);
void hiroba_wait_all(int count, hiroba_request requests[]);
/* Waits for one of them; sets its index, or -1 if all are HIROBA_NO_REQUEST. */
void hiroba_wait_any(int count, hiroba_request requests[], int* index);
/* *done: 1 if it is complete, else 0. */
void hiroba_test(hiroba_request* request, int* done);
/* Gives up the request: function(context) is called once it is complete, by a thread of this rank that waits, or by
 * the progress thread. It must not block; it may start operations. */
void hiroba_then(hiroba_request* request, void (*function)(void* context), void* context);
/* For persistent requests. */
void hiroba_start(hiroba_request* request);
void hiroba_request_free(hiroba_request* request);

/* ---- progress ----------------------------------------------------------------------------------------------- */

/* Option --progress selects the thread that advances started operations; with these two a program says when that
 * pays (modes 1 and 2 of the paper on overlap by Nanri and others): after the first stop, only between start and
 * stop. */
void hiroba_progress_start(void);
void hiroba_progress_stop(void);

/* ---- operations --------------------------------------------------------------------------------------------- */

/* clang-format off */
#define HIROBA_OPERATION(name, ...)                            \
  void hiroba_##name(__VA_ARGS__, hiroba_team team);           \
  void hiroba_i##name(__VA_ARGS__, hiroba_team team, hiroba_request* request); \
  void hiroba_##name##_init(__VA_ARGS__, hiroba_team team, hiroba_request* request);
/* clang-format on */

/* All ranks of the team see after it what any of them has written to shared memory before it; among all ranks it is an
 * sms_barrier. */
void hiroba_barrier(hiroba_team team);
/* Started barriers publish no shared memory. */
void hiroba_ibarrier(hiroba_team team, hiroba_request* request);
void hiroba_barrier_init(hiroba_team team, hiroba_request* request);

HIROBA_OPERATION(bcast, void* buffer, int64_t count, hiroba_type type, int root)
HIROBA_OPERATION(reduce, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op, int root)
HIROBA_OPERATION(allreduce, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op)
/* Rank r gets the combination of ranks 0..r; exscan: of 0..r-1; rank 0 gets nothing. */
HIROBA_OPERATION(scan, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op)
HIROBA_OPERATION(exscan, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op)
/* `count` elements of each rank, or for each rank. */
HIROBA_OPERATION(gather, const void* send, void* recv, int64_t count, hiroba_type type, int root)
HIROBA_OPERATION(scatter, const void* send, void* recv, int64_t count, hiroba_type type, int root)
HIROBA_OPERATION(allgather, const void* send, void* recv, int64_t count, hiroba_type type)
HIROBA_OPERATION(alltoall, const void* send, void* recv, int64_t count, hiroba_type type)
HIROBA_OPERATION(reduce_scatter_block, const void* send, void* recv, int64_t count, hiroba_type type, hiroba_op op)
/* counts[r] elements of rank r, or for it, at element displs[r]; displs NULL: consecutive blocks. */
HIROBA_OPERATION(reduce_scatter, const void* send, void* recv, const int64_t counts[], hiroba_type type, hiroba_op op)
HIROBA_OPERATION(gatherv, const void* send, int64_t count, void* recv, const int64_t counts[], const int64_t displs[],
                 hiroba_type type, int root)
HIROBA_OPERATION(scatterv, const void* send, const int64_t counts[], const int64_t displs[], void* recv, int64_t count,
                 hiroba_type type, int root)
HIROBA_OPERATION(allgatherv, const void* send, int64_t count, void* recv, const int64_t counts[],
                 const int64_t displs[], hiroba_type type)
HIROBA_OPERATION(alltoallv, const void* send, const int64_t sendcounts[], const int64_t senddispls[], void* recv,
                 const int64_t recvcounts[], const int64_t recvdispls[], hiroba_type type)
/* Types of each; displacements in bytes. */
HIROBA_OPERATION(alltoallw, const void* send, const int64_t sendcounts[], const int64_t senddispls[],
                 const hiroba_type sendtypes[], void* recv, const int64_t recvcounts[], const int64_t recvdispls[],
                 const hiroba_type recvtypes[])
/* Block k of `count` elements goes to rank to[k], block k comes from rank from[k]; blocks between two ranks keep
 * their order. */
HIROBA_OPERATION(neighbor_alltoall, const void* send, int nto, const int to[], void* recv, int nfrom, const int from[],
                 int64_t count, hiroba_type type)
#undef HIROBA_OPERATION

/* ---- where calls are, for messages -------------------------------------------------------------------------- */

extern __thread const char* hiroba_place; /* "main.c:12" */
/* Ends the job with "main.c:12: message", for bindings of other languages. */
void hiroba_fail(const char* message) __attribute__((noreturn));
#ifndef HIROBA_NO_PLACES
#define HIROBA_TEXT_(x) #x
#define HIROBA_TEXT(x) HIROBA_TEXT_(x)
#define HIROBA_HERE(call) (hiroba_place = __FILE__ ":" HIROBA_TEXT(__LINE__), call)
#define hiroba_barrier(...) HIROBA_HERE(hiroba_barrier(__VA_ARGS__))
#define hiroba_ibarrier(...) HIROBA_HERE(hiroba_ibarrier(__VA_ARGS__))
#define hiroba_barrier_init(...) HIROBA_HERE(hiroba_barrier_init(__VA_ARGS__))
#define hiroba_bcast(...) HIROBA_HERE(hiroba_bcast(__VA_ARGS__))
#define hiroba_ibcast(...) HIROBA_HERE(hiroba_ibcast(__VA_ARGS__))
#define hiroba_bcast_init(...) HIROBA_HERE(hiroba_bcast_init(__VA_ARGS__))
#define hiroba_reduce(...) HIROBA_HERE(hiroba_reduce(__VA_ARGS__))
#define hiroba_ireduce(...) HIROBA_HERE(hiroba_ireduce(__VA_ARGS__))
#define hiroba_reduce_init(...) HIROBA_HERE(hiroba_reduce_init(__VA_ARGS__))
#define hiroba_allreduce(...) HIROBA_HERE(hiroba_allreduce(__VA_ARGS__))
#define hiroba_iallreduce(...) HIROBA_HERE(hiroba_iallreduce(__VA_ARGS__))
#define hiroba_allreduce_init(...) HIROBA_HERE(hiroba_allreduce_init(__VA_ARGS__))
#define hiroba_scan(...) HIROBA_HERE(hiroba_scan(__VA_ARGS__))
#define hiroba_iscan(...) HIROBA_HERE(hiroba_iscan(__VA_ARGS__))
#define hiroba_scan_init(...) HIROBA_HERE(hiroba_scan_init(__VA_ARGS__))
#define hiroba_exscan(...) HIROBA_HERE(hiroba_exscan(__VA_ARGS__))
#define hiroba_iexscan(...) HIROBA_HERE(hiroba_iexscan(__VA_ARGS__))
#define hiroba_exscan_init(...) HIROBA_HERE(hiroba_exscan_init(__VA_ARGS__))
#define hiroba_gather(...) HIROBA_HERE(hiroba_gather(__VA_ARGS__))
#define hiroba_igather(...) HIROBA_HERE(hiroba_igather(__VA_ARGS__))
#define hiroba_gather_init(...) HIROBA_HERE(hiroba_gather_init(__VA_ARGS__))
#define hiroba_scatter(...) HIROBA_HERE(hiroba_scatter(__VA_ARGS__))
#define hiroba_iscatter(...) HIROBA_HERE(hiroba_iscatter(__VA_ARGS__))
#define hiroba_scatter_init(...) HIROBA_HERE(hiroba_scatter_init(__VA_ARGS__))
#define hiroba_allgather(...) HIROBA_HERE(hiroba_allgather(__VA_ARGS__))
#define hiroba_iallgather(...) HIROBA_HERE(hiroba_iallgather(__VA_ARGS__))
#define hiroba_allgather_init(...) HIROBA_HERE(hiroba_allgather_init(__VA_ARGS__))
#define hiroba_alltoall(...) HIROBA_HERE(hiroba_alltoall(__VA_ARGS__))
#define hiroba_ialltoall(...) HIROBA_HERE(hiroba_ialltoall(__VA_ARGS__))
#define hiroba_alltoall_init(...) HIROBA_HERE(hiroba_alltoall_init(__VA_ARGS__))
#define hiroba_reduce_scatter_block(...) HIROBA_HERE(hiroba_reduce_scatter_block(__VA_ARGS__))
#define hiroba_ireduce_scatter_block(...) HIROBA_HERE(hiroba_ireduce_scatter_block(__VA_ARGS__))
#define hiroba_reduce_scatter_block_init(...) HIROBA_HERE(hiroba_reduce_scatter_block_init(__VA_ARGS__))
#define hiroba_reduce_scatter(...) HIROBA_HERE(hiroba_reduce_scatter(__VA_ARGS__))
#define hiroba_ireduce_scatter(...) HIROBA_HERE(hiroba_ireduce_scatter(__VA_ARGS__))
#define hiroba_reduce_scatter_init(...) HIROBA_HERE(hiroba_reduce_scatter_init(__VA_ARGS__))
#define hiroba_gatherv(...) HIROBA_HERE(hiroba_gatherv(__VA_ARGS__))
#define hiroba_igatherv(...) HIROBA_HERE(hiroba_igatherv(__VA_ARGS__))
#define hiroba_gatherv_init(...) HIROBA_HERE(hiroba_gatherv_init(__VA_ARGS__))
#define hiroba_scatterv(...) HIROBA_HERE(hiroba_scatterv(__VA_ARGS__))
#define hiroba_iscatterv(...) HIROBA_HERE(hiroba_iscatterv(__VA_ARGS__))
#define hiroba_scatterv_init(...) HIROBA_HERE(hiroba_scatterv_init(__VA_ARGS__))
#define hiroba_allgatherv(...) HIROBA_HERE(hiroba_allgatherv(__VA_ARGS__))
#define hiroba_iallgatherv(...) HIROBA_HERE(hiroba_iallgatherv(__VA_ARGS__))
#define hiroba_allgatherv_init(...) HIROBA_HERE(hiroba_allgatherv_init(__VA_ARGS__))
#define hiroba_alltoallv(...) HIROBA_HERE(hiroba_alltoallv(__VA_ARGS__))
#define hiroba_ialltoallv(...) HIROBA_HERE(hiroba_ialltoallv(__VA_ARGS__))
#define hiroba_alltoallv_init(...) HIROBA_HERE(hiroba_alltoallv_init(__VA_ARGS__))
#define hiroba_alltoallw(...) HIROBA_HERE(hiroba_alltoallw(__VA_ARGS__))
#define hiroba_ialltoallw(...) HIROBA_HERE(hiroba_ialltoallw(__VA_ARGS__))
#define hiroba_alltoallw_init(...) HIROBA_HERE(hiroba_alltoallw_init(__VA_ARGS__))
#define hiroba_neighbor_alltoall(...) HIROBA_HERE(hiroba_neighbor_alltoall(__VA_ARGS__))
#define hiroba_ineighbor_alltoall(...) HIROBA_HERE(hiroba_ineighbor_alltoall(__VA_ARGS__))
#define hiroba_neighbor_alltoall_init(...) HIROBA_HERE(hiroba_neighbor_alltoall_init(__VA_ARGS__))
#define hiroba_team_rank(...) HIROBA_HERE(hiroba_team_rank(__VA_ARGS__))
#define hiroba_team_size(...) HIROBA_HERE(hiroba_team_size(__VA_ARGS__))
#define hiroba_team_member(...) HIROBA_HERE(hiroba_team_member(__VA_ARGS__))
#define hiroba_team_split(...) HIROBA_HERE(hiroba_team_split(__VA_ARGS__))
#define hiroba_team_from_list(...) HIROBA_HERE(hiroba_team_from_list(__VA_ARGS__))
#define hiroba_team_from_nodes(...) HIROBA_HERE(hiroba_team_from_nodes(__VA_ARGS__))
#define hiroba_team_free(...) HIROBA_HERE(hiroba_team_free(__VA_ARGS__))
#define hiroba_wait(...) HIROBA_HERE(hiroba_wait(__VA_ARGS__))
#define hiroba_wait_all(...) HIROBA_HERE(hiroba_wait_all(__VA_ARGS__))
#define hiroba_wait_any(...) HIROBA_HERE(hiroba_wait_any(__VA_ARGS__))
#define hiroba_test(...) HIROBA_HERE(hiroba_test(__VA_ARGS__))
#define hiroba_then(...) HIROBA_HERE(hiroba_then(__VA_ARGS__))
#define hiroba_start(...) HIROBA_HERE(hiroba_start(__VA_ARGS__))
#define hiroba_request_free(...) HIROBA_HERE(hiroba_request_free(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
