#include "pingpong.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"

static const char* const names[PP_KINDS] = {"put", "get", "put2", "get2", "accumulate", "pingpong", "word", "copy"};

int pp_read(const char* name, const char* bytes, const char* rounds, pp_case* c) {
  *c = (pp_case){.bytes = strtoul(bytes, NULL, 10), .rounds = atoi(rounds)};
  while (c->kind < PP_KINDS && (c->kind == PP_COPY || strcmp(names[c->kind], name) != 0)) c->kind++;
  c->words = c->bytes / 8;
  c->inner = c->bytes < 4096 ? 256 : c->bytes < 1 << 17 ? 32 : c->bytes < 1 << 20 ? 4 : 1;
  if (c->kind < PP_KINDS && c->bytes % 8 == 0 && c->bytes > 0 && c->bytes <= (c->kind == PP_WORD ? 8 : PP_MOST) &&
      c->rounds > 0 && c->rounds <= PP_ROUNDS)
    return 0;
  fprintf(stderr,
          "no case '%s %s %s': a name of put, get, put2, get2, accumulate, pingpong, word, a multiple of 8 bytes up to "
          "%d, rounds up to %d\n",
          name, bytes, rounds, PP_MOST, PP_ROUNDS);
  return 2;
}

/* Word i of what is sent in a case, and of what lies there before: patterns of 8 different bytes. Numbers that are
 * added are small and whole, so that their sums are exact. */
static double sent(const pp_case* c, size_t i) {
  if (c->kind == PP_ACCUMULATE) return (double)(i % 1021 + 1);
  const uint64_t bits = ((i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ c->bytes) & ~(UINT64_C(1) << 62); /* no NaN */
  double word;
  memcpy(&word, &bits, sizeof word);
  return word;
}
static double before(size_t i) { return (double)(i % 509) + 0.5; }

static int strided(const pp_case* c) { return c->kind == PP_PUT2 || c->kind == PP_GET2; }
static size_t area(const pp_case* c) { return 2 * c->words + 8; }

static int both(const pp_case* c) { return c->kind == PP_PINGPONG || c->kind == PP_WORD; }
static int gets(const pp_case* c) { return c->kind == PP_GET || c->kind == PP_GET2; }

void pp_fill(const pp_case* c, double* local, double* shared) {
  double *from = gets(c) ? shared : local, *to = gets(c) ? local : shared;
  for (size_t i = 0; i < area(c); i++) {
    from[i] = sent(c, i);
    to[i] = before(i);
  }
}

int pp_check(const pp_case* c, int rank, const double* local, const double* shared, const char* who) {
  if (rank != (gets(c) || c->kind == PP_COPY ? 0 : 1)) return 0; /* where nothing arrives */
  const double* at = gets(c) ? local : shared;
  const double times = (double)c->inner * (c->rounds + 1);
  int wrong = 0;
  for (size_t i = 0; i < area(c); i++) {
    const int moved = strided(c) ? i < 2 * c->words && i % 2 == 0 : i < c->words;
    const double arrived = c->kind == PP_ACCUMULATE ? before(i) + times * sent(c, i)
                           : c->kind == PP_WORD     ? times
                                                    : sent(c, i);
    const double expected = moved ? arrived : before(i);
    wrong += memcmp(&at[i], &expected, sizeof expected) != 0;
  }
  if (wrong > 0) fprintf(stderr, "%s: case %s %zu: %d words are wrong\n", who, names[c->kind], c->bytes, wrong);
  return wrong;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

void pp_report(const pp_case* c, double* seconds, int last) {
  static json_line line;
  char name[64];
  qsort(seconds + 1, (size_t)c->rounds, sizeof *seconds, ascending);
  const double one = seconds[1 + (c->rounds - 1) / 2] / c->inner / (both(c) ? 2 : 1);
  snprintf(name, sizeof name, "%s %zu", names[c->kind], c->bytes);
  json_add(&line, name, one);
  if (last) json_print(&line);
}

/* The time of the round's operations, which only rank 0 performs, or both. */
static double timed(const pp_contestant* who, pp_case* c) {
  if (both(c)) who->barrier();
  const double start = now();
  for (int i = 0; i < c->inner && (who->rank == 0 || both(c)); i++) {
    c->turn++;
    who->operation[c->kind](c);
  }
  return now() - start;
}

int pp_main(const pp_contestant* who, int argc, char** argv) {
  static double seconds[PP_ROUNDS + 1], copies[PP_ROUNDS + 1];
  for (int k = 1; k + 2 < argc; k += 3) {
    pp_case c;
    const int status = pp_read(argv[k], argv[k + 1], argv[k + 2], &c);
    if (status != 0) return status;
    if (who->operation[c.kind] == NULL) {
      fprintf(stderr, "%s: has no case %s\n", who->name, argv[k]);
      return 2;
    }
    pp_case copy = c;
    copy.kind = PP_COPY;
    const int beside = c.kind == PP_PUT && who->operation[PP_COPY] != NULL;
    pp_fill(&c, who->local, who->shared);
    who->barrier();
    for (int round = 0; round <= c.rounds; round++) {
      const int copy_first = beside && round % 2 == 1;
      if (copy_first) copies[round] = timed(who, &copy);
      seconds[round] = timed(who, &c);
      if (beside && !copy_first) copies[round] = timed(who, &copy);
    }
    who->barrier();
    if (pp_check(&c, who->rank, who->local, who->shared, who->name) != 0) return 1;
    if (beside && pp_check(&copy, who->rank, who->local, who->shared, who->name) != 0) return 1;
    if (who->rank == 0) {
      pp_report(&c, seconds, k + 5 >= argc && !beside);
      if (beside) pp_report(&copy, copies, k + 5 >= argc);
    }
    who->barrier();
  }
  return 0;
}
