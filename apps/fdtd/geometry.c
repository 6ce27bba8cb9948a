#include "geometry.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char byte_kinds[] = "|u1 |b1 |i1";

void geometry_size(fdtd* f) {
  if (f->solid_file != NULL) {
    int64_t shape[3];
    off_t data;
    close(npy_open(&f->team, "--solid", f->solid_file, byte_kinds, shape, 3, &data));
    for (int d = 0; d < 3; d++) {
      const int64_t n = shape[2 - d];
      team_agree(&f->team, n >= 1 && n <= options_limit(), TEAM_BAD_INPUT, "--solid %s has %lld cells in %c",
                 f->solid_file, (long long)n, 'x' + d);
      team_agree(&f->team, f->size[0] == 0 || f->size[d] == n, TEAM_BAD_INPUT,
                 "--solid %s has %lld cells in %c, --size asks for %d; leave out --size", f->solid_file, (long long)n,
                 'x' + d, f->size[d]);
    }
    for (int d = 0; d < 3; d++) f->size[d] = (int)shape[2 - d];
  }
  if (f->size[0] == 0) f->size[0] = f->size[1] = f->size[2] = 64;
}

/* ---- solid cells ------------------------------------------------------------------------------------------------- */

static bool inside(const fdtd* f, int z, int y) {
  return z >= PAD && z < PAD + f->size[2] && y >= PAD && y < PAD + f->size[1];
}

static bool any(const fdtd* f, int z, int y, bool solid) {
  const unsigned char* row = f->solid + fdtd_at(f, z, y, PAD_X);
  return memchr(row, solid, (size_t)f->size[0]) != NULL;
}

/* OPEN rows have no solid cell in themselves or in the rows whose values their update reads. */
static unsigned char kind_of(const fdtd* f, int z, int y) {
  if (!any(f, z, y, false)) return ALL_SOLID;
  if (f->size[0] < 4) return BESIDE_SOLID; /* the mirror images of its ends would overlap */
  for (int k = -HALO; k <= HALO; k++)
    if (any(f, z + k, y, true) || any(f, z, y + k, true)) return BESIDE_SOLID;
  return OPEN;
}

/* Reads a row of the file; its bytes may be any but 0 where it is solid. Returns the number of solid cells. */
static bool read_row(const fdtd* f, int file, off_t data, int z, int y) {
  unsigned char* const row = f->solid + fdtd_at(f, z, y, PAD_X);
  const off_t at = ((off_t)(z - PAD) * f->size[1] + (y - PAD)) * f->size[0];
  if (!files_read(file, row, (size_t)f->size[0], data + at)) return false;
  for (int x = 0; x < f->size[0]; x++) row[x] = row[x] != 0;
  return true;
}

/* A sum over the solid cells of this rank, for restarts. */
static uint64_t own_sum(const fdtd* f) {
  uint64_t sum = 0;
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++)
      for (int x = PAD_X; x < PAD_X + f->size[0]; x++)
        if (f->solid[fdtd_at(f, z, y, x)])
          sum += (uint64_t)(fdtd_at(f, z, y, x) + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
  return sum;
}

void geometry_read(fdtd* f) {
  const int from = f->first - HALO, to = f->last + HALO, planes = to - from;
  unsigned char* solid = malloc((size_t)planes * (size_t)f->plane);
  unsigned char* kind = malloc((size_t)planes * (size_t)f->rows);
  f->private_memory[4 + FACES] = solid;
  f->private_memory[5 + FACES] = kind;
  team_agree(&f->team, solid != NULL && kind != NULL, TEAM_BAD_INPUT, "no memory for the solid cells");
  memset(solid, 1, (size_t)planes * (size_t)f->plane);
  f->solid = solid - from * f->plane;
  f->kind = kind - (ptrdiff_t)from * f->rows;

  int file = -1;
  off_t data = 0;
  int64_t shape[3];
  if (f->solid_file != NULL) file = npy_open(&f->team, "--solid", f->solid_file, byte_kinds, shape, 3, &data);
  bool good = true;
  for (int z = larger(from, PAD); z < smaller(to, PAD + f->size[2]); z++)
    for (int y = PAD; good && y < PAD + f->size[1]; y++) {
      if (file >= 0) good = read_row(f, file, data, z, y);
      else memset(f->solid + fdtd_at(f, z, y, PAD_X), 0, (size_t)f->size[0]);
    }
  team_agree(&f->team, good, TEAM_BAD_INPUT, "--solid %s is too short: %s", f->solid_file, strerror(errno));
  if (file >= 0) close(file);

  for (int z = f->lo; z < f->hi; z++)
    for (int y = 0; y < f->rows; y++) f->kind[z * f->rows + y] = inside(f, z, y) ? kind_of(f, z, y) : ALL_SOLID;
  f->geometry = team_sum_bits(&f->team, own_sum(f));
}

