/* serial.h: what smint.h and mpc.h offer, for one process without directives. The random programs are compiled with it
 * for their reference output. */
#ifndef HIROBA_TESTS_SERIAL_H
#define HIROBA_TESTS_SERIAL_H

#include <stddef.h>
#include <stdint.h>

#define MYPID 0
#define NPROCS 1
#define shared
#define MAP(...)

typedef struct sms_statistics {
  uint64_t read_faults;
} sms_statistics;

static inline void sms_stats(const void* array, sms_statistics* out) {
  (void)array;
  out->read_faults = 0;
}

static inline void sms_barrier(void) {}
static inline void mpc_barrier(void) {}
static inline int mpc_exit(void) { return 0; }
static inline int mpc_init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}

#endif
