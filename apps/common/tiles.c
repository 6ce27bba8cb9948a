#define _GNU_SOURCE
#include "tiles.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

enum { KEY = 256, LINE = KEY + 32, TRIALS = 3 };

tile tiles_option(const team* team, const char* text, int dimensions) {
  if (strcmp(text, "auto") == 0) return (tile){0, 0};
  long extent[2] = {0, 0};
  int found = 0;
  const char* at = text;
  for (char* end = NULL; found < dimensions; at = end + 1) {
    errno = 0;
    extent[found] = strtol(at, &end, 10);
    if (end == at || errno != 0 || extent[found] < 1 || extent[found] > INT_MAX / 2) found = dimensions;
    else if (*end == '\0') {
      if (found == 0) extent[1] = extent[0];
      return (tile){(int)extent[0], (int)extent[1]};
    } else if (*end != ',') found = dimensions;
    else found++;
  }
  team_agree(team, false, TEAM_BAD_INPUT, "--tile '%s' is not %s or auto, with whole numbers from 1 to %d", text,
             dimensions == 2 ? "N or ROWS,COLUMNS" : "N", INT_MAX / 2);
  return (tile){0, 0};
}

/* ---- what is remembered: lines "ROWS,COLUMNS KEY" ---------------------------------------------------------------- */

/* False where there is no folder for it. */
static bool file_name(char name[PATH_MAX], bool make) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char folder[PATH_MAX - 16];
  int length = 0;
  if (cache != NULL && cache[0] == '/') length = snprintf(folder, sizeof folder, "%s", cache);
  else if (home != NULL && home[0] == '/') length = snprintf(folder, sizeof folder, "%s/.cache", home);
  if (length <= 0 || length >= (int)sizeof folder - 8) return false;
  if (make) mkdir(folder, 0777);
  strcat(folder, "/hiroba");
  if (make) mkdir(folder, 0777);
  snprintf(name, PATH_MAX, "%s/tiles", folder);
  return true;
}

/* Whether the line is of this key; then `found` is its tile. */
static bool parse(const char* line, const char* key, tile* found) {
  int used = 0;
  if (sscanf(line, "%d,%d %n", &found->rows, &found->columns, &used) != 2 || used == 0) return false;
  const size_t length = strcspn(line + used, "\n");
  return length == strlen(key) && strncmp(line + used, key, length) == 0;
}

static bool recall(const char* key, tile* found) {
  char name[PATH_MAX], line[LINE];
  FILE* const file = file_name(name, false) ? fopen(name, "re") : NULL;
  bool known = false;
  while (file != NULL && !known && fgets(line, sizeof line, file) != NULL) known = parse(line, key, found);
  if (file != NULL) fclose(file);
  return known;
}

/* A new file replaces the old one at once, so a run at the same time reads one or the other, and never half a file. If
 * it cannot be written, the next run makes the trials again. */
static void remember(const char* key, tile best) {
  char name[PATH_MAX], part[PATH_MAX + 16], line[LINE];
  if (!file_name(name, true)) return;
  snprintf(part, sizeof part, "%s.%d", name, (int)getpid());
  const int made = files_create_part(part, name);
  FILE* const to = made >= 0 ? fdopen(made, "w") : NULL;
  if (to == NULL) return;
  FILE* const from = fopen(name, "re");
  tile other;
  while (from != NULL && fgets(line, sizeof line, from) != NULL)
    if (!parse(line, key, &other)) fputs(line, to);
  if (from != NULL) fclose(from);
  fprintf(to, "%d,%d %s\n", best.rows, best.columns, key);
  if (fclose(to) != 0 || rename(part, name) != 0) unlink(part);
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

/* The index of the remembered tile among the candidates, or -1; the same in all ranks. */
static int remembered(const team* team, const tiles* tiles, const char* key) {
  int index = -1;
  tile found;
  if (team->rank == 0 && recall(key, &found))
    for (int i = 0; i < tiles->count; i++)
      if (tiles->candidates[i].rows == found.rows && tiles->candidates[i].columns == found.columns) index = i;
  return (int)team_max(team, index);
}

tile_choice tiles_best(const team* team, const tiles* tiles) {
  char host[HOST_NAME_MAX + 1] = "", key[KEY];
  gethostname(host, sizeof host - 1);
  snprintf(key, sizeof key, "%s host=%s ranks=%d threads=%d size=%d", tiles->what, host, team->count, tiles->threads,
           tiles->size);
  const int known = remembered(team, tiles, key);
  if (known >= 0) return (tile_choice){tiles->candidates[known], true};

  /* The candidates take turns, and the best of the trials counts, so that a pause of the machine does not decide. */
  double* const best = malloc((size_t)tiles->count * sizeof *best);
  team_agree(team, best != NULL && tiles->count > 0, TEAM_BAD_INPUT, "--tile auto has no memory or no candidates");
  for (int i = 0; i < tiles->count; i++) best[i] = INFINITY;
  for (int round = 0; round < TRIALS; round++)
    for (int i = 0; i < tiles->count; i++)
      best[i] = fmin(best[i], team_max(team, tiles->trial(tiles->of, tiles->candidates[i])));
  int winner = 0;
  for (int i = 1; i < tiles->count; i++)
    if (best[i] < best[winner]) winner = i;
  free(best);
  if (team->rank == 0) remember(key, tiles->candidates[winner]);
  return (tile_choice){tiles->candidates[winner], false};
}
