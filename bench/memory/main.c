#include <math.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"
#include "cases.h"

void add(samples* s, double value) {
  if (s->count < (int)(sizeof s->value / sizeof *s->value)) s->value[s->count++] = value;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double median(samples* s) {
  if (s->count == 0) return 0;
  qsort(s->value, (size_t)s->count, sizeof *s->value, ascending);
  const int half = s->count / 2;
  return s->count % 2 != 0 ? s->value[half] : (s->value[half - 1] + s->value[half]) / 2;
}

void check(int ok, const char* what) {
  if (!ok) sms_abort(1, what);
}

static json_line line;

void report(const char* name, double value) { json_add(&line, name, value); }

static const struct {
  const char* name;
  void (*run)(parameters);
  size_t mib;
  const char* help;
} cases[] = {
    {"triad", triad, 64, "STREAM triad over shared and over malloc'ed arrays (1 rank)"},
    {"faults", faults, 64, "a read fault per page; run with HIROBA_READAHEAD=4K"},
    {"faults-by-8", faults_by_8, 64, "a page of a fault that brings 8; run with HIROBA_READAHEAD=32K"},
    {"first-writes", first_writes, 64, "the first write to each cached page"},
    {"barrier-dirty", barrier_dirty, 8, "a barrier with that much written memory of another node"},
    {"barrier-empty", barrier_empty, 1, "a barrier with nothing to do, beside a raw exchange of two flags"},
    {"sequential", sequential, 256, "reading absent memory in order, beside memcpy"},
    {"preload", preload, 256, "sms_preload, beside memcpy"},
    {"release", release, 256, "publishing one changed word per page, beside reading the memory twice"},
    {"drop", drop, 256, "sms_sync_drop of cached memory"},
    {"jacobi", jacobi, 8, "Jacobi on 1024 x 1024 doubles with sms_barrier, million updates per second"},
};

int main(int argc, char** argv) {
  const char* const wanted = argc > 1 ? argv[1] : "--help";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(wanted, cases[i].name) != 0) continue;
    parameters p = {(argc > 2 ? (size_t)atol(argv[2]) : cases[i].mib) << 20, argc > 3 ? atoi(argv[3]) : 9};
    sms_startup(&argc, &argv);
    cases[i].run(p);
    if (sms_rank == sms_nprocs - 1) json_print(&line);
    sms_shutdown();
    return 0;
  }
  printf("usage: hirobarun -n 2 --nodes 2 bench_memory CASE [MIB [ROUNDS]]\n\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    printf("  %-14s %s (default %zu MiB)\n", cases[i].name, cases[i].help, cases[i].mib);
  return strcmp(wanted, "--help") == 0 ? 0 : 2;
}
