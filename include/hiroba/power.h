/* power.h: regions of the program whose energy is measured. docs/power.md teaches it, power.hpp is for C++.
 *
 *   hiroba_energy_begin("solve");
 *   ...
 *   const hiroba_energy spent = hiroba_energy_end("solve");
 *   if (spent.why_unknown == NULL) printf("%g J\n", spent.joules);
 *
 * With `hirobarun --power` both calls read the counters of the machine, which takes some microseconds each, and the
 * table at the end of the job has a line per region and rank, with the sums over all times that it was open. Without
 * the option they return at once, and nothing is measured.
 *
 * Counters count for a whole machine, and cannot tell ranks apart: a rank's joules are an equal part, for each rank on
 * the machine, of what it used in that time. Regions may contain others, and overlap; each counts all of its time.
 * Errors: a region that is open already, or is not open, or is left open at the end, ends the job with one message.
 * Thread-safe; a region may end in another thread than it has begun in. */
#ifndef HIROBA_POWER_H
#define HIROBA_POWER_H

#include "collective.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HIROBA_ENERGY_NAME = 63,     /* the longest name of a region */
  HIROBA_ENERGY_REGIONS = 1000 /* the most that are open at once */
};

typedef struct hiroba_energy {
  double seconds;
  double joules;           /* of this rank; NAN: not known */
  double above_idle;       /* joules, without what an idle machine would have used (option power-idle) */
  double watts;            /* joules / seconds */
  double delay_product;    /* joules * seconds */
  int ranks;               /* on this machine, which share its energy evenly */
  const char* why_unknown; /* NULL if the joules are known; valid until the thread's next call */
} hiroba_energy;

/* `name` is copied. */
void hiroba_energy_begin(const char* name);
hiroba_energy hiroba_energy_end(const char* name);

/* Returns the joules that a device of this rank (device.h) has used since the job began, by its own counter; for a
 * device that is threads of the processor, those of the machine. NAN: not known, and `why_unknown` gets the reason,
 * else NULL. With option power. */
double hiroba_energy_of_device(int device, const char** why_unknown);

#ifndef HIROBA_NO_PLACES
#define hiroba_energy_of_device(...) HIROBA_HERE(hiroba_energy_of_device(__VA_ARGS__))
#define hiroba_energy_begin(...) HIROBA_HERE(hiroba_energy_begin(__VA_ARGS__))
#define hiroba_energy_end(...) HIROBA_HERE(hiroba_energy_end(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
