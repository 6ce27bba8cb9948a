/* sms.h: shared arrays with plain pointers, in C.
 *
 * The interface of the mSMS paper (Midorikawa et al., jh190039-ISH, 2019), with what it leaves open defined
 * here and in docs/memory-model.md.
 *
 * Who owns what: memory from sms_alloc/sms_mapalloc belongs to the job; its address is the same in every rank.
 * Collective: "collective" below means that every rank makes the call, in the same order, with the same
 * arguments; a rank that does otherwise ends the job with a message that names both callers.
 * Threads: one thread of a rank makes collective calls, while no other thread of that rank touches shared
 * memory. Everything else may be called from many threads at once.
 * Errors: misuse ends the job with one message (rank, place, limit, value) and a non-zero exit status. Functions
 * here therefore return no error codes, unless they say so.
 */
#ifndef HIROBA_SMS_H
#define HIROBA_SMS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set by sms_startup, read-only afterwards. */
extern int sms_rank;   /* 0 .. sms_nprocs-1 */
extern int sms_nprocs; /* number of ranks */
extern int sms_node;   /* node of this rank: ranks of one node share physical memory */
extern int sms_nnodes; /* number of nodes */

/* ---- start and end -------------------------------------------------------------------------------------- */

/* Collective; blocks until every rank has called it. Returns 0. A program started without hirobarun is a job of
 * one rank. Takes nothing from argv. */
int sms_startup(int* argc, char*** argv);

/* Collective; blocks. Frees every shared array. Returns 0. */
int sms_shutdown(void);

/* Ends the whole job with `status` (1..255) after printing `message`; does not return. */
void sms_abort(int status, const char* message) __attribute__((noreturn));

/* ---- allocation (collective, blocking, zero-filled) --------------------------------------------------------- */
/* Extents, element counts and element sizes are at least 1. */

/* An array of n elements of elemsize bytes, whole on `rank`. Never returns NULL. */
void* sms_alloc(size_t elemsize, size_t n, int rank);

/* An array of dim[0] x dim[1] x ... elements (C order, the list ends with -1; up to 8 dimensions), dimension d cut
 * into div[d] pieces (1 <= div[d] <= dim[d]) of ceil(dim[d]/div[d]) elements (the last ones may be shorter or empty).
 * Piece k, counted in C order, lives on rank first+k; so the product of div is at most `count`, and first+count at most
 * sms_nprocs. */
void* sms_mapalloc(const int dim[], const int div[], size_t elemsize, int first, int count);

/* The same for extents beyond INT_MAX. */
void* sms_mapalloc_large(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count);

/* Frees an array; `array` is what sms_alloc or sms_mapalloc returned, or NULL. Its addresses are not used again
 * while the address range lasts, so a later use is reported. */
void sms_free(void* array);

/* Names an array for messages and statistics (the text is copied; default: "FILE:LINE" of the allocation).
 * Not collective. */
void sms_name(void* array, const char* name);

/* When the unmodified copy of a page ("twin") is made, for this array: see docs/memory-model.md. Collective; the
 * default is the option HIROBA_TWIN. */
enum sms_twin { SMS_TWIN_DEFAULT = 0, SMS_TWIN_AT_FETCH = 1, SMS_TWIN_AT_WRITE = 2 };
void sms_set_twin(void* array, enum sms_twin when);

/* ---- synchronisation ---------------------------------------------------------------------------------------- */

/* Collective; blocks. What any rank wrote before is what every rank reads after. */
void sms_barrier(void);

/* Collective; blocks. As sms_barrier, but each rank forgets everything it has cached from other nodes instead of
 * exchanging what was written where: cheaper where little was cached. */
void sms_sync_drop(void);

/* The same in two halves, around work that concerns no other rank, which then costs nothing to wait for: the first
 * publishes, forgets and returns; the second blocks until all ranks have made the first. In between a rank may use
 * what no other rank does: others may still be where they were before their start, or already behind their wait. No
 * other collective call may be made there. */
void sms_sync_drop_start(void);
void sms_sync_drop_wait(void);

/* This rank alone, no waiting: publishes what it wrote (release) and forgets what others may have changed
 * (acquire). For flags built with the atomics below. */
void sms_sync(void);

/* Locks 0 .. SMS_LOCKS-1, created unlocked, served in order of arrival. sms_lock blocks and acquires; sms_unlock
 * releases. sms_trylock returns 1 if it took the lock, else 0. Held by a thread; not recursive. */
#define SMS_LOCKS 65536
void sms_lock(int id);
int sms_trylock(int id);
void sms_unlock(int id);

