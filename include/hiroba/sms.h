/* sms.h: shared arrays with plain pointers, in C.
 *
 * The interface of the mSMS paper (Midorikawa et al., jh190039-ISH, 2019), with additions that this file and
 * docs/memory-model.md define.
 *
 * Who owns what: memory from sms_alloc/sms_mapalloc belongs to the job; its address is the same in every rank.
 * Collective: "collective" below means that every rank makes the call, in the same order, with the same
 * arguments; a rank that does otherwise ends the job with a message that names both callers.
 * Threads: one thread of a rank makes collective calls, while no other thread of that rank touches shared memory. All
 * other calls may be made by many threads at once.
 * Errors: misuse ends the job with one message (rank, place, limit, value) and a non-zero exit status. So functions
 * here return no error codes, unless stated otherwise. */
#ifndef HIROBA_SMS_H
#define HIROBA_SMS_H

#include <stddef.h>
#include <stdint.h>

#include "request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Set by sms_startup, read-only afterwards. */
extern int sms_rank;   /* 0 .. sms_nprocs-1 */
extern int sms_nprocs; /* number of ranks */
extern int sms_node;   /* node of this rank: ranks of one node share physical memory */
extern int sms_nnodes; /* number of nodes */

/* ---- start and end ----------------------------------------------------------------------------------------------- */

/* Collective; blocks until every rank has called it. Returns 0. A program started without hirobarun is a job of
 * one rank. Takes nothing from argv. */
int sms_startup(int* argc, char*** argv);

/* Collective; blocks. Frees every shared array. Returns 0. */
int sms_shutdown(void);

/* Returns the version of the library, "0.2.0". Any time, also before the start. */
const char* hiroba_version(void);

/* Ends the whole job with `status` (1..255) after printing `message`; does not return. */
void sms_abort(int status, const char* message) __attribute__((noreturn));

/* ---- allocation (collective, blocking, zero-filled) -------------------------------------------------------------- */
/* Extents, element counts and element sizes are at least 1. */

/* An array of n elements of elemsize bytes, whole on `rank`. Never returns NULL. */
void* sms_alloc(size_t elemsize, size_t n, int rank);

/* An array of dim[0] x dim[1] x ... elements (C order, the list ends with -1; up to 8 dimensions), dimension d divided
 * into div[d] pieces (1 <= div[d] <= dim[d]) of ceil(dim[d]/div[d]) elements (the last ones may be shorter or empty).
 * The home of piece k, counted in C order, is rank first+k; so the product of div is at most `count`, and first+count
 * at most sms_nprocs. */
void* sms_mapalloc(const int dim[], const int div[], size_t elemsize, int first, int count);

/* The same for extents beyond INT_MAX. */
void* sms_mapalloc_large(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count);

/* Distributes an array again, with its contents: dimension d is divided into div[d] pieces (the list ends with -1),
 * as by sms_mapalloc(dim, div, elemsize, 0, sms_nprocs). Collective and a barrier; blocks. The address stays, pages
 * whose home does not change node do not move, and memory that is not in use stays so. No request may be under way
 * on the array. */
void sms_redistribute(void* array, const int div[]);
/* The same with the pieces on the ranks from `first` on, of which there are `count`. */
void sms_redistribute_on(void* array, const int div[], int first, int count);

/* The node that has the memory of a page (docs/homes.md). SMS_HOMES_FIXED: by the distribution of the array.
 * SMS_HOMES_FIRST_TOUCH: that of the rank that has written it before the end of the first sms_barrier after the
 * array came into use; set it before that barrier. SMS_HOMES_MIGRATING: a page that only one rank of another node
 * writes, over several sms_barrier, moves there in one of them. Collective; the default is the option HIROBA_HOMES. */
enum sms_homes { SMS_HOMES_FIXED = 0, SMS_HOMES_FIRST_TOUCH = 1, SMS_HOMES_MIGRATING = 2 };
void sms_set_homes(void* array, enum sms_homes policy);

/* Frees an array; `array` is a result of sms_alloc or sms_mapalloc, or NULL. Its addresses are not used again while
 * the address range lasts, so a later use is reported. */
void sms_free(void* array);

/* Names an array for messages and statistics (the text is copied; default: "FILE:LINE" of the allocation).
 * Not collective. */
void sms_name(void* array, const char* name);

/* Declares the size of one value if ranks write the array between synchronisations: `bytes` bytes: 1, 2, 4, 8, at an
 * address that is divisible by them. If two ranks write the same value, that of one remains; ranks that write
 * different values of one page never disturb each other. The default is the size of an element if that is 2, 4 or 8,
 * else 1. Call it if elements of such a size are structures of which different ranks write different members (with
 * the size of the smallest member), or if larger elements, or bytes, are numbers that ranks may write at a time.
 * Every rank calls it before it writes the array. */
