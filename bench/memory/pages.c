/* Cases about pages: faults, first writes, preload, release, drop. */
#include <sms.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* An array on rank 0 in which word i of every page is i + the page's number. */
static uint64_t* make(size_t bytes) {
  uint64_t* a = sms_alloc(1, bytes, 0);
  if (sms_rank == 0)
    for (size_t i = 0; i < bytes / 8; ++i) a[i] = i;
  sms_barrier();
  return a;
}

static int user(void) { return sms_rank == sms_nprocs - 1; }

/* Reads one word of each page; returns their sum, which sum_of_pages() predicts. */
static uint64_t touch(const uint64_t* a, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes / 8; i += page_bytes / 8) sum += ((const volatile uint64_t*)a)[i];
  return sum;
}

static uint64_t sum_of_pages(size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes / 8; i += page_bytes / 8) sum += i;
  return sum;
}

static uint64_t sum_all(const uint64_t* a, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes / 8; ++i) sum += a[i];
  return sum;
}

/* A scattered order, so that readahead and the hardware's prefetch have nothing to guess. */
static size_t scattered(size_t page, size_t pages) { return (page * 7919 + 13) % pages; }

void faults(parameters p) {
  uint64_t* a = make(p.bytes);
  const size_t pages = p.bytes / page_bytes;
  samples s = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    uint64_t sum = 0;
    const double start = now();
    if (user())
      for (size_t k = 0; k < pages; ++k) sum += ((volatile uint64_t*)a)[scattered(k, pages) * (page_bytes / 8)];
    const double seconds = now() - start;
    check(!user() || sum == sum_of_pages(p.bytes), "faults: wrong data");
    if (round > 0) add(&s, seconds / (double)pages); /* round 0 fills the cache's memory */
    sms_sync_drop();
  }
  sms_statistics st;
  sms_stats(a, &st);
  check(!user() || st.read_faults == pages * (size_t)(p.rounds + 1),
        "faults: readahead was on; set HIROBA_READAHEAD=4K");
  report("microseconds", 1e6 * median(&s));
}

/* The pages in order, with readahead cut to what ArgoDSM fetches at once, 8 pages: the price per page. */
void faults_by_8(parameters p) {
  uint64_t* a = make(p.bytes);
  const size_t pages = p.bytes / page_bytes;
  samples s = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    const double start = now();
    const uint64_t sum = user() ? touch(a, p.bytes) : 0;
    const double seconds = now() - start;
    check(!user() || sum == sum_of_pages(p.bytes), "faults-by-8: wrong data");
    if (round > 0) add(&s, seconds / (double)pages);
    sms_sync_drop();
  }
  sms_statistics st;
  sms_stats(a, &st);
  check(!user() || st.read_faults * 8 >= pages * (size_t)(p.rounds + 1), "faults-by-8: set HIROBA_READAHEAD=32K");
  report("microseconds", 1e6 * median(&s));
}

void first_writes(parameters p) {
  uint64_t* a = make(p.bytes);
  const size_t pages = p.bytes / page_bytes;
  samples s = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    if (user()) check(touch(a, p.bytes) == sum_of_pages(p.bytes), "first-writes: wrong data");
    const double start = now();
    if (user())
      for (size_t k = 0; k < pages; ++k) ((volatile uint64_t*)a)[k * (page_bytes / 8) + 1] = (uint64_t)round;
    if (round > 0) add(&s, (now() - start) / (double)pages);
    sms_sync_drop();
    check(a[(pages - 1) * (page_bytes / 8) + 1] == (uint64_t)round, "first-writes: a write was lost");
    sms_sync_drop();
  }
  report("microseconds", 1e6 * median(&s));
}

void barrier_dirty(parameters p) {
  uint64_t* a = make(p.bytes);
  const size_t pages = p.bytes / page_bytes;
  samples s = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    if (user())
      for (size_t k = 0; k < pages; ++k) a[k * (page_bytes / 8) + 1] = (uint64_t)round + k;
    sms_reduce_int64(0, SMS_SUM); /* all start together */
    const double start = now();
    sms_barrier();
    if (round > 0) add(&s, now() - start);
    for (size_t k = 0; k < pages; k += 97)
      check(a[k * (page_bytes / 8) + 1] == (uint64_t)round + k, "barrier-dirty: a write was lost");
    sms_barrier();
  }
  report("milliseconds", 1e3 * median(&s));
  report("pages", (double)pages);
}

