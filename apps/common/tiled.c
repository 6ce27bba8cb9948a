#include "tiled.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files.h"

/* ---- the tile ---------------------------------------------------------------------------------------------------- */

typedef struct trial {
  tiled* t;
  tiled_steps steps;
  void* of;
} trial;

static double try_tile(void* of, tile tile) {
  enum { STEPS = 2 };
  const trial* const trial = of;
  trial->t->tile = tile;
  team_max(&trial->t->team, 0);
  const double start = team_now();
  trial->steps(trial->of, 0, STEPS);
  return team_now() - start;
}

void tiled_choose(tiled* t, const char* what, int dimensions, int largest, const tile candidates[], int count,
                  tiled_steps steps, void* of) {
  t->tile = tiles_option(&t->team, t->tile_text, dimensions);
  t->tile_from = "--tile";
  if (t->tile.rows == 0) {
    trial trial = {t, steps, of};
    static const char* const unread[] = {NULL}; /* the trials add to the split, too, and nobody looks */
    split_open(&t->split, &t->team, unread, t->threads);
    const tiles tiles = {.what = what,
                         .size = t->size,
                         .threads = t->threads,
                         .candidates = candidates,
                         .count = count,
                         .trial = try_tile,
                         .of = &trial};
    const tile_choice choice = tiles_best(&t->team, &tiles);
    split_close(&t->split);
    t->tile = choice.tile;
    t->tile_from = choice.remembered ? "remembered" : "found by trials";
  }
  t->tile = (tile){smaller(t->tile.rows, largest), smaller(t->tile.columns, largest)};
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

bool tiled_run(tiled* t, const char* const categories[], tiled_steps steps, void* of) {
  split_open(&t->split, &t->team, categories, t->threads);
  t->run.look_every = 1; /* the end of a chunk costs tasks their overlap */
  run_start(&t->run, &t->team, 0, t->steps);
  for (int step = 0; step < t->steps;) {
    const int to = smaller(t->run.next_look, t->steps);
    steps(of, step, to);
    step = to;
    if (run_step(&t->run, step, NULL, NULL, NULL)) return false;
  }
  run_stop(&t->run);
  split_finish(&t->split, &t->team, t->run.seconds);
  return true;
}

int tiled_stopped(tiled* t) {
  const int status = run_end_stopped(&t->run, NULL);
  split_close(&t->split);
  team_leave(&t->team);
  return status;
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static double rate(const tiled* t) { return t->run.seconds > 0 ? 1e-9 * t->run.work * t->steps / t->run.seconds : 0; }

static void print_text(const tiled* t, const tiled_answer* answer) {
  const team* team = &t->team;
  printf("%s: size %d, %d steps, %d rank%s x %d thread%s", team->program, t->size, t->steps, team->count,
         team->count == 1 ? "" : "s", t->threads, t->threads == 1 ? "" : "s");
  if (t->tile.rows > 0) {
    printf(t->tile.rows == t->tile.columns ? ", tile %d" : ", tile %d,%d", t->tile.rows, t->tile.columns);
    printf(" (%s)", t->tile_from);
  }
  printf("\n%.4f s, %.3f G%s/s; ", t->run.seconds, rate(t), t->run.unit);
  split_print(&t->split, stdout);
  printf("\n");
  for (const tiled_figure* f = answer->more; f != NULL && f->name != NULL; f++) printf("%s %.12g\n", f->name, f->value);
  if (t->verify)
    printf("%s: %s %.2g, limit %.2g\n", answer->error <= answer->limit ? "verified" : "WRONG", answer->name,
           answer->error, answer->limit);
}

static void print_json(const tiled* t, const tiled_answer* answer, FILE* to) {
  fprintf(to,
          "{\"program\": \"%s\", \"size\": %d, \"steps\": %d, \"ranks\": %d, \"threads\": %d, \"tile\": [%d, %d], "
          "\"seconds\": %.9f, \"rate\": %.6f, \"unit\": \"G%s/s\", \"error\": ",
          t->team.program, t->size, t->steps, t->team.count, t->threads, t->tile.rows, t->tile.columns, t->run.seconds,
          rate(t), t->run.unit);
  if (t->verify) fprintf(to, "%.17g", isfinite(answer->error) ? answer->error : 1e308);
  else fprintf(to, "null");
  for (const tiled_figure* f = answer->more; f != NULL && f->name != NULL; f++)
    fprintf(to, ", \"%s\": %.17g", f->name, f->value);
  fprintf(to, ", \"bits\": \"%016" PRIx64 "\", \"split\": ", answer->bits);
  split_json(&t->split, to);
  fprintf(to, "}\n");
}

/* Of rank 0. */
static bool report(const tiled* t, const tiled_answer* answer) {
  const bool to_output = t->json != NULL && strcmp(t->json, "-") == 0;
  if (!to_output) print_text(t, answer);
  if (t->json == NULL) return true;
  FILE* const to = to_output ? stdout : files_fopen(t->json);
  if (to == NULL) return false;
  print_json(t, answer, to);
  return to_output || fclose(to) == 0;
}

int tiled_finish(tiled* t, const tiled_answer* answer) {
  const bool written = t->team.rank != 0 || report(t, answer);
  team_agree(&t->team, written, TEAM_BAD_INPUT, "cannot write --json %s: %s", t->json, strerror(errno));
  team_agree(&t->team, !t->verify || answer->error <= answer->limit, TEAM_WRONG,
             "the answer is wrong: %s %.3g, limit %.2g", answer->name, answer->error, answer->limit);
  split_close(&t->split);
  team_leave(&t->team);
  return 0;
}
