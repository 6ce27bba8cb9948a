/* transaction.h: transactions on memory: blocks whose loads and stores take effect together, or not at all.
 * docs/transactions.md teaches it, transaction.hpp is for C++.
 *
 *   HIROBA_ATOMIC {
 *     const int64_t from = hiroba_tx_load_int64(&account[a]);
 *     hiroba_tx_store_int64(&account[a], from - amount);
 *     hiroba_tx_store_int64(&account[b], hiroba_tx_load_int64(&account[b]) + amount);
 *   }
 *
 * Memory: any shared array, the heap, and private memory of the process, which its threads share. Transactions of all
 * threads of all ranks behave as if they ran one after the other, each between its begin and its end; also one that
 * will be aborted sees only values that were there together (opacity).
 * A block runs again from its begin when another transaction has changed what it has read, so it has no effects but
 * by the calls below. What it assigns to local variables stays: a variable that it changes must be set in it, or be
 * volatile. It is left at its end or by hiroba_tx_abort, not by return, break, goto or longjmp.
 * Other accesses: memory that is in use by transactions must not be used by other loads and stores at the same time.
 * Publication: plain stores of a rank before a transaction that makes them reachable are seen by transactions that
 * reach them; between nodes, stores to memory at home on another node need hiroba_tx_fence or a barrier before it.
 * Privatisation: after a transaction has made memory unreachable for others, its rank may use that without
 * transactions, on one node at once, between nodes after hiroba_tx_fence or a barrier. A lock, an atomic or a barrier
 * orders plain accesses before and after it with transactions, as it does with other accesses.
 * Nesting: a block in a block is part of the outer one, to a depth of HIROBA_TX_MOST_NESTED; an abort ends the
 * outermost one. Refused in a block, with a message that ends the job, unless it is irrevocable: collective calls,
 * locks of sms.h, the end of the program, input and output (docs/transactions.md says which calls are seen). Every
 * transaction ends: one that has failed option transaction-retries times, or for half a second, runs alone.
 * Thread-safe. They work before sms_startup and after sms_shutdown, too, on private memory.
 */
#ifndef HIROBA_TRANSACTION_H
#define HIROBA_TRANSACTION_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HIROBA_TX_MOST_NESTED = 1000 };

/* ---- blocks --------------------------------------------------------------------------------------------------- */

/* For the macros and transaction.hpp. `restart` is called, and does not return, when the block is to run again. */
typedef struct hiroba_tx_frame {
  void (*restart)(struct hiroba_tx_frame* frame);
  const char* place; /* "main.c:12" */
  int open;
  int value;
  int calls_checked; /* not 0: a compiler has checked which functions the block calls */
  jmp_buf jump;
} hiroba_tx_frame;

#if defined(__GNUC__) && !defined(__clang__)
#define HIROBA_TX_DIRECT __attribute__((noplt)) /* the call needs no jump in between */
#else
#define HIROBA_TX_DIRECT
#endif
/* Begins, also again after a restart. Returns 0 if the program has aborted the transaction: the block is to be left. */
HIROBA_TX_DIRECT int hiroba_tx_begin(hiroba_tx_frame* frame);
/* Commits; restarts if that is not possible. */
HIROBA_TX_DIRECT void hiroba_tx_commit(hiroba_tx_frame* frame);
void hiroba_tx_jump(hiroba_tx_frame* frame); /* the `restart` of C */

#define HIROBA_TX_TEXT_(x) #x
#define HIROBA_TX_TEXT(x) HIROBA_TX_TEXT_(x)
#define HIROBA_TX_FRAME {.restart = hiroba_tx_jump, .place = __FILE__ ":" HIROBA_TX_TEXT(__LINE__), .open = 1}
/* HIROBA_ATOMIC { ... }: a transaction. */
#ifndef __cplusplus
#define HIROBA_ATOMIC                                                                           \
  for (hiroba_tx_frame hiroba_tx_here = HIROBA_TX_FRAME;                                        \
       hiroba_tx_here.open && (_setjmp(hiroba_tx_here.jump), hiroba_tx_begin(&hiroba_tx_here)); \
       hiroba_tx_commit(&hiroba_tx_here))
#endif

/* ---- in a block ----------------------------------------------------------------------------------------------- */

/* Loads and stores of objects at a multiple of their size: int64_t hiroba_tx_load_int64(const int64_t* at),
 * void hiroba_tx_store_int64(int64_t* at, int64_t value), and so on. Outside of a transaction each is one of its own.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses. */
#define HIROBA_TX_TYPE(name, type)                             \
  HIROBA_TX_DIRECT type hiroba_tx_load_##name(type const* at); \
  HIROBA_TX_DIRECT void hiroba_tx_store_##name(type* at, type value);
/* NOLINTEND(bugprone-macro-parentheses) */
#define HIROBA_TX_TYPES(of)                                                                                         \
  of(int8, int8_t) of(int16, int16_t) of(int32, int32_t) of(int64, int64_t) of(uint8, uint8_t) of(uint16, uint16_t) \
      of(uint32, uint32_t) of(uint64, uint64_t) of(float, float) of(double, double) of(pointer, void*)
HIROBA_TX_TYPES(HIROBA_TX_TYPE)
#undef HIROBA_TX_TYPE
/* Copy memory of any length and alignment between memory that transactions use, `shared`, and memory of this thread. */
void hiroba_tx_read(void* to, const void* shared, size_t bytes);
void hiroba_tx_write(void* shared, const void* from, size_t bytes);