void sequential(parameters p) {
  uint64_t* a = make(p.bytes);
  uint64_t* copy = malloc(p.bytes);
  uint64_t* from = malloc(p.bytes);
  for (size_t i = 0; i < p.bytes / 8; ++i) copy[i] = from[i] = i;
  samples s = {0, {0}}, rival = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    double start = now();
    const uint64_t sum = user() ? touch(a, p.bytes) : sum_of_pages(p.bytes);
    const double seconds = now() - start;
    check(sum == sum_of_pages(p.bytes), "sequential: wrong data");
    start = now();
    if (user()) memcpy(copy, from, p.bytes);
    if (round > 0) add(&s, seconds), add(&rival, now() - start);
    check(copy[p.bytes / 8 - 1] == p.bytes / 8 - 1, "sequential: memcpy");
    sms_sync_drop();
  }
  report("GB/s", (double)p.bytes / median(&s) / 1e9);
  report("memcpy GB/s", (double)p.bytes / median(&rival) / 1e9);
  report("ratio", median(&rival) / median(&s));
  free(copy);
  free(from);
}

void preload(parameters p) {
  uint64_t* a = make(p.bytes);
  uint64_t* copy = malloc(p.bytes);
  uint64_t* from = malloc(p.bytes);
  for (size_t i = 0; i < p.bytes / 8; ++i) copy[i] = from[i] = i;
  const sms_range all[] = {{0, (int64_t)p.bytes, 1}};
  samples s = {0, {0}}, rival = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    double start = now();
    if (user()) sms_preload(a, all);
    const double seconds = now() - start;
    start = now();
    if (user()) memcpy(copy, from, p.bytes);
    if (round > 0) add(&s, seconds), add(&rival, now() - start);
    check(copy[p.bytes / 8 - 1] == p.bytes / 8 - 1, "preload: memcpy");
    if (user()) check(touch(a, p.bytes) == sum_of_pages(p.bytes), "preload: wrong data");
    sms_sync_drop();
  }
  sms_statistics st;
  sms_stats(a, &st);
  check(!user() || st.read_faults == 0, "preload: some pages were not preloaded");
  report("GB/s", (double)p.bytes / median(&s) / 1e9);
  report("memcpy GB/s", (double)p.bytes / median(&rival) / 1e9);
  report("ratio", median(&rival) / median(&s));
  free(copy);
  free(from);
}

void release(parameters p) {
  uint64_t* a = make(p.bytes);
  const size_t pages = p.bytes / page_bytes;
  uint64_t* twice = malloc(2 * p.bytes); /* as far apart as pages and twins */
  for (size_t i = 0; i < p.bytes / 4; ++i) twice[i] = i;
  samples s = {0, {0}}, rival = {0, {0}};
  uint64_t bytes_sent = 0;
  for (int round = 0; round <= p.rounds; ++round) {
    if (user()) {
      sms_lock(0);
      check(touch(a, p.bytes) == sum_of_pages(p.bytes), "release: wrong data");
      for (size_t k = 0; k < pages; ++k) a[k * (page_bytes / 8) + 1] = (uint64_t)round + 5;
      sms_statistics before, after;
      sms_stats(a, &before);
      double start = now();
      sms_unlock(0);
      if (round > 0) add(&s, now() - start);
      sms_stats(a, &after);
      bytes_sent = after.bytes_sent - before.bytes_sent;
      start = now();
      const volatile uint64_t sum = sum_all(twice, 2 * p.bytes);
      (void)sum;
      if (round > 0) add(&rival, now() - start);
    }
    sms_barrier();
    if (sms_rank == 0)
      for (size_t k = 0; k < pages; ++k)
        check(a[k * (page_bytes / 8) + 1] == (uint64_t)round + 5, "release: a write was lost");
    sms_barrier();
  }
  report("milliseconds", 1e3 * median(&s));
  report("reading twice milliseconds", 1e3 * median(&rival));
  report("ratio", median(&s) / median(&rival));
  report("bytes sent / bytes of pages", (double)bytes_sent / (double)p.bytes);
  free(twice);
}

void drop(parameters p) {
  uint64_t* a = make(p.bytes);
  samples s = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    if (user()) check(touch(a, p.bytes) == sum_of_pages(p.bytes), "drop: wrong data");
    sms_reduce_int64(0, SMS_SUM);
    const double start = now();
    sms_sync_drop();
    if (round > 0) add(&s, now() - start);
  }
  report("milliseconds", 1e3 * median(&s));
}
