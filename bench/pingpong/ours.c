/* Coarrays: what has been put is there after sync_memory, and a get is complete when its statement is. */
#include <stdlib.h>
#include <string.h>
#include <xmp.h>

#include "pingpong.h"

// clang-format off: it takes sections for labels
static double shared[PP_WORDS]:[*];
static double* local;

static void put(const pp_case* c) {
  shared[0:c->words]:[1] = local[0:c->words];
#pragma xmp sync_memory
}

static void get(const pp_case* c) {
  local[0:c->words] = shared[0:c->words]:[1];
}

static void put2(const pp_case* c) {
  shared[0:c->words:2]:[1] = local[0:c->words:2];
#pragma xmp sync_memory
}

static void get2(const pp_case* c) {
  local[0:c->words:2] = shared[0:c->words:2]:[1];
}

static void accumulate(const pp_case* c) {
  shared[0:c->words]:[1] += local[0:c->words];
#pragma xmp sync_memory
}

static void pingpong(const pp_case* c) {
  const int other = 1 - xmpc_this_image();
  if (other == 0) xmp_wait(0, 0, "ping");
  shared[0:c->words]:[other] = local[0:c->words];
  xmp_post(other, 0, "pong");
  if (other == 1) xmp_wait(1, 0, "pong");
}

static void await(double value) {
  while (*(volatile double*)shared != value) {
#pragma xmp sync_memory
  }
}

/* The put is complete at the latest when the answer has come. */
static void word(const pp_case* c) {
  const int other = 1 - xmpc_this_image();
  if (other == 0) await(c->turn);
  shared[0]:[other] = c->turn;
  if (other == 1) await(c->turn);
}

static void copy(const pp_case* c) { memcpy(shared, local, c->bytes); }

int main(int argc, char** argv) {
  local = malloc(PP_WORDS * sizeof *local);
  const pp_contestant ours = {"coarrays", xmpc_this_image(), local, shared, xmp_barrier,
                              {put, get, put2, get2, accumulate, pingpong, word, copy}};
  return pp_main(&ours, argc, argv);
}
