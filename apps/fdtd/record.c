/* What a run leaves: probes, a film, checkpoints, the last pressure, and the report. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fdtd.h"

static const char* const phase_names[PHASES] = {"Update U", "Update P", "Update PML U", "Update PML P"};

static char* path_in(const fdtd* f, const char* name, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%s/%s", f->folder, name);
  return path;
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

static int frames(const fdtd* f) { return f->steps / f->film; }

static size_t frame_bytes(const fdtd* f) { return sizeof(double) * (size_t)f->size[2] * (size_t)f->size[0]; }

/* Rank 0 makes the file in its full length; a restart goes on in one that fits. */
static void open_film(fdtd* f) {
  char path[PATH_MAX];
  path_in(f, "film.npy", path);
  bool good = true;
  if (f->team.rank == 0) {
    const int64_t shape[3] = {frames(f), f->size[2], f->size[0]};
    unsigned char header[NPY_HEADER];
    npy_header(header, "<f8", shape, 3);
    const int how = O_WRONLY | O_CREAT | O_CLOEXEC | (f->restart == NULL ? O_TRUNC : 0);
    const int file = files_is_foreign_link(path) ? -1 : open(path, how, 0666);
    good = file >= 0 && files_write(file, header, sizeof header, 0) &&
           ftruncate(file, (off_t)(sizeof header + (size_t)frames(f) * frame_bytes(f))) == 0;
    if (file >= 0) close(file);
  }
  team_agree(&f->team, good, TEAM_BAD_INPUT, "cannot write %s: %s", path, strerror(errno));
  f->film_file = open(path, O_WRONLY | O_CLOEXEC);
  team_agree(&f->team, f->film_file >= 0, TEAM_BAD_INPUT, "cannot write %s: %s", path, strerror(errno));
}

static void write_frame(const fdtd* f, int frame, const fields* a) {
  const size_t row = sizeof(double) * (size_t)f->size[0];
  char* const rows = malloc(row * (size_t)larger(f->hi - f->lo, 1));
  for (int z = f->lo; rows != NULL && z < f->hi; z++)
    memcpy(rows + (size_t)(z - f->lo) * row, a->p + fdtd_at(f, z, PAD + f->size[1] / 2, PAD_X), row);
  const size_t at = NPY_HEADER + (size_t)frame * frame_bytes(f) + (size_t)(f->lo - PAD) * row;
  const bool good = rows != NULL && files_write(f->film_file, rows, row * (size_t)(f->hi - f->lo), (off_t)at);
  team_agree(&f->team, good, TEAM_WRONG, "cannot write %s/film.npy: %s", f->folder, strerror(errno));
  free(rows);
}

static double* record_of(const fdtd* f, int z, int probe) {
  return f->record + ((size_t)(z - f->first) * (size_t)f->probe_count + (size_t)probe) * (size_t)f->steps;
}

/* Sums by plane, so that they have the same bits for any number of ranks. */
static void measure(const fdtd* f, int step, const fields* a, part r) {
  for (int i = 0; i < f->probe_count; i++) {
    const box* b = &f->probes[i].cells;
    for (int z = larger(b->z0, r.z0); z < smaller(b->z1, r.z1); z++) {
      double* const record = &record_of(f, z, i)[step - 1];
      double sum = r.y0 <= b->y0 ? 0 : *record; /* rows come in their order */
      for (int y = larger(b->y0, r.y0); y < smaller(b->y1, r.y1); y++)
        for (int x = b->x0; x < b->x1; x++) sum += a->p[fdtd_at(f, z, y, x)];
      *record = sum;
    }
  }
}

void fdtd_sound(const fdtd* f, int step, const fields* a, part r) {
  const int end = PAD_X + f->size[0];
  split_part layers[FACES];
  for (int b = 0; b < FACES; b++) layers[b] = split_of(f, a, b);
  for (int i = 0; i < f->source_count; i++) {
    const box* b = &f->sources[i].cells;
    for (int z = larger(b->z0, r.z0); z < smaller(b->z1, r.z1); z++)
      for (int y = larger(b->y0, r.y0); y < smaller(b->y1, r.y1); y++) {
        double* const p = a->p + fdtd_at(f, z, y, 0);
        for (int x = b->x0; x < b->x1; x++) cell_source(p + x, layers, z, y, x, f->wave[step - 1]);
        mirror_p(p, PAD_X, end, end);
      }
  }
  measure(f, step, a, r);
}

