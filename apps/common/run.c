#include "run.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

static const double default_look = 0.25; /* seconds: hirobarun allows 3 s from Ctrl-C to the end */
enum { looks_per_state = 4 };

static volatile sig_atomic_t asked_to_stop;

/* A second signal ends the program at once. What comes together with the first one is the same wish: `timeout` signals
 * its command, and then the process group of the command; a launcher passes signals on. */
static void on_signal(int number) {
  static const double together = 0.5; /* seconds */
  static double first;
  const double at = now();
  if (!asked_to_stop) first = at;
  if (asked_to_stop && at - first > together) {
    signal(number, SIG_DFL);
    raise(number);
  }
  asked_to_stop = 1;
}

void run_start(run* run, const team* team, int first, int last) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  run->team = team;
  run->first = first;
  run->last = last;
  run->progress = team_max(team, run->progress || isatty(STDERR_FILENO)) != 0;
  if (run->look_every == 0) run->look_every = default_look;
  run->next_look = first + 1;
  run->looks = run->stopped = 0;
  team_max(team, 0);
  run->started = team_now();
}

static void show(run* run, int step, double per_step, const char* name, double state) {
  const bool terminal = isatty(STDERR_FILENO);
  char watched[64] = "";
  if (name != NULL) snprintf(watched, sizeof watched, ", %s %.3g", name, state);
  fprintf(stderr, "%s%s: step %d of %d, %.3f G%s/s%s, %.0f s left%s", terminal ? "\r\033[K" : "", run->team->program,
          step, run->last, 1e-9 * run->work / per_step, run->unit, watched, per_step * (run->last - step),
          terminal && step < run->last ? "" : "\n");
}

bool run_step(run* run, int step, double (*state)(const void* of), const void* of, const char* name) {
  if (step < run->next_look && step < run->last) return false;
  const team* team = run->team;
  const bool stop = step < run->last && team_max(team, asked_to_stop) != 0;
  if (stop) run->stopped = step;
  const double per_step = team_max(team, (team_now() - run->started) / (step - run->first));
  run->next_look = step + (int)fmin(INT_MAX / 2, fmax(1, floor(run->look_every / per_step)));
  if (run->looks++ % looks_per_state != 0 && step < run->last) return stop;
  const double value = state != NULL ? team_max(team, state(of)) : 0;
  team_agree(team, isfinite(value), TEAM_WRONG, "the %s is no longer finite at step %d", name, step);
  if (run->progress && team->rank == 0) show(run, step, per_step, name, value);
  return stop;
}

int run_end_stopped(const run* run, const char* checkpoint) {
  const team* team = run->team;
  if (team->rank == 0 && checkpoint != NULL)
    fprintf(stderr, "%s: stopped after step %d; to go on: the same options and --restart %s\n", team->program,
            run->stopped, checkpoint);
  if (team->rank == 0 && checkpoint == NULL)
    fprintf(stderr, "%s: stopped after step %d; without a checkpoint nothing is kept\n", team->program, run->stopped);
  return 128 + SIGINT; /* as shells have it */
}

void run_stop(run* run) { run->seconds = team_max(run->team, team_now() - run->started); }

double run_phase_seconds(const run* run, int phase) {
  return team_sum(run->team, run->phase[phase]) / run->team->count;
}
