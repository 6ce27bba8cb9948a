/* A program whose energy is measured. power CASE [SECONDS]:
 *   late: the last rank computes for a second more than the others;
 *   regions: rank 0 computes for SECONDS in region "work", while the others wait in a barrier; then all are in "both";
 *   devices: the watts of each device, over half a second; and others, which are mistakes. */
#include <device.h>
#include <power.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds) {
  const double end = now() + seconds;
  while (now() < end) continue;
}

static void regions(double seconds) {
  if (sms_rank == 0) {
    hiroba_energy_begin("work");
    compute(seconds);
    const hiroba_energy spent = hiroba_energy_end("work");
    printf("work: %.4f s, %.4f J, %.4f W, %d ranks, %s\n", spent.seconds, spent.joules, spent.watts, spent.ranks,
           spent.why_unknown == NULL ? "known" : spent.why_unknown);
  }
  sms_barrier();
  for (int i = 0; i < 3; ++i) {
    hiroba_energy_begin("both");
    hiroba_energy_begin("inner");
    compute(seconds / 30);
    hiroba_energy_end("inner");
    hiroba_energy_end("both");
  }
}

static void twice(void) {
  hiroba_energy_begin("solve"); /* first */
  hiroba_energy_begin("solve"); /* second */
}
static void not_open(void) {
  hiroba_energy_begin("solve");
  hiroba_energy_end("solv"); /* second */
}
static void left_open(void) { hiroba_energy_begin("solve"); /* first */ }
static void no_name(void) { hiroba_energy_begin(""); }
static void null_name(void) { hiroba_energy_begin(NULL); }
static void end_null(void) { hiroba_energy_end(NULL); }
static void long_name(void) {
  char name[80];
  memset(name, 'x', sizeof name);
  name[HIROBA_ENERGY_NAME] = '\0';
  hiroba_energy_begin(name);
  hiroba_energy_end(name);
  name[HIROBA_ENERGY_NAME] = 'x', name[HIROBA_ENERGY_NAME + 1] = '\0';
  hiroba_energy_begin(name);
}
static void too_many(void) {
  char name[20];
  for (int i = 0; i <= HIROBA_ENERGY_REGIONS; ++i) {
    snprintf(name, sizeof name, "r%d", i);
    hiroba_energy_begin(name);
  }
}
static void exits(void) {
  hiroba_energy_begin("work");
  compute(0.1);
  hiroba_energy_end("work");
  exit(3);
}

static void late(void) { compute(sms_rank == sms_nprocs - 1 ? 1 : 0.1); }
static void devices(void) {
  for (int d = 0; d < hiroba_device_count(); ++d) {
    const char *before = NULL, *after = NULL;
    const double begin = now(), joules = hiroba_energy_of_device(d, &before);
    compute(0.5);
    const double used = hiroba_energy_of_device(d, &after) - joules;
    printf("device %d: %.3f W, %s, %s\n", d, used / (now() - begin), before == NULL ? "known" : before,
           after == NULL ? "known" : after);
  }
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*function)(void);
  } mistakes[] = {{"twice", twice},
                  {"not_open", not_open},
                  {"left_open", left_open},
                  {"no_name", no_name},
                  {"null_name", null_name},
                  {"end_null", end_null},
                  {"long_name", long_name},
                  {"too_many", too_many},
                  {"exits", exits},
                  {"devices", devices},
                  {"late", late}};
  if (argc > 1 && strcmp(argv[1], "too_early") == 0) hiroba_energy_begin("solve");
  sms_startup(&argc, &argv);
  if (argc > 2) regions(atof(argv[2]));
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i)
    if (argc > 1 && strcmp(argv[1], mistakes[i].name) == 0) mistakes[i].function();
  sms_shutdown();
  return 0;
}