/* Brings the planes of this rank here, where devices have them. */
static void bring(const fdtd* f) {
  if (f->fetch != NULL) f->fetch(f->fetch_of);
}

static double largest_pressure(const void* of) {
  const fdtd* f = ((const void* const*)of)[0];
  const fields* a = ((const void* const*)of)[1];
  bring(f);
  double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++)
      for (int x = PAD_X; x < PAD_X + f->size[0]; x++) {
        const double p = fabs(a->p[fdtd_at(f, z, y, x)]);
        if (!(p <= most)) most = isnan(p) ? INFINITY : p;
      }
  return most;
}

static slab pressure_of(const fdtd* f, const fields* a) {
  return (slab){.from = PAD,
                .to = PAD + f->size[2],
                .first = f->first,
                .last = f->last,
                .rows = f->size[1],
                .row_bytes = sizeof(double) * (size_t)f->size[0],
                .row_pitch = sizeof(double) * (size_t)f->row,
                .plane_pitch = sizeof(double) * (size_t)f->plane,
                .data = a->p + fdtd_at(f, f->first, PAD, PAD_X)};
}

static void open_volume(fdtd* f) {
  f->volume = (volume){.folder = f->folder,
                       .name = "volume",
                       .field = "pressure",
                       .size = {f->size[0], f->size[1], f->size[2]},
                       .spacing = f->spacing,
                       .origin = f->spacing / 2,
                       .every = f->snapshot,
                       .steps = f->steps,
                       .step_time = f->courant * f->spacing / f->speed};
  volume_open(&f->team, &f->volume, f->step);
}

void fdtd_start(fdtd* f) {
  if (f->film > 0) open_film(f);
  if (f->snapshot > 0) open_volume(f);
  run_start(&f->run, &f->team, f->step, f->steps);
}

bool fdtd_step(fdtd* f, int step, const fields* a) {
  const bool film = f->film > 0 && step % f->film == 0, snapshot = f->snapshot > 0 && step % f->snapshot == 0;
  if (film || snapshot) bring(f);
  if (film) write_frame(f, step / f->film - 1, a);
  if (snapshot) {
    const slab p = pressure_of(f, a);
    volume_write(&f->team, &f->volume, step, &p);
  }
  const void* const of[] = {f, a};
  const bool stop = run_step(&f->run, step, largest_pressure, of, "pressure");
  if ((f->every > 0 && step % f->every == 0) || (stop && f->folder != NULL)) {
    team_agree(&f->team, isfinite(largest_pressure(of)), TEAM_WRONG,
               "the pressure is no longer finite at step %d; an older checkpoint is as it was", step);
    fdtd_save(f, step, a);
  }
  f->step_reached = step;
  return !stop;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void save_pressure(const fdtd* f, const fields* a) {
  char path[PATH_MAX];
  unsigned char header[NPY_HEADER];
  const int64_t shape[3] = {f->size[2], f->size[1], f->size[0]};
  npy_header(header, "<f8", shape, 3);
  const slab p = pressure_of(f, a);
  files_save(&f->team, path_in(f, "pressure.npy", path), header, sizeof header, &p, 1);
}

static double cells_of(const box* b) { return (double)(b->z1 - b->z0) * (b->y1 - b->y0) * (b->x1 - b->x0); }

/* 32-bit floating-point samples, one channel; the rate is that of the simulation. */
static bool write_wav(const char* path, const double samples[], int count, double rate) {
  const uint32_t bytes = 4 * (uint32_t)count, hertz = (uint32_t)lround(rate);
  const struct {
    char riff[4];
    uint32_t size;
    char wave[4], format[4];
    uint32_t format_size;
    uint16_t kind, channels;
    uint32_t rate, bytes_per_second;
    uint16_t block, bits;
    char data[4];
    uint32_t data_size;
  } header = {"RIFF", 36 + bytes, "WAVE", "fmt ", 16, 3, 1, hertz, 4 * hertz, 4, 32, "data", bytes};
  double most = 1e-300;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(samples[i]));
  FILE* file = files_fopen(path);
  if (file == NULL) return false;
  bool good = fwrite(&header, sizeof header, 1, file) == 1;
  for (int i = 0; good && i < count; i++) {
    const float sample = (float)(samples[i] / most); /* players clip at 1 */
    good = fwrite(&sample, sizeof sample, 1, file) == 1;
  }
  return fclose(file) == 0 && good;
}