void sms_set_scalar(void* array, size_t bytes);

/* The time at which the unmodified copy of a page ("twin") is made, for this array: see docs/memory-model.md.
 * Collective; the default is the option HIROBA_TWIN. */
enum sms_twin { SMS_TWIN_DEFAULT = 0, SMS_TWIN_AT_FETCH = 1, SMS_TWIN_AT_WRITE = 2 };
void sms_set_twin(void* array, enum sms_twin when);

/* ---- the heap (not collective) ----------------------------------------------------------------------------------- */
/* Objects of any size in shared memory, at the same address in every rank. Any thread of any rank allocates and
 * frees them; no other rank takes part. Objects that different ranks have allocated never share a page. The heap is
 * shared memory like arrays: writes to an object, and a pointer to it, reach other ranks by a lock, a barrier or a
 * flag, as docs/memory-model.md says. docs/heap.md is about the heap.
 *
 * These calls never return NULL: when there is no room (option heap), the job ends with a message that names the
 * places of the program and the memory that they hold. Every object is aligned for every type of C. */

/* Returns an object of `bytes` bytes, its contents indeterminate, with its home at this rank. */
void* sms_malloc(size_t bytes);
/* The same with its home at `rank`. May block while memory is taken from a rank on another node. */
void* sms_malloc_on(size_t bytes, int rank);
/* Returns n * bytes zero bytes. */
void* sms_calloc(size_t n, size_t bytes);
/* `alignment` is a power of two. */
void* sms_aligned_alloc(size_t alignment, size_t bytes);
/* Returns the object with its contents in `bytes` bytes, here or at another address; its home stays. From NULL:
 * sms_malloc. */
void* sms_realloc(void* object, size_t bytes);
/* Frees an object, which any rank may have allocated, or nothing if it is NULL. This rank's writes to it need not be
 * published before. The rank that has allocated it gets it back later, in a batch. */
void sms_mfree(void* object);

typedef struct sms_heap_statistics {
  uint64_t live_bytes; /* of objects that this rank has allocated, with sizes as rounded up */
  uint64_t used_bytes; /* the memory of these, and free memory that is kept */
  uint64_t returned;   /* objects of other ranks that this rank has freed and given back to them */
  uint64_t batches;    /* the number of these batches */
} sms_heap_statistics;

/* Sets *out to the counts of this rank. */
void sms_heap_stats(sms_heap_statistics* out);

/* ---- synchronisation --------------------------------------------------------------------------------------------- */

/* Collective; blocks. Every rank reads after it what any rank wrote before it. */
void sms_barrier(void);

/* Collective; blocks. As sms_barrier, but each rank drops all copies of pages of other nodes, and ranks send no
 * numbers of written pages: cheaper if few pages are cached. */
void sms_sync_drop(void);

/* The same in two halves, so that a rank can compute while other ranks arrive: the first publishes, drops and
 * returns; the second blocks until all ranks have made the first. Between them a rank may use only data that no
 * other rank uses, because others may be before their start or after their wait. It must make no other collective
 * call there. */
void sms_sync_drop_start(void);
void sms_sync_drop_wait(void);

/* Not collective, does not wait: publishes this rank's writes (release), and refreshes or drops its copies of data
 * that other ranks had published before they changed an atomic integer that this rank has used since its last
 * sms_sync (acquire). For flags built with the atomics below. */
void sms_sync(void);

/* Locks 0 .. SMS_LOCKS-1, unlocked at first, given in the order of requests. sms_lock blocks and acquires; sms_unlock
 * releases. sms_trylock returns 1 if it took the lock, else 0. Held by a thread; not recursive. */
#define SMS_LOCKS 65536
void sms_lock(int id);
int sms_trylock(int id);
void sms_unlock(int id);

/* The same locks, shared: any number of threads that share a lock hold it at once, and no thread then holds it
 * alone. They should only read the data that it protects. Requests of both kinds are served in their order, so
 * neither starves. */
void sms_lock_shared(int id);
int sms_trylock_shared(int id);
void sms_unlock_shared(int id);

/* Condition variables 0 .. SMS_CONDITIONS-1. sms_wait releases `lock`, which this thread must hold alone, blocks
 * until a signal, and takes the lock again. Threads that wait for a condition at a time must name the same lock.
 * Threads wake in the order in which they began to wait, and none without a signal; but another may have held the
 * lock in between, so test the condition in a loop. sms_signal wakes the one that has waited longest, if there is
 * one, sms_broadcast all; the caller holds the lock, or has held it since it changed the condition. */
#define SMS_CONDITIONS 65536
void sms_wait(int condition, int lock);
void sms_signal(int condition);
void sms_broadcast(int condition);

/* Calls `function` if this is the first such call in the job with this number, 0 .. SMS_ONCES-1; returns, in every
 * rank and thread, when the function has returned and its writes are visible. */
