#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = INT_MAX - 8 };

int options_limit(void) { return LIMIT; }

static int edit_distance(const char* a, const char* b) {
  int row[64];
  const int columns = smaller((int)strlen(b), 63);
  for (int j = 0; j <= columns; j++) row[j] = j;
  for (int i = 1; a[i - 1] != '\0'; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= columns; j++) {
      const int above = row[j];
      row[j] = smaller(smaller(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[columns];
}

static const option* nearest(const option options[], int count, const char* word) {
  const option* best = &options[0];
  for (int i = 1; i < count; i++)
    if (edit_distance(word, options[i].name) < edit_distance(word, best->name)) best = &options[i];
  return best;
}

/* Whole numbers from `least`, separated by commas; returns how many, or 0 where anything else is found. */
static int parse_numbers(const char* text, long least, int most, int out[]) {
  int count = 0;
  char* end = NULL;
  do {
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (end == text || errno != 0 || n < least || n > LIMIT || count == most) return 0;
    out[count++] = (int)n;
    text = end + 1;
  } while (*end == ',');
  return *end == '\0' ? count : 0;
}

static bool parse_size(const char* text, int size[3]) {
  const int count = parse_numbers(text, 1, 3, size);
  if (count == 1) size[1] = size[2] = size[0];
  return count == 1 || count == 3;
}

static bool parse_real(const char* text, double* out) {
  char* end = NULL;
  *out = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*out);
}

static bool append(const char* list[OPTION_LIST], const char* value) {
  for (int i = 0; i < OPTION_LIST; i++)
    if (list[i] == NULL) {
      list[i] = value;
      return true;
    }
  return false;
}

static bool take(const option* option, const char* value, void* field) {
  switch (option->kind) {
    case OPTION_SIZE: return parse_size(value, field);
    case OPTION_NUMBER: return parse_numbers(value, 1, 1, field) == 1;
    case OPTION_COUNT: return parse_numbers(value, 0, 1, field) == 1;
    case OPTION_REAL: return parse_real(value, field);
    case OPTION_TEXTS: return append(field, value);
    default: *(const char**)field = value; return true;
  }
}

static void refuse(const team* team, const option* option, const char* value) {
  if (option->kind == OPTION_REAL)
    team_agree(team, false, TEAM_BAD_INPUT, "%s '%s' is not a number", option->name, value);
  if (option->kind == OPTION_TEXTS)
    team_agree(team, false, TEAM_BAD_INPUT, "%s may be given %d times", option->name, OPTION_LIST);
  team_agree(team, false, TEAM_BAD_INPUT, "%s '%s' is not %s with whole numbers from %d to %d", option->name, value,
             option->value, option->kind != OPTION_COUNT, LIMIT);
}

/* Every rank reads the same words, so they agree without communication on what to do. */
void options_read(const team* team, const option options[], int count, void* into, int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const option* option = NULL;
    for (int k = 0; k < count; k++)
      if (strcmp(argv[i], options[k].name) == 0) option = &options[k];
    team_agree(team, option != NULL, TEAM_BAD_INPUT, "unknown option '%s'; did you mean %s? (--help lists all)",
               argv[i], nearest(options, count, argv[i])->name);
    void* const field = (char*)into + option->offset;
    if (option->kind == OPTION_FLAG || option->kind == OPTION_NO_FLAG) {
      *(bool*)field = option->kind == OPTION_FLAG;
      continue;
    }
    team_agree(team, i + 1 < argc, TEAM_BAD_INPUT, "%s needs a value: %s %s", option->name, option->name,
               option->value);
    const char* const value = argv[++i];
    if (!take(option, value, field)) refuse(team, option, value);
  }
}

void options_print(const option options[], int count) {
  for (int i = 0; i < count; i++) {
    char left[48];
    snprintf(left, sizeof left, "%s %s", options[i].name, options[i].value != NULL ? options[i].value : "");
    printf("  %-24s %s\n", left, options[i].help);
  }
}