static bool write_csv(const fdtd* f, const char* path, const double* samples) {
  FILE* file = files_fopen(path);
  if (file == NULL) return false;
  const double dt = f->courant * f->spacing / f->speed;
  fprintf(file, "time_s");
  for (int i = 0; i < f->probe_count; i++) fprintf(file, ",\"%s\"", f->probes[i].text);
  for (int t = 0; t < f->steps; t++) {
    fprintf(file, "\n%.9g", (t + 1) * dt);
    for (int i = 0; i < f->probe_count; i++) fprintf(file, ",%.17g", samples[(size_t)i * (size_t)f->steps + (size_t)t]);
  }
  fputc('\n', file);
  return fclose(file) == 0;
}

/* Adds up the planes that all ranks have written, in their order. */
static bool mean_of_probes(const fdtd* f, const char* path, double* samples) {
  const size_t steps = (size_t)f->steps;
  double* const plane = malloc(steps * sizeof *plane);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  bool good = file >= 0 && plane != NULL;
  for (int i = 0; good && i < f->probe_count; i++) {
    const box* b = &f->probes[i].cells;
    double* const sum = samples + (size_t)i * steps;
    for (int z = b->z0; good && z < b->z1; z++) {
      const size_t at = ((size_t)(z - PAD) * (size_t)f->probe_count + (size_t)i) * steps;
      good = files_read(file, plane, steps * sizeof *plane, (off_t)(at * sizeof *plane));
      for (size_t t = 0; good && t < steps; t++) sum[t] += plane[t];
    }
    for (size_t t = 0; t < steps; t++) sum[t] /= cells_of(b);
  }
  if (file >= 0) close(file);
  free(plane);
  return good;
}

