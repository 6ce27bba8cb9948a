/* Contestants: no transactions at all, for searches or one thread; and GCC's notation, by libitm or libhiroba_tm. */
#ifndef BENCH_TRANSACTION_PLAIN_H
#define BENCH_TRANSACTION_PLAIN_H

#if defined(BENCH_GCC)
#define CRITICAL_FUNCTION __attribute__((transaction_safe))
#define ATOMIC __transaction_atomic
#else
#define CRITICAL_FUNCTION
#define ATOMIC
#endif

static inline int64_t critical_load(critical with, const int64_t* at) { return (void)with, *at; }
static inline void critical_store(critical with, int64_t* at, int64_t value) { (void)with, *at = value; }
static inline void* critical_load_pointer(critical with, void* const* at) { return (void)with, *at; }
static inline void critical_store_pointer(critical with, void** at, void* value) { (void)with, *at = value; }
static inline void* critical_malloc(critical with, size_t bytes) { return (void)with, malloc(bytes); }
#define critical_free(with, object) free(object)

static inline void contestant_begin(void) {}
static inline void contestant_thread_begin(void) {}
static inline void contestant_thread_end(void) {}
static inline void contestant_figures(json_line* line) { (void)line; }

#endif