/* ---- moving data ahead of its use ----------------------------------------------------------------------------- */

/* Elements base, base+step, .. (length of them) of one dimension. step >= 1. */
typedef struct sms_range {
  int64_t base, length, step;
} sms_range;

typedef struct sms_request {
  uint64_t state; /* opaque */
} sms_request;

/* Brings the pages that hold a section of an array into this rank's cache: one sms_range per dimension of the
 * array. Blocks until they are there. Pages already here cost nothing. Not a synchronisation. */
void sms_preload(const void* array, const sms_range section[]);

/* As sms_preload, without waiting; sms_preload_wait blocks until the data of this request is here, and not until that
 * of others is. Waiting is optional: an access before the data has arrived is a page fault like any other. */
sms_request sms_preload_start(const void* array, const sms_range section[]);
void sms_preload_wait(sms_request* request);

/* Any bytes inside one array. */
void sms_preload_bytes(const void* address, size_t bytes);

/* A promise of this rank: what it reads or writes of the array on other nodes, it has preloaded since the last
 * synchronisation, and has waited for. Then sms_sync_drop leaves its copies in place, out of date, and a preload renews
 * them there, which saves the system calls of a page that goes and comes. Under hirobarun --check what breaks the
 * promise ends the job; without it, old values are read. Not collective. */
void sms_promise_preload(const void* array);

/* ---- where things live ------------------------------------------------------------------------------------------ */

/* The rank that owns the element at this address, by the distribution. */
int sms_home(const void* address);

/* The part of an array that `rank` owns: first[d] and length[d] elements in each dimension (lengths 0 if none).
 * Returns the number of dimensions. first and length have room for 8. */
int sms_local_box(const void* array, int rank, size_t first[], size_t length[]);

/* ---- atomics on shared integers -------------------------------------------------------------------------------- */

/* Sequentially consistent among themselves, performed at the home. They order nothing else: see sms_sync. Aligned
 * addresses only. The fetch_ forms return the old value. */
int64_t sms_fetch_add(int64_t* address, int64_t value);
int64_t sms_compare_swap(int64_t* address, int64_t expected, int64_t desired);
int64_t sms_atomic_load(const int64_t* address);
void sms_atomic_store(int64_t* address, int64_t value);
int32_t sms_fetch_add32(int32_t* address, int32_t value);
int32_t sms_compare_swap32(int32_t* address, int32_t expected, int32_t desired);

/* ---- reductions (collective, blocking) --------------------------------------------------------------------------- */

enum sms_op { SMS_SUM = 0, SMS_MIN = 1, SMS_MAX = 2, SMS_PROD = 3 };
/* Combine one value per rank, in rank order, so every rank gets the same bits each time. They synchronise execution
 * but not shared memory. */
double sms_reduce_double(double value, enum sms_op op);
int64_t sms_reduce_int64(int64_t value, enum sms_op op);

/* ---- statistics -------------------------------------------------------------------------------------------------- */

typedef struct sms_statistics {
  uint64_t read_faults;     /* accesses that the runtime had to serve */
  uint64_t pages_fetched;   /* pages brought from another node, by any way */
  uint64_t pages_preloaded; /* of these, those asked for by sms_preload */
  uint64_t bytes_fetched;
  uint64_t pages_diffed; /* written pages compared with their twin */
  uint64_t bytes_sent;   /* diffs, all in */
  uint64_t pages_evicted;
  uint64_t pages_invalidated; /* because another rank wrote them, or by a drop */
  uint64_t notices_sent;      /* pages announced as written */
  uint64_t pages_cached;      /* now */
  /* For all arrays together only: what this rank has handed to the network, whatever for. */
  uint64_t messages_sent;
  uint64_t message_bytes;
} sms_statistics;

/* Of this rank: for one array, or for all with NULL. */
void sms_stats(const void* array, sms_statistics* out);

/* ---- allocation sites -------------------------------------------------------------------------------------------- */

/* The calls above, with the place to name in messages; the macros below fill it in. */
void* sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place);
void* sms_mapalloc_at(const int dim[], const int div[], size_t elemsize, int first, int count, const char* place);
void* sms_mapalloc_large_at(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count,
                            const char* place);

#ifndef SMS_NO_PLACES
#define SMS_TEXT2(x) #x
#define SMS_TEXT(x) SMS_TEXT2(x)
#define sms_alloc(...) sms_alloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_mapalloc(...) sms_mapalloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_mapalloc_large(...) sms_mapalloc_large_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#endif

#ifdef __cplusplus
}
#endif
#endif
