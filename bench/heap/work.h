/* What threads do with an allocator, the same for all contestants: a file defines ALLOCATE(bytes) and RELEASE(object),
 * includes this, and calls heap_work(). Objects have 16 to 1024 bytes. Each carries its number in its first bytes,
 * which is checked before it is freed, so an allocator that gives memory out twice is not timed.
 *
 *   random   a table of 1000 objects: free one, allocate another in its place
 *   pairs    allocate one and free it
 *   batches  allocate 1000, free them in the same order
 */
#ifndef BENCH_HEAP_WORK_H
#define BENCH_HEAP_WORK_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/clock.h"

enum { HEAP_SLOTS = 1000, HEAP_SIZES = 1 << 14, HEAP_THREADS = 2 };

struct heap_thread {
  pthread_t thread;
  pthread_barrier_t* start;
  const char* kind;
  long pairs;
  uint64_t seed;
  double seconds;
  int wrong;
};

static inline uint64_t heap_random(uint64_t* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static inline uint32_t* heap_get(size_t bytes, uint32_t number) {
  uint32_t* const object = ALLOCATE(bytes);
  object[0] = number, object[1] = ~number;
  return object;
}

static inline int heap_put(uint32_t* object, uint32_t number) {
  const int wrong = object[0] != number || object[1] != ~number;
  RELEASE(object);
  return wrong;
}

static int heap_random_pairs(long pairs, const uint16_t* size, const uint16_t* slot) {
  uint32_t* object[HEAP_SLOTS];
  uint32_t number[HEAP_SLOTS];
  int wrong = 0;
  for (uint32_t i = 0; i < HEAP_SLOTS; ++i) object[i] = heap_get(size[i], number[i] = i);
  for (long i = 0; i < pairs; ++i) {
    const uint32_t at = slot[i % HEAP_SIZES];
    wrong |= heap_put(object[at], number[at]);
    object[at] = heap_get(size[(i + i / HEAP_SIZES) % HEAP_SIZES], number[at] = (uint32_t)i);
  }
  for (uint32_t i = 0; i < HEAP_SLOTS; ++i) wrong |= heap_put(object[i], number[i]);
  return wrong;
}

static int heap_single_pairs(long pairs, const uint16_t* size) {
  int wrong = 0;
  for (long i = 0; i < pairs; ++i) wrong |= heap_put(heap_get(size[i % HEAP_SIZES], (uint32_t)i), (uint32_t)i);
  return wrong;
}

static int heap_batches(long pairs, const uint16_t* size) {
  uint32_t* object[HEAP_SLOTS];
  int wrong = 0;
  for (long done = 0; done < pairs; done += HEAP_SLOTS) {
    for (uint32_t i = 0; i < HEAP_SLOTS; ++i) object[i] = heap_get(size[(done + i) % HEAP_SIZES], i);
    for (uint32_t i = 0; i < HEAP_SLOTS; ++i) wrong |= heap_put(object[i], i);
  }
  return wrong;
}

static void* heap_run(void* argument) {
  struct heap_thread* const self = argument;
  uint16_t* const size = malloc(2 * HEAP_SIZES * sizeof *size);
  uint16_t* const slot = size + HEAP_SIZES;
  for (int i = 0; i < HEAP_SIZES; ++i) {
    size[i] = (uint16_t)(16 + heap_random(&self->seed) % 1009);
    slot[i] = (uint16_t)(heap_random(&self->seed) % HEAP_SLOTS);
  }
  for (int time = 0; time < 2; ++time) { /* the first to warm up */
    const long pairs = time == 0 ? self->pairs / 10 : self->pairs;
    pthread_barrier_wait(self->start);
    const double start = now();
    if (strcmp(self->kind, "random") == 0) self->wrong |= heap_random_pairs(pairs, size, slot);
    else if (strcmp(self->kind, "pairs") == 0) self->wrong |= heap_single_pairs(pairs, size);
    else if (strcmp(self->kind, "batches") == 0) self->wrong |= heap_batches(pairs, size);
    else self->wrong = 1;
    self->seconds = now() - start;
  }
  free(size);
  return NULL;
}

/* Prints the time of an allocation and a free, of the slowest thread, as JSON. Not 0 if an object was damaged. */
static inline int heap_work(const char* kind, long pairs) {
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, HEAP_THREADS);
  struct heap_thread threads[HEAP_THREADS];
  double slowest = 0;
  int wrong = 0;
  for (int t = 0; t < HEAP_THREADS; ++t) {
    threads[t] = (struct heap_thread){.start = &start, .kind = kind, .pairs = pairs, .seed = 88172645463325252u + t};
    if (pthread_create(&threads[t].thread, NULL, heap_run, &threads[t]) != 0) return 2;
  }
  for (int t = 0; t < HEAP_THREADS; ++t) {
    pthread_join(threads[t].thread, NULL);
    wrong |= threads[t].wrong;
    if (threads[t].seconds > slowest) slowest = threads[t].seconds;
  }
  if (wrong) return fprintf(stderr, "%s: an object has another content, or there is no such work\n", kind), 1;
  printf("{\"nanoseconds\": %.3f}\n", 1e9 * slowest / (double)pairs);
  return 0;
}

#endif
