#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barnes_hut.h"

static const double energy_limit = 1e-3; /* of --verify: for 80 steps of 0.025 */
static const char* const phases[PHASES] = {"build", "sort", "forces", "update", "exchange"};

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum { CHECKPOINT_VERSION = 1 };

/* The bodies in the order of their numbers, of which this rank has [first, last). */
static slab rows_of(const bh* b) {
  const size_t row = COLUMNS * sizeof(double);
  return (slab){.from = 0,
                .to = b->size,
                .first = b->first,
                .last = b->last,
                .rows = 1,
                .row_bytes = row,
                .row_pitch = row,
                .plane_pitch = row,
                .data = b->records + (size_t)b->first * COLUMNS};
}

/* Puts the bodies there. */
static void gather(const bh* b) {
  for (int i = 0; i < b->area.count; i++) {
    const body* p = &b->area.bodies[i];
    const motion* q = &b->area.motions[i];
    const double row[COLUMNS] = {p->x, p->y, p->z, q->v[0], q->v[1], q->v[2], p->m};
    memcpy(b->records + (size_t)q->id * COLUMNS, row, sizeof row);
  }
  if (b->memory.barrier != NULL) b->memory.barrier();
}

static checkpoint header_of(const bh* b, int step) {
  checkpoint header = {.version = CHECKPOINT_VERSION, .size = {b->size, 1, 1}, .step = step};
  snprintf(header.program, sizeof header.program, "barnes_hut");
  snprintf(header.settings, sizeof header.settings, "theta %.17g, softening %.17g, dt %.17g", b->theta, b->softening,
           b->dt);
  return header;
}

void record_open_restart(bh* b) {
  checkpoint found;
  const checkpoint mine = header_of(b, 0);
  checkpoint_open(&b->team, b->restart, &mine, &found);
  team_agree(&b->team,
             found.step >= 0 && found.step <= options_limit() && found.size[0] >= 1 && found.size[0] <= options_limit(),
             TEAM_BAD_INPUT, "--restart %s is damaged: it has no size or step", b->restart);
  checkpoint_expect(&b->team, b->restart, &found, (int64_t[]){found.size[0], COLUMNS, 1}, sizeof(double));
  bh_set_size(b, "--restart", b->restart, (int)found.size[0]);
  b->step = (int)found.step;
  team_agree(&b->team, b->step <= b->steps, TEAM_BAD_INPUT, "--restart %s is at step %d, --steps is only %d",
             b->restart, b->step, b->steps);
}

void record_load_restart(bh* b) {
  checkpoint found;
  const checkpoint mine = header_of(b, b->step);
  checkpoint_open(&b->team, b->restart, &mine, &found);
  const slab rows = rows_of(b);
  checkpoint_load(&b->team, b->restart, &mine, &found, &rows, 1);
}

static void save_output(const bh* b) {
  unsigned char header[NPY_HEADER];
  const int64_t shape[2] = {b->size, COLUMNS};
  npy_header(header, "<f8", shape, 2);
  const slab rows = rows_of(b);
  files_save(&b->team, b->output, header, sizeof header, &rows, 1);
}

void record_open_volume(bh* b) {
  static const char* const vectors[] = {"velocity", "mass", NULL};
  b->volume = (volume){.folder = b->volume_folder,
                       .name = "bodies",
                       .field = "bodies",
                       .size = {COLUMNS, b->size, 1},
                       .vectors = vectors,
                       .every = b->every,
                       .steps = b->steps,
                       .step_time = b->dt};
  volume_open(&b->team, &b->volume, b->step);
}

/* ---- after each step --------------------------------------------------------------------------------------------- */

static figures sum_up(const bh* b) {
  const team* team = &b->team;
  figures f = {.seconds = team_now() - b->run.started};
  int64_t pages = b->pages, bytes = (int64_t)sizeof(cell) * b->tree.cells.used +
                                    (int64_t)sizeof(leaf) * b->tree.leaves.used +
                                    (int64_t)(sizeof(body) + sizeof(motion)) * (b->area.room + b->spare.room);
  if (b->memory.counters != NULL) b->memory.counters(&pages, &bytes);
  for (int i = 0; i < PHASES; i++) f.phase[i] = run_phase_seconds(&b->run, i);
  f.accesses = team_sum(team, (double)b->accesses);
  f.cells = team_sum(team, b->tree.cells.used);
  f.interactions = team_sum(team, (double)b->interactions);
  f.pages = team_sum(team, (double)(pages - b->pages));
  f.bytes = team_sum(team, (double)bytes);
  return f;
}

