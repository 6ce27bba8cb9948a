/* What the variants of himeno share: options, check, report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/memory.h"
#include "../common/options.h"
#include "himeno.h"

enum { ARRAYS = 14, FLOPS = 34 };
/* Relative: the known sums were added up in single precision, which changes them by some thousandths. */
static const double tolerance = 3e-3;

static const struct size {
  const char* name;
  int extent[3];
} sizes[] = {{"XS", {32, 32, 64}}, {"S", {64, 64, 128}}, {"M", {128, 128, 256}}, {"L", {256, 256, 512}}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* What the program that comes with the Omni compiler prints, after its 3 steps to warm up and 100 more. */
static const struct answer {
  const char* size;
  int steps;
  double gosa;
} answers[] = {{"XS", 3, 6.515723e-03}, {"XS", 103, 2.277980e-03}, {"S", 3, 3.364148e-03}, {"S", 103, 2.165725e-03}};
enum { ANSWERS = sizeof answers / sizeof answers[0] };

static const option options[] = {
    {"--size", "XS, S, M or L", "32x32x64 (default), 64x64x128, 128x128x256 or 256x256x512 points", OPTION_TEXT,
     offsetof(himeno, size)},
    {"--steps", "T", "steps of Jacobi's method (default 20)", OPTION_NUMBER, offsetof(himeno, steps)},
    {"--verify", NULL, "compare gosa with the known one: XS and S, 3 or 103 steps", OPTION_FLAG,
     offsetof(himeno, verify)},
    RUN_OPTIONS(himeno),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static const struct answer* answer_of(const himeno* h) {
  for (int i = 0; i < ANSWERS; i++)
    if (strcmp(h->size, answers[i].size) == 0 && h->steps == answers[i].steps) return &answers[i];
  return NULL;
}

void himeno_begin(himeno* h, team team, int argc, char** argv) {
  *h = (himeno){.team = team, .size = "XS", .steps = 20};
  options_read(&h->team, options, OPTIONS, h, argc, argv);
  if (h->help) {
    if (team.rank == 0) {
      printf("%s: the Himeno benchmark: Poisson's equation by Jacobi's method\n\n", team.program);
      options_print(options, OPTIONS);
    }
    team_leave(&h->team);
    exit(0);
  }
  const struct size* chosen = NULL;
  for (int i = 0; i < SIZES; i++)
    if (strcmp(h->size, sizes[i].name) == 0) chosen = &sizes[i];
  team_agree(&h->team, chosen != NULL, TEAM_BAD_INPUT, "--size '%s' is not XS, S, M or L", h->size);
  h->rows = chosen->extent[0], h->columns = chosen->extent[1], h->depth = chosen->extent[2];
  team_agree(&h->team, team.count <= h->rows / 2, TEAM_BAD_INPUT,
             "%d ranks are too many for %d rows of points; start at most %d", team.count, h->rows, h->rows / 2);
  team_agree(&h->team, !h->verify || answer_of(h) != NULL, TEAM_BAD_INPUT,
             "--verify knows the answers of --size XS and S with --steps 3 and 103 only");
  const double points = (double)h->rows * h->columns * h->depth;
  memory_check(&h->team, ARRAYS * points * sizeof(float) / team.count, team.program);
  h->run.unit = "points";
  h->run.work = (h->rows - 2.0) * (h->columns - 2) * (h->depth - 2);
}

int himeno_finish(himeno* h, double gosa, uint64_t bits) {
  const double seconds = h->run.seconds, mflops = 1e-6 * FLOPS * h->run.work * h->steps / seconds;
  const struct answer* answer = h->verify ? answer_of(h) : NULL;
  const bool right = answer == NULL || fabs(gosa - answer->gosa) <= tolerance * answer->gosa;
  const unsigned long long all = team_sum_bits(&h->team, bits);
  if (h->team.rank == 0 && h->json)
    printf(
        "{\"program\": \"%s\", \"ranks\": %d, \"size\": \"%s\", \"steps\": %d, \"seconds\": %.9f, \"mflops\": %.3f, "
        "\"gosa\": %.9e, \"bits\": \"%016llx\"}\n",
        h->team.program, h->team.count, h->size, h->steps, seconds, mflops, gosa, all);
  if (h->team.rank == 0 && !h->json)
    printf(
        "%s: %dx%dx%d points, %d steps, %d ranks\n  time   %.4f s, %.1f Mflop/s\n  gosa   %.6e%s\n  bits   %016llx\n",
        h->team.program, h->rows, h->columns, h->depth, h->steps, h->team.count, seconds, mflops, gosa,
        answer != NULL && right ? " (verified)" : "", all);
  team_agree(&h->team, right, TEAM_WRONG, "the answer is wrong: gosa is %.6e, and should be %.6e", gosa,
             answer != NULL ? answer->gosa : 0);
  team_leave(&h->team);
  return 0;
}
