/* json.h: the line of JSON that a benchmark prints, an object of figures by name; run.py reads it. Header only; for C
 * and C++. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdio.h>
#include <string.h>

typedef struct json_line {
  char text[16384];
} json_line;

/* Adds a figure to a line, which is empty at first. */
static inline void json_add(json_line* line, const char* name, double value) {
  const size_t used = strlen(line->text);
  snprintf(line->text + used, sizeof line->text - used, "%s\"%s\": %.9g", used == 0 ? "" : ", ", name, value);
}

static inline void json_print(const json_line* line) {
  printf("{%s}\n", line->text);
  fflush(stdout);
}

#endif
