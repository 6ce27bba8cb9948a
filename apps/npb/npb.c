#include "npb.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG = 1, BAD_INPUT = 2 }; /* exit statuses */

uint64_t npb_random_after(uint64_t seed, uint64_t count) {
  const uint64_t mask = (UINT64_C(1) << NPB_BITS) - 1;
  uint64_t x = seed, power = npb_multiplier;
  for (; count != 0; count /= 2) {
    if (count % 2 != 0) x = x * power & mask;
    power = power * power & mask;
  }
  return x;
}

double npb_sum(const npb* n, double mine) { return n->team.sum != NULL ? n->team.sum(mine) : mine; }

static void leave(const npb* n) {
  fflush(stdout);
  if (n->team.leave != NULL) n->team.leave();
}

void npb_require(const npb* n, bool good, const char* pattern, ...) {
  if (good) return;
  if (n->team.rank == 0) {
    va_list arguments;
    va_start(arguments, pattern);
    fprintf(stderr, "%s: ", n->program);
    vfprintf(stderr, pattern, arguments);
    fputc('\n', stderr);
    va_end(arguments);
  }
  leave(n);
  exit(BAD_INPUT);
}

static void print_help(const npb* n, bool accumulates) {
  printf(
      "%s: benchmark %s of the NAS Parallel Benchmarks, checked against their published answers\n\n"
      "  --class S|W|A|B|C   the size of the problem (default S, the smallest)\n",
      n->program, n->benchmark);
  if (accumulates) printf("  --accumulate        add to the neighbour's sums (put) instead of reading its own (get)\n");
  printf(
      "  --json              print the report as one line of JSON\n"
      "  --help              print this\n\n"
      "The exit status is 0 only if the answer is right.\n");
}

void npb_begin(npb* n, const char* benchmark, const char* program, npb_team team, bool accumulates, int argc,
               char** argv) {
  *n = (npb){.benchmark = benchmark, .program = program, .team = team, .class = 'S'};
  for (int i = 1; i < argc; i++) {
    const char* word = argv[i];
    if (strcmp(word, "--json") == 0) n->json = true;
    else if (strcmp(word, "--help") == 0) n->help = true;
    else if (accumulates && strcmp(word, "--accumulate") == 0) n->accumulate = true;
    else {
      npb_require(n, strcmp(word, "--class") == 0, "unknown option '%s'; --help lists them", word);
      const char* name = i + 1 < argc ? argv[++i] : "";
      npb_require(n, strlen(name) == 1 && strchr("SWABC", *name) != NULL,
                  "there is no class '%s'; choose --class S, W, A, B or C", name);
      n->class = *name;
    }
  }
  if (!n->help) return;
  if (team.rank == 0) print_help(n, accumulates);
  leave(n);
  exit(0);
}

void* npb_memory(const npb* n, size_t count, size_t size) {
  const size_t line = 64, bytes = (count * size + line - 1) / line * line;
  void* memory = aligned_alloc(line, bytes > 0 ? bytes : line);
  if (memory == NULL) {
    fprintf(stderr, "%s: rank %d finds no memory for %zu bytes; choose a smaller class or more ranks\n", n->program,
            n->team.rank, bytes);
    exit(BAD_INPUT);
  }
  return memset(memory, 0, bytes);
}

void* npb_array(npb* n, size_t count, size_t size) {
  if (n->team.memory != NULL) return n->team.memory(count * size);
  size_t k = 0;
  while (n->arrays[k] != NULL) k++;
  return n->arrays[k] = npb_memory(n, count, size);
}

void npb_start(npb* n) {
  n->communication = 0;
  npb_sum(n, 0);
  n->started = now();
}

void npb_stop(npb* n) {
  npb_sum(n, 0);
  n->seconds = now() - n->started;
}

int npb_finish(npb* n, bool verified, long size, int iterations, double operations, const char* kind,
               const char* detail) {
  const double seconds = n->seconds, talking = npb_sum(n, n->communication) / n->team.count;
  const double rate = operations / seconds;
  verified = npb_sum(n, !verified) == 0;
  if (n->team.rank == 0 && n->json)
    printf(
        "{\"program\": \"%s\", \"class\": \"%c\", \"ranks\": %d, \"seconds\": %.9f, \"communication\": %.9f, "
        "\"mops\": %.6f, \"verified\": %s, \"detail\": \"%s\"}\n",
        n->program, n->class, n->team.count, seconds, talking, rate, verified ? "true" : "false", detail);
  if (n->team.rank == 0 && !n->json) {
    printf("\n\n %s Benchmark Completed\n", n->benchmark);
    printf(" Class           = %24c\n Size            = %24ld\n", n->class, size);
    printf(" Iterations      = %24d\n Time in seconds = %24.4f\n", iterations, seconds);
    printf(" Communication   = %22.2f %%\n", 100 * talking / seconds);
    printf(" Total processes = %24d\n", n->team.count);
    printf(" Mop/s total     = %24.2f\n Mop/s/process   = %24.2f\n", rate, rate / n->team.count);
    printf(" Operation type  = %24s\n Verification    = %24s\n", kind, verified ? "SUCCESSFUL" : "UNSUCCESSFUL");
    printf(" Compared        = %s\n\n", detail);
  }
  if (n->team.rank == 0 && !verified) fprintf(stderr, "%s: the answer is wrong: %s\n", n->program, detail);
  for (size_t k = 0; n->arrays[k] != NULL; k++) free(n->arrays[k]);
  leave(n);
  return verified ? 0 : WRONG;
}