/* ---- sources and probes ------------------------------------------------------------------------------------------ */

/* "X,Y,Z", each a cell or FROM:TO. */
static bool parse_place(const char* text, int from[3], int to[3]) {
  for (int d = 0; d < 3; d++) {
    char* end;
    from[d] = (int)strtol(text, &end, 10);
    if (end == text) return false;
    to[d] = from[d] + 1;
    if (*end == ':') {
      text = end + 1;
      to[d] = (int)strtol(text, &end, 10);
      if (end == text) return false;
    }
    if (*end != (d < 2 ? ',' : '\0')) return false;
    text = end + 1;
  }
  return true;
}

/* The first solid cell of it in planes of this rank. */
static bool solid_cell(const fdtd* f, const box* b, int cell[3]) {
  for (int z = larger(b->z0, f->lo); z < smaller(b->z1, f->hi); z++)
    for (int y = b->y0; y < b->y1; y++)
      for (int x = b->x0; x < b->x1; x++)
        if (f->solid[fdtd_at(f, z, y, x)]) {
          cell[0] = x - PAD_X, cell[1] = y - PAD, cell[2] = z - PAD;
          return true;
        }
  return false;
}

static int read_places(fdtd* f, const char* option, const char* const texts[], place places[]) {
  int count = 0;
  for (; count < OPTION_LIST && texts[count] != NULL; count++) {
    const char* const text = texts[count];
    int from[3], to[3];
    team_agree(&f->team, parse_place(text, from, to), TEAM_BAD_INPUT,
               "%s '%s' is not X,Y,Z with whole numbers, each also FROM:TO", option, text);
    for (int d = 0; d < 3; d++)
      team_agree(&f->team, from[d] >= 0 && from[d] < to[d] && to[d] <= f->size[d], TEAM_BAD_INPUT,
                 "%s '%s' has no cells, or leaves the box, which has %c from 0 to %d", option, text, 'x' + d,
                 f->size[d] - 1);
    const box b = {from[2] + PAD, to[2] + PAD, from[1] + PAD, to[1] + PAD, from[0] + PAD_X, to[0] + PAD_X};
    int cell[3] = {0};
    const bool solid = solid_cell(f, &b, cell);
    team_agree(&f->team, !solid, TEAM_BAD_INPUT, "%s '%s' is inside a solid: at cell %d,%d,%d; sound is only outside",
               option, text, cell[0], cell[1], cell[2]);
    places[count] = (place){b, text};
  }
  return count;
}

static void read_wave(fdtd* f) {
  int64_t samples;
  off_t data;
  const int file = npy_open(&f->team, "--wave", f->wave_file, "<f8", &samples, 1, &data);
  const size_t wanted = (size_t)(samples < f->steps ? samples : f->steps);
  const bool good = samples >= 0 && files_read(file, f->wave, wanted * sizeof *f->wave, data);
  team_agree(&f->team, good, TEAM_BAD_INPUT, "--wave %s is too short: %s", f->wave_file, strerror(errno));
  close(file);
  for (size_t i = 0; i < wanted; i++)
    team_agree(&f->team, isfinite(f->wave[i]), TEAM_BAD_INPUT, "--wave %s has %g at [%zu]", f->wave_file, f->wave[i],
               i);
}

void geometry_places(fdtd* f) {
  f->source_count = read_places(f, "--source", f->source_texts, f->sources);
  f->probe_count = read_places(f, "--probe", f->probe_texts, f->probes);
  if (f->source_count == 0) return;
  f->wave = calloc((size_t)f->steps + 1, sizeof *f->wave);
  team_agree(&f->team, f->wave != NULL, TEAM_BAD_INPUT, "no memory for a wave of %d steps", f->steps);
  if (f->wave_file != NULL) {
    read_wave(f);
    return;
  }
  const double w = f->pulse_width;
  if (w == 0) f->wave[0] = 1;
  for (int t = 0; w > 0 && t < f->steps; t++) {
    const double from_peak = (t - 4 * w) / w; /* it begins with e^-8 of its peak */
    f->wave[t] = exp(-from_peak * from_peak / 2);
  }
}
