/* What the variants of sort share: options, keys, check, report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"
#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "sort.h"

static const option options[] = {
    {"--size", "N", "keys (default 1000000)", OPTION_NUMBER, offsetof(sort, run) + offsetof(tiled, size)},
    {"--keys", "KIND", "uniform (default), skewed, few, equal, sorted or reversed", OPTION_TEXT, offsetof(sort, kind)},
    {"--seed", "K", "of the keys (default 12345)", OPTION_COUNT, offsetof(sort, seed)},
    TILED_OPTIONS(sort, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const sort* s) {
  printf(
      "%s: 64-bit keys in order; each step sorts the same keys\n\n"
      "--verify checks that the output has all keys of the input, in order.\n\n",
      s->run.team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  sort_serial --size 4000000 --verify\n"
      "  OMP_NUM_THREADS=2 sort_omp --size 4000000 --verify\n"
      "  mpirun -n 2 sort_mpi --size 4000000 --keys skewed --verify\n"
      "  hirobarun -n 2 sort_hiroba --size 4000000 --keys few --verify\n");
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t seed, uint64_t index) {
  return mix_bits(seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t uniform(const sort* s, uint64_t i) { return mix((uint64_t)s->seed, i); }
/* Of all magnitudes: as many below 2 as above 2^63. */
static uint64_t skewed(const sort* s, uint64_t i) { return uniform(s, i) >> (uniform(s, ~i) & 63); }
static uint64_t few(const sort* s, uint64_t i) { return uniform(s, i) % 7; }
static uint64_t equal(const sort* s, uint64_t i) { return (void)i, uniform(s, 0); }
static uint64_t sorted(const sort* s, uint64_t i) { return UINT64_MAX / (uint64_t)s->run.size * i; }
static uint64_t reversed(const sort* s, uint64_t i) { return sorted(s, (uint64_t)s->run.size - 1 - i); }

typedef struct kind {
  const char* name;
  uint64_t (*key)(const sort* s, uint64_t i);
} kind;
static const kind kinds[] = {{"uniform", uniform}, {"skewed", skewed}, {"few", few},
                             {"equal", equal},     {"sorted", sorted}, {"reversed", reversed}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const kind* kind_named(const char* name) {
  for (int k = 0; k < KINDS; k++)
    if (strcmp(name, kinds[k].name) == 0) return &kinds[k];
  return NULL;
}

void sort_fill(const sort* s, uint64_t* to, int64_t first, int64_t count) {
  const kind* const kind = kind_named(s->kind);
  for (int64_t i = 0; i < count; i++) to[i] = kind->key(s, (uint64_t)(first + i));
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

void sort_begin(sort* s, team team, int threads, int argc, char** argv) {
  memset(s, 0, sizeof *s);
  s->run.team = team;
  s->run.threads = threads;
  s->run.size = 1000000;
  s->run.steps = 5;
  s->kind = "uniform";
  s->seed = 12345;
  options_read(&team, options, OPTIONS, s, argc, argv);
  if (s->run.help) {
    if (team.rank == 0) print_help(s);
    team_leave(&team);
    exit(0);
  }
  team_agree(&team, kind_named(s->kind) != NULL, TEAM_BAD_INPUT,
             "--keys '%s' is not uniform, skewed, few, equal, sorted or reversed", s->kind);
  if (s->run.json != NULL && strcmp(s->run.json, "-") != 0) files_check_writable(&team, "--json", s->run.json);
  memory_check(&team, 4.0 * sizeof(uint64_t) * s->run.size / team.count, team.program);
  s->run.run.unit = "key";
  s->run.run.work = s->run.size;
}

uint64_t* sort_memory(const sort* s, int64_t keys) {
  uint64_t* const memory = memory_pages((size_t)keys * sizeof *memory);
  team_agree(&s->run.team, memory != NULL, TEAM_BAD_INPUT, "no memory for %d keys; use a smaller --size", s->run.size);
  return memory;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

typedef struct found {
  uint64_t bits;
  double wrong;
} found;

/* What rank `rank` has. */
static uint64_t of_rank(const team* team, int rank, uint64_t mine) {
  return team_sum_bits(team, rank == team->rank ? mine : 0);
}

/* Keys that are smaller than the one before them, the last ones of other ranks included. */
static found look_at_output(const sort* s) {
  const team* const team = &s->run.team;
  int64_t before = 0;
  uint64_t last = 0;
  found found = {0, 0};
  for (int rank = 0; rank < team->count; rank++) {
    if (rank == team->rank)
      for (int64_t i = 0; i < s->output_count; i++) {
        found.bits += bits_of((uint64_t)(before + i), &s->output[i], sizeof s->output[i]);
        found.wrong += s->output[i] < last;
        last = s->output[i];
      }
    before += (int64_t)of_rank(team, rank, (uint64_t)s->output_count);
    last = of_rank(team, rank, last);
  }
  found.bits = team_sum_bits(team, found.bits);
  found.wrong = team_sum(team, found.wrong) + (before != s->run.size);
  return found;
}

/* Whether the output has the keys of the input, each as often. */
static bool same_keys(const sort* s) {
  uint64_t difference = 0;
  for (int64_t i = 0; i < s->output_count; i++) difference += bits_of(0, &s->output[i], sizeof s->output[i]);
  for (int64_t i = 0; i < s->input_count; i++) difference -= bits_of(0, &s->input[i], sizeof s->input[i]);
  return team_sum_bits(&s->run.team, difference) == 0;
}

int sort_run(sort* s, tiled_steps steps) {
  static const char* const categories[] = {"count", "move", "sort", NULL};
  if (!tiled_run(&s->run, categories, steps, s)) return tiled_stopped(&s->run);
  const found found = look_at_output(s);
  tiled_answer answer = {.error = found.wrong, .limit = 0, .name = "keys in the wrong place", .bits = found.bits};
  if (s->run.verify && !same_keys(s)) answer.error += s->run.size;
  return tiled_finish(&s->run, &answer);
}