static void save_probes(const fdtd* f) {
  char raw[PATH_MAX], path[PATH_MAX], name[32];
  path_in(f, "probes.raw", raw);
  const size_t row = sizeof(double) * (size_t)f->steps;
  const slab record = {.from = PAD,
                       .to = PAD + f->size[2],
                       .first = f->first,
                       .last = f->last,
                       .rows = f->probe_count,
                       .row_bytes = row,
                       .row_pitch = row,
                       .plane_pitch = row * (size_t)f->probe_count,
                       .data = f->record};
  files_save(&f->team, raw, NULL, 0, &record, 1);
  bool good = true;
  if (f->team.rank == 0) {
    double* const samples = calloc((size_t)f->probe_count * (size_t)f->steps, sizeof *samples);
    good = samples != NULL && mean_of_probes(f, raw, samples);
    good = good && write_csv(f, path_in(f, "probes.csv", path), samples);
    for (int i = 0; good && i < f->probe_count; i++) {
      snprintf(name, sizeof name, "probe-%d.wav", i + 1);
      good = write_wav(path_in(f, name, path), samples + (size_t)i * (size_t)f->steps, f->steps,
                       f->speed / (f->courant * f->spacing));
    }
    free(samples);
    unlink(raw);
  }
  team_agree(&f->team, good, TEAM_WRONG, "cannot write the probes into %s: %s", f->folder, strerror(errno));
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

typedef struct figures {
  double seconds, phases[PHASES], gcells, layer_cells, layer_time;
  int steps;
  uint64_t checksum; /* of the pressure, by which programs are compared */
} figures;

static figures figures_of(const fdtd* f, const fields* a) {
  const slab p = pressure_of(f, a);
  figures g = {.checksum = files_checksum(&f->team, &p, 1),
               .seconds = f->run.seconds,
               .steps = f->step_reached - f->step};
  double all = 0;
  for (int i = 0; i < PHASES; i++) all += g.phases[i] = run_phase_seconds(&f->run, i);
  for (int b = 0; b < FACES; b++) g.layer_cells += cells_of(&f->layer[b]) / f->run.work;
  g.layer_time = all > 0 ? (g.phases[PHASE_PML_U] + g.phases[PHASE_PML_P]) / all : 0;
  g.gcells = g.seconds > 0 ? 1e-9 * f->run.work * g.steps / g.seconds : 0;
  return g;
}

static void print_text(const fdtd* f, const figures* g, const counter counters[]) {
  printf("%.4f s, %.4f Gcell/s (10^9 cells and steps per second)\n", g->seconds, g->gcells);
  for (int i = 0; i < PHASES; i++)
    if (g->layer_cells > 0 || i == PHASE_U || i == PHASE_P) printf("  %-16s %10.4f s\n", phase_names[i], g->phases[i]);
  if (g->layer_cells > 0)
    printf("  absorbing layers: %.0f %% of the cells, %.0f %% of the updates' time\n", 100 * g->layer_cells,
           100 * g->layer_time);
  for (const counter* c = counters; c != NULL && c->name != NULL; c++)
    printf("  %-16s %12lld\n", c->name, (long long)c->value);
  if (f->verify)
    printf("%s: %s %.2g, limit %.0e\n", f->error <= f->limit ? "verified" : "WRONG",
           strcmp(f->start, "mode") == 0 ? "largest error" : "relative change of energy and mass", f->error, f->limit);
}

static void print_json(const fdtd* f, const figures* g, const counter counters[]) {
  printf(
      "{\"program\": \"%s\", \"size\": [%d, %d, %d], \"steps\": %d, \"ranks\": %d, \"threads\": %d, "
      "\"seconds\": %.9f, \"gcells\": %.6f, \"error\": ",
      f->team.program, f->size[0], f->size[1], f->size[2], g->steps, f->team.count, f->threads, g->seconds, g->gcells);
  if (f->verify) printf("%.17g", isfinite(f->error) ? f->error : 1e308);
  else printf("null");
  printf(", \"phases\": {");
  for (int i = 0; i < PHASES; i++) printf("%s\"%s\": %.9f", i > 0 ? ", " : "", phase_names[i], g->phases[i]);
  printf("}, \"checksum\": \"%016llx\", \"layer_cells\": %.6f, \"layer_time\": %.6f, \"counters\": {",
         (unsigned long long)g->checksum, g->layer_cells, g->layer_time);
  for (const counter* c = counters; c != NULL && c->name != NULL; c++)
    printf("%s\"%s\": %lld", c == counters ? "" : ", ", c->name, (long long)c->value);
  printf("}}\n");
}

int fdtd_finish(fdtd* f, const fields* a, const counter counters[]) {
  const bool stopped = f->run.stopped != 0;
  if (!stopped) fdtd_check(f, a);
  if (!stopped && f->folder != NULL) save_pressure(f, a);
  if (!stopped && f->probe_count > 0) save_probes(f);
  const figures g = figures_of(f, a);
  if (f->team.rank == 0 && !stopped) (f->json ? print_json : print_text)(f, &g, counters);
  char path[PATH_MAX];
  const int status = stopped ? run_end_stopped(&f->run, f->folder != NULL ? path_in(f, "checkpoint", path) : NULL) : 0;
  const double error = stopped ? 0 : f->error;
  team_agree(&f->team, error <= f->limit || !f->verify, TEAM_WRONG,
             "the answer is wrong: it is off by %.3g, limit %.0e", error, f->limit);
  team_leave(&f->team);
  for (int d = 0; d < 3; d++) free(f->keep_p[d]), free(f->add_p[d]), free(f->keep_u[d]), free(f->add_u[d]);
  for (size_t i = 0; i < sizeof f->private_memory / sizeof *f->private_memory; i++) free(f->private_memory[i]);
  free(f->record);
  free(f->wave);
  if (f->film_file >= 0) close(f->film_file);
  volume_close(&f->volume);
  return status;
}