#define SMS_ONCES 4096
void sms_once(int id, void (*function)(void));

/* ---- preloads ---------------------------------------------------------------------------------------------------- */

/* Elements base, base+step, .. (length of them) of one dimension. step >= 1. */
typedef struct sms_range {
  int64_t base, length, step;
} sms_range;

typedef hiroba_request sms_request;

/* Fetches the pages that contain a section of an array into this rank's cache: one sms_range per dimension of the
 * array. Blocks until they have arrived. Pages that are already valid here are not fetched. Not a synchronisation. */
void sms_preload(const void* array, const sms_range section[]);

/* As sms_preload, without waiting; sms_preload_wait blocks until the data of this request has arrived. Waiting is
 * optional: an access before the data has arrived is a page fault like any other. */
sms_request sms_preload_start(const void* array, const sms_range section[]);
void sms_preload_wait(sms_request* request);

/* Preload any bytes inside one array. */
void sms_preload_bytes(const void* address, size_t bytes);

/* Declares that this rank preloads, and waits for, all elements of the array on other nodes after each synchronisation
 * before it reads or writes them. Then sms_sync_drop leaves stale copies mapped, and a preload refreshes them in place,
 * without the system calls that unmap and map a page. An access without a preload reads old values; under hirobarun
 * --check it ends the job. Not collective. */
void sms_promise_preload(const void* array);

/* ---- homes ------------------------------------------------------------------------------------------------------- */

/* Returns the rank that owns the element at this address, by the distribution. */
int sms_home(const void* address);

/* Returns the part of an array that `rank` owns: first[d] and length[d] elements in each dimension (lengths 0 if
 * none), and the number of dimensions. first and length have room for 8. */
int sms_local_box(const void* array, int rank, size_t first[], size_t length[]);

/* ---- atomics on shared integers ---------------------------------------------------------------------------------- */

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
/* Combine one value per rank, in rank order, so all ranks, and all runs, get the same bits. They synchronise execution
 * but not shared memory. */
double sms_reduce_double(double value, enum sms_op op);
int64_t sms_reduce_int64(int64_t value, enum sms_op op);

/* ---- statistics -------------------------------------------------------------------------------------------------- */

typedef struct sms_statistics {
  uint64_t read_faults;     /* accesses that the runtime had to handle */
  uint64_t pages_fetched;   /* pages fetched from another node, by any means */
  uint64_t pages_preloaded; /* of these, those requested by sms_preload */
  uint64_t bytes_fetched;
  uint64_t pages_diffed; /* written pages compared with their twin */
  uint64_t bytes_sent;   /* diffs with their headers */
  uint64_t pages_evicted;
  uint64_t pages_invalidated; /* another rank wrote them, or a drop */
  uint64_t notices_sent;      /* pages named as written to other ranks */
  uint64_t pages_cached;      /* now */
  /* For all arrays together only: messages that this rank has sent over the network, for any purpose. */
  uint64_t messages_sent;
  uint64_t message_bytes;
  uint64_t home_faults; /* pages of this node, copied by others, that this rank has written; each once between two
                           synchronisations, by a fault that the kernel handles */
} sms_statistics;

/* Sets *out to the counts of this rank: for one array, or with NULL for all, including freed ones. */
void sms_stats(const void* array, sms_statistics* out);

/* ---- allocation sites -------------------------------------------------------------------------------------------- */

/* The calls above, with the place for messages; the macros below provide it. */
void* sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place);
void* sms_mapalloc_at(const int dim[], const int div[], size_t elemsize, int first, int count, const char* place);
void* sms_mapalloc_large_at(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count,
                            const char* place);
void* sms_malloc_at(size_t bytes, const char* place);
void* sms_malloc_on_at(size_t bytes, int rank, const char* place);
void* sms_calloc_at(size_t n, size_t bytes, const char* place);
void* sms_aligned_alloc_at(size_t alignment, size_t bytes, const char* place);
void* sms_realloc_at(void* object, size_t bytes, const char* place);
void sms_mfree_at(void* object, const char* place);

#ifndef SMS_NO_PLACES
#define SMS_TEXT2(x) #x
#define SMS_TEXT(x) SMS_TEXT2(x)
#define sms_alloc(...) sms_alloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_mapalloc(...) sms_mapalloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_mapalloc_large(...) sms_mapalloc_large_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_malloc(...) sms_malloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_malloc_on(...) sms_malloc_on_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_calloc(...) sms_calloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_aligned_alloc(...) sms_aligned_alloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_realloc(...) sms_realloc_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#define sms_mfree(...) sms_mfree_at(__VA_ARGS__, __FILE__ ":" SMS_TEXT(__LINE__))
#endif

#ifdef __cplusplus
}
#endif
#endif
