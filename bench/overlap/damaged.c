/* damaged.c: a library of one rank whose started collectives bring one wrong element, to see that the benchmark finds
 * it: `damaged bit ...` changes its last bit, `damaged value ...` its value, `damaged nothing ...` nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static const char* damage;

/* With one rank, every collective is a copy. */
static void call(const transfer* t) {
  if (t->kind != BCAST && t->kind != BARRIER) memcpy(t->recv, t->send, (size_t)t->count * sizeof(double));
}

static void start(const transfer* t) {
  call(t);
  if (t->count == 0) return;
  double* const last = t->recv + t->count - 1;
  if (strcmp(damage, "value") == 0) *last += 1e-9;
  if (strcmp(damage, "bit") == 0) *(unsigned char*)last ^= 1; /* little-endian: of the mantissa */
}

static void nothing(void) {}

static void largest(double* values, int count) { (void)values, (void)count; }

static void end_job(int status) { exit(status); }

int main(int argc, char** argv) {
  library damaged = {.name = "damaged", .ranks = 1, .local_ranks = 1, .call = call, .start = start};
  damaged.test = damaged.wait = nothing;
  damaged.largest = largest;
  damaged.end_job = end_job;
  if (argc < 2) return 2;
  damage = argv[1];
  argv[1] = argv[0];
  return overlap(argc - 1, argv + 1, &damaged);
}