/* The paper's four figures, and what they are made of: all for a body. */
static void print_step(const bh* b, const figures* now, const figures* before) {
  const double n = b->size;
  if (b->team.rank != 0) return;
  if (b->step % 20 == 1 || before->seconds == 0)
    printf("%6s %9s %9s %10s %9s | %s, %% of the step | %s\n", "step", "us", "bytes", "remote", "pages",
           "build sort forces update exchange", "energy error");
  const double seconds = now->seconds - before->seconds;
  printf("%6d %9.3f %9.1f %10.3f %9.5f |", b->step, 1e6 * seconds / n, now->bytes / n,
         (now->accesses - before->accesses) / n, (now->pages - before->pages) / n);
  for (int i = 0; i < PHASES; i++) printf(" %5.1f", 100 * (now->phase[i] - before->phase[i]) / seconds);
  printf(" | %.1e\n", fabs(b->energy / b->start_energy - 1));
  fflush(stdout);
}

static void save(bh* b, bool due, bool stop) {
  const bool check = b->checkpoint != NULL && (due || stop || b->step == b->steps);
  const bool snapshot = b->volume_folder != NULL && due;
  if (!check && !snapshot) return;
  gather(b);
  const slab rows = rows_of(b);
  if (check) {
    checkpoint header = header_of(b, b->step);
    checkpoint_save(&b->team, b->checkpoint, &header, &rows, 1);
  }
  if (snapshot) volume_write(&b->team, &b->volume, b->step, &rows);
}

bool record_step(bh* b) {
  const bool stop = run_step(&b->run, b->step, NULL, NULL, NULL);
  if (!b->json) {
    const figures now = sum_up(b);
    print_step(b, &now, &b->shown);
    b->shown = now;
  }
  save(b, b->every > 0 && b->step % b->every == 0, stop);
  return !stop;
}

/* ---- end --------------------------------------------------------------------------------------------------------- */

static void report(const bh* b, const figures* f, uint64_t cells, double error) {
  const double done = b->run.last - b->run.first > 0 ? b->run.last - b->run.first : 1, n = b->size;
  const double cores = (double)b->team.count * b->threads, per = 1e6 * b->run.seconds / n / done;
  if (!b->json) {
    printf("%.4f s; for each body and step %.3f us, %.3f us of a core, %.0f interactions\n", b->run.seconds, per,
           per * cores, f->interactions / n / done);
    printf("memory %.1f bytes; remote accesses %.3f, page requests %.5f for each body and step\n", f->bytes / n,
           f->accesses / n / done, f->pages / n / done);
    printf("energy %.6f, relative change at most %.1e; momentum %.1e\n", b->energy, b->drift, b->momentum);
    if (b->verify && error <= check_limit(b) && b->drift <= energy_limit)
      printf("verified: force error %.2g, limit %.1g; energy limit %.0e\n", error, check_limit(b), energy_limit);
    return;
  }
  printf(
      "{\"program\": \"%s\", \"bodies\": %d, \"steps\": %g, \"ranks\": %d, \"threads\": %d, \"theta\": %g, "
      "\"bodysort\": %d, \"seconds\": %.9f, \"us_per_body\": %.6f, \"core_us_per_body\": %.6f, \"bytes_per_body\": "
      "%.3f, \"accesses_per_body\": %.6f, \"pages_per_body\": %.8f, \"interactions_per_body\": %.3f, ",
      b->team.program, b->size, done, b->team.count, b->threads, b->theta, b->bodysort, b->run.seconds, per,
      per * cores, f->bytes / n, f->accesses / n / done, f->pages / n / done, f->interactions / n / done);
  for (int i = 0; i < PHASES; i++) printf("\"%s\": %.9f, ", phases[i], f->phase[i]);
  printf("\"cells\": %lld, \"tree\": \"%016llx\", \"energy\": %.12g, \"drift\": %.6g, \"momentum\": %.6g, \"error\": ",
         (long long)f->cells, (unsigned long long)cells, b->energy, b->drift, b->momentum);
  if (b->verify) printf("%.17g}\n", isfinite(error) ? error : 1e308);
  else printf("null}\n");
}

int bh_finish(bh* b) {
  const team* team = &b->team;
  const bool stopped = b->run.stopped != 0;
  const int status = stopped ? run_end_stopped(&b->run, b->checkpoint) : 0;
  const figures f = sum_up(b);
  const uint64_t cells = check_cells(b);
  const double error = b->verify && !stopped ? check_forces(b) : 0;
  if (b->output != NULL && !stopped) {
    gather(b);
    save_output(b);
  }
  if (team->rank == 0 && !stopped) report(b, &f, cells, error);
  team_agree(team, error <= check_limit(b), TEAM_WRONG,
             "the answer is wrong: the rms error of the forces is %.3g, limit %.3g", error, check_limit(b));
  team_agree(team, !b->verify || stopped || b->drift <= energy_limit, TEAM_WRONG,
             "the answer is wrong: the energy changes by %.3g, limit %.0e; a smaller --dt or --theta has less",
             b->drift, energy_limit);
  if (b->volume_folder != NULL) volume_close(&b->volume);
  if (b->memory.barrier != NULL) b->memory.barrier(); /* others have read the bodies to check the forces */
  bh_free(b);
  return status;
}