/* Allocates memory on the heap of sms.h (before sms_startup and after sms_shutdown: by malloc); an abort frees it. */
void* hiroba_tx_malloc(size_t bytes);
void* hiroba_tx_malloc_on(size_t bytes, int rank);
/* Frees an object of the heap, or of malloc, when the transaction commits. NULL is ignored. The transaction must not
 * load, store or free it afterwards. */
void hiroba_tx_free(void* object);

/* Ends the transaction without effect, and leaves the outermost block. hiroba_tx_value returns `value` (not 0). */
void hiroba_tx_abort(int value) __attribute__((noreturn));
/* Undoes the block, and runs it again when something that it has read has changed. Sleeps meanwhile. A block that has
 * read nothing, or is irrevocable, is refused. */
void hiroba_tx_retry(void) __attribute__((noreturn));
/* Undoes the block, and runs it again, as after a conflict. */
void hiroba_tx_restart(void) __attribute__((noreturn));
/* From now on no other transaction runs until this one commits, and it does not run again; it may then do what cannot
 * be undone. May restart the block first. */
void hiroba_tx_irrevocable(void);
/* Calls action(argument) after the commit, or after an abort (also before the block runs again), in order; outside of
 * the transaction. Aborts call on_abort in reverse order. */
void hiroba_tx_on_commit(void (*action)(void* argument), void* argument);
void hiroba_tx_on_abort(void (*action)(void* argument), void* argument);

/* ---- on another rank ------------------------------------------------------------------------------------------ */

/* Runs function(argument) as a transaction where the memory of `rank` is near: here, if this process reaches it without
 * messages, else on that rank, in one message and one answer. For data at home there that many ranks change. The
 * argument, of `bytes`, at most HIROBA_TX_MOST_SENT, is copied there and back: it is the result, too. It has no
 * pointers but to shared memory; the function, of the program itself, uses nothing else but shared memory, by
 * transactional loads and stores. Returns 0 if it has committed, else the value of hiroba_tx_abort: then the argument
 * is unchanged. Outside of transactions. Blocks. */
enum { HIROBA_TX_MOST_SENT = 1024 };
int hiroba_atomic_on(int rank, void (*function)(void* argument), void* argument, size_t bytes);

/* ---- about transactions --------------------------------------------------------------------------------------- */

/* Returns the value of this thread's latest transaction: 0 if it has committed, else that of hiroba_tx_abort. */
int hiroba_tx_value(void);
/* Returns the depth of blocks that this thread is in: 0 outside. */
int hiroba_tx_depth(void);
/* Between nodes: transactions that others began before it have ended, and their writes are seen by plain accesses.
 * Outside of transactions. Blocks. */
void hiroba_tx_fence(void);

typedef struct hiroba_tx_statistics { /* of this rank, all threads */
  uint64_t commits, read_only;        /* read_only: of the commits */
  uint64_t aborts;                    /* times that a block was run again because of a conflict */
  uint64_t retries;                   /* by hiroba_tx_retry */
  uint64_t irrevocable;               /* transactions that have run alone */
  uint64_t most_aborts;               /* of one transaction */
  uint64_t messages;                  /* to other nodes */
  uint64_t histogram[16];             /* committed transactions by number of aborts: 0, 1, 2-3, 4-7, ... */
} hiroba_tx_statistics;
void hiroba_tx_stats(hiroba_tx_statistics* out);

/* For transaction.hpp: savepoints in a transaction, which end in reverse order. hiroba_tx_undo undoes what the
 * transaction has done since, but for reads. */
typedef struct hiroba_tx_savepoint {
  uint64_t parts[4];
} hiroba_tx_savepoint;
void hiroba_tx_save(hiroba_tx_savepoint* out);
void hiroba_tx_undo(const hiroba_tx_savepoint* to);
void hiroba_tx_release(const hiroba_tx_savepoint* of);
/* Undoes the transaction, for good. */
void hiroba_tx_cancel(hiroba_tx_frame* frame);
/* Waits as hiroba_tx_retry does, and returns. The transaction is undone; it is to begin again. */
void hiroba_tx_await(hiroba_tx_frame* frame);

/* ---- what hirobacc makes of #pragma hiroba atomic (docs/transactions.md) ---------------------------------------- */

/* Runs block(data) as a transaction. Returns 1 if it has committed, 0 if the program has aborted it. */
int hiroba_tx_run(void (*block)(void* data), void* data, const char* place);
/* Load and store an object of any size and alignment; `to` and `from` are the caller's own. An object on the stack that
 * is younger than the transaction is used directly: a restart has no use for it. */
void hiroba_tx_get(void* to, const void* at, size_t bytes);
void hiroba_tx_put(void* at, const void* from, size_t bytes);
/* Stores the bytes that are not as they were in `old`. */
void hiroba_tx_put_changed(void* at, const void* from, const void* old, size_t bytes);
/* The functions of C; each argument may be memory that transactions use. In a transaction. */
void* hiroba_tx_memcpy(void* to, const void* from, size_t bytes);
void* hiroba_tx_memmove(void* to, const void* from, size_t bytes);
void* hiroba_tx_memset(void* at, int value, size_t bytes);
int hiroba_tx_memcmp(const void* first, const void* second, size_t bytes);
size_t hiroba_tx_strlen(const char* text);
int hiroba_tx_strcmp(const char* first, const char* second);
int hiroba_tx_strncmp(const char* first, const char* second, size_t bytes);
char* hiroba_tx_strcpy(char* to, const char* from);
char* hiroba_tx_strncpy(char* to, const char* from, size_t bytes);
char* hiroba_tx_strcat(char* to, const char* from);
char* hiroba_tx_strchr(const char* text, int value);
void* hiroba_tx_calloc(size_t count, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
