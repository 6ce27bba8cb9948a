/* Contestant: TinySTM. */
#ifndef BENCH_TRANSACTION_TINYSTM_H
#define BENCH_TRANSACTION_TINYSTM_H

#include <mod_mem.h>
#include <stm.h>

static __thread uint64_t attempts, commits; /* of this thread */
static uint64_t all_attempts, all_commits;

#define CRITICAL_FUNCTION
#define ATOMIC                                                                             \
  for (sigjmp_buf* again = stm_start((stm_tx_attr_t){{0}}), *open = (void*)&attempts;      \
       open != NULL && (again != NULL ? (void)sigsetjmp(*again, 0) : (void)0, ++attempts); \
       stm_commit(), ++commits, open = NULL)

static inline int64_t critical_load(critical with, const int64_t* at) {
  return with == CRITICAL_TRANSACTIONS ? (int64_t)stm_load((stm_word_t*)at) : *at;
}
static inline void critical_store(critical with, int64_t* at, int64_t value) {
  if (with == CRITICAL_TRANSACTIONS) stm_store((stm_word_t*)at, (stm_word_t)value);
  else *at = value;
}
static inline void* critical_load_pointer(critical with, void* const* at) {
  return with == CRITICAL_TRANSACTIONS ? (void*)stm_load((stm_word_t*)at) : *at;
}
static inline void critical_store_pointer(critical with, void** at, void* value) {
  if (with == CRITICAL_TRANSACTIONS) stm_store((stm_word_t*)at, (stm_word_t)value);
  else *at = value;
}
static inline void* critical_malloc(critical with, size_t bytes) {
  return with == CRITICAL_TRANSACTIONS ? stm_malloc(bytes) : malloc(bytes);
}
#define critical_free(with, object) stm_free(object, sizeof *(object))

static inline void contestant_begin(void) { stm_init(), mod_mem_init(0); }
static inline void contestant_thread_begin(void) { stm_init_thread(); }
static inline void contestant_thread_end(void) {
  __atomic_add_fetch(&all_attempts, attempts, __ATOMIC_RELAXED);
  __atomic_add_fetch(&all_commits, commits, __ATOMIC_RELAXED);
  stm_exit_thread();
}
static inline void contestant_figures(json_line* line) {
  json_add(line, "aborts", (double)(all_attempts - all_commits) / (double)all_commits);
}

#endif
