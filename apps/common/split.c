#include "split.h"

#include <stdlib.h>
#include <string.h>

void split_open(split* split, const team* team, const char* const names[], int threads) {
  split->names = names;
  split->threads = threads;
  split->of = aligned_alloc(sizeof(split_line), (size_t)threads * sizeof(split_line));
  team_agree(team, split->of != NULL, TEAM_BAD_INPUT, "no memory for the clocks of %d threads", threads);
  split_reset(split);
}

void split_close(split* split) {
  free(split->of);
  split->of = NULL;
}

void split_reset(split* split) {
  memset(split->of, 0, (size_t)split->threads * sizeof(split_line));
  memset(split->seconds, 0, sizeof split->seconds);
  split->elapsed = 0;
}

void split_finish(split* split, const team* team, double elapsed) {
  const double threads = team_sum(team, split->threads);
  split->elapsed = split->seconds[SPLIT_OTHERS] = elapsed;
  for (int c = 0; split->names[c] != NULL; c++) {
    double mine = 0;
    for (int t = 0; t < split->threads; t++) mine += split->of[t].seconds[c];
    split->seconds[c] = team_sum(team, mine) / threads;
    split->seconds[SPLIT_OTHERS] -= split->seconds[c];
  }
}

void split_print(const split* split, FILE* to) {
  const double percent = split->elapsed > 0 ? 100 / split->elapsed : 0;
  for (int c = 0; split->names[c] != NULL; c++)
    fprintf(to, "%s %.1f %%, ", split->names[c], percent * split->seconds[c]);
  fprintf(to, "others %.1f %%", percent * split->seconds[SPLIT_OTHERS]);
}

void split_json(const split* split, FILE* to) {
  fputc('{', to);
  for (int c = 0; split->names[c] != NULL; c++) fprintf(to, "\"%s\": %.9f, ", split->names[c], split->seconds[c]);
  fprintf(to, "\"others\": %.9f}", split->seconds[SPLIT_OTHERS]);
}
