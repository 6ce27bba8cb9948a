#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../common/memory.h"
#include "fdtd.h"
#include "geometry.h"

#define FIELD(name) offsetof(fdtd, name)

static const option options[] = {
    {"--size", "N or NX,NY,NZ", "cells in each direction, absorbing layers included (default 64, or as --solid)",
     OPTION_SIZE, FIELD(size)},
    {"--steps", "T", "time steps, counted from the start of the simulation (default 100)", OPTION_NUMBER, FIELD(steps)},
    {"--courant", "S", "c dt / h (default 0.45); stable up to 6 / (7 sqrt 3) = 0.494872", OPTION_REAL, FIELD(courant)},
    {"--spacing", "H", "edge of a cell in metres (default 0.01)", OPTION_REAL, FIELD(spacing)},
    {"--speed", "C", "of sound, in m/s (default 343)", OPTION_REAL, FIELD(speed)},
    {"--pml", "L", "cells of absorbing layer, inside the box: L or XL,XH,YL,YH,ZL,ZH (default 0: rigid walls)",
     OPTION_TEXT, FIELD(layers_text)},
    {"--pml-order", "M", "the absorption grows as depth to this power (default 3)", OPTION_REAL, FIELD(order)},
    {"--pml-r0", "R", "reflection that a layer is made for (default 1e-6)", OPTION_REAL, FIELD(reflection)},
    {"--solid", "FILE.npy", "rigid cells: an array of bytes or booleans [NZ][NY][NX], not 0 where solid", OPTION_TEXT,
     FIELD(solid_file)},
    {"--source", "CELLS", "cells whose pressure is driven: X,Y,Z or X:X2,Y:Y2,Z:Z2 as in numpy; may be given again",
     OPTION_TEXTS, FIELD(source_texts)},
    {"--pulse", "W", "sources: a Gaussian with a standard deviation of W steps (default 6); 0: 1 Pa at once",
     OPTION_COUNT, FIELD(pulse_width)},
    {"--wave", "FILE.npy", "sources: what is added to the pressure at each step, an array of doubles", OPTION_TEXT,
     FIELD(wave_file)},
    {"--probe", "CELLS", "record the mean pressure of these cells; may be given again", OPTION_TEXTS,
     FIELD(probe_texts)},
    {"--start", "S", "rest, noise, or mode: a standing wave (default without --source, --pml, --solid)", OPTION_TEXT,
     FIELD(start)},
    {"--seed", "K", "of the noise (default 1)", OPTION_COUNT, FIELD(seed)},
    {"--verify", NULL,
     "compare with the exact answer (mode) or the energy of the start (noise); exit status 1 if wrong", OPTION_FLAG,
     FIELD(verify)},
    {"--output", "DIR", "folder for results: pressure.npy, probes.csv, probe-N.wav, film.npy, checkpoint", OPTION_TEXT,
     FIELD(folder)},
    {"--volume", "K", "with --output: all cells every K steps in volume.h5; ParaView opens volume.xmf", OPTION_NUMBER,
     FIELD(snapshot)},
    {"--film", "K", "with --output: the plane y = NY/2 every K steps in film.npy", OPTION_NUMBER, FIELD(film)},
    {"--checkpoint", "K", "with --output: write DIR/checkpoint every K steps; Ctrl-C writes one, too", OPTION_NUMBER,
     FIELD(every)},
    RESTART_OPTION(fdtd),
    {"--depth", "BT",
     "steps that are done at once, while their fields are in the cache (default 4); 1: no space-time blocking",
     OPTION_NUMBER, FIELD(depth)},
#ifdef FDTD_DEVICES
    {"--devices", "K", "devices that each rank divides its planes among (default 1)", OPTION_NUMBER, FIELD(devices)},
#endif
    RUN_OPTIONS(fdtd),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const fdtd* f) {
  printf(
      "%s: sound in a box with rigid solids and absorbing layers: FDTD(2,4), in double precision\n\n"
      "  u_d -= S rise_d(p)      p -= S (rise_x(u_x) + rise_y(u_y) + rise_z(u_z))\n\n",
      f->team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  fdtd_seq --size 24 --steps 400 --verify                         a standing wave, exact to rounding\n"
      "  hirobarun -n 2 fdtd_smint --size 96 --pml 20 --source 48,48,48 --probe 60,48,48 --steps 300 --output out\n"
      "  hirobarun -n 4 --nodes 2 fdtd_sms --start noise --verify        2 virtual nodes\n"
      "  ./dev demo fdtd                                                 a Helmholtz resonator, with its spectrum\n"
      "Threads per rank: hirobarun --threads T, or the environment variable OMP_NUM_THREADS.\n");
}

static void check_options(const fdtd* f) {
  const team* team = &f->team;
  const double limit = 6 / (7 * sqrt(3));
  team_agree(team, f->courant > 0 && f->courant <= limit, TEAM_BAD_INPUT,
             "--courant %g is not in (0, %.6f]: above 6 / (7 sqrt 3) the shortest waves grow in every step", f->courant,
             limit);
  team_agree(team, f->spacing > 0 && f->speed > 0, TEAM_BAD_INPUT, "--spacing and --speed must be above 0");
  team_agree(team, f->reflection > 0 && f->reflection < 1, TEAM_BAD_INPUT, "--pml-r0 %g is not between 0 and 1",
             f->reflection);
  team_agree(team, f->order >= 0, TEAM_BAD_INPUT, "--pml-order %g is below 0", f->order);
  const bool wants_folder = f->every > 0 || f->film > 0 || f->snapshot > 0 || f->probe_texts[0] != NULL;
  team_agree(team, f->folder != NULL || !wants_folder, TEAM_BAD_INPUT,
             "--checkpoint, --film, --volume and --probe need --output DIR");
  if (f->snapshot > 0) volume_require(team, "--volume");
  team_agree(team, f->wave_file == NULL || f->source_texts[0] != NULL, TEAM_BAD_INPUT, "--wave needs --source");
  if (f->folder != NULL) files_check_folder(team, "--output", f->folder);
}

/* L, or six numbers. */
static void parse_layers(fdtd* f) {
  const char* text = f->layers_text;
  int count = 0;
  for (char* end; text != NULL && count < FACES; count++, text = end + 1) {
    const long n = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
    if (n < 0 || n > options_limit() || (*end != ',' && *end != '\0')) break;
    f->layers[count] = (int)n;
    if (*end == '\0') {
      text = end;
      count++;
      break;
    }
  }
  if (count == 1)
    for (int i = 1; i < FACES; i++) f->layers[i] = f->layers[0];
  const bool good = f->layers_text == NULL || ((count == 1 || count == FACES) && *text == '\0');
  team_agree(&f->team, good, TEAM_BAD_INPUT, "--pml '%s' is not L or XL,XH,YL,YH,ZL,ZH with whole numbers from 0",
             f->layers_text);
  for (int d = 0; d < 3; d++)
    team_agree(&f->team, f->layers[2 * d] < f->size[d] - f->layers[2 * d + 1], TEAM_BAD_INPUT,
               "layers of %d and %d cells leave nothing of the %d cells in %c; use a smaller --pml or a larger --size",
               f->layers[2 * d], f->layers[2 * d + 1], f->size[d], 'x' + d);
}

/* The inner box, and the layers: those of z whole, those of y between them, those of x between both. */
static void divide_box(fdtd* f) {
  const int* n = f->size;
  const box all = {PAD, PAD + n[2], PAD, PAD + n[1], PAD_X, PAD_X + n[0]};
  const int* l = f->layers;
  box in = all;
  in.x0 += l[0], in.x1 -= l[1], in.y0 += l[2], in.y1 -= l[3], in.z0 += l[4], in.z1 -= l[5];
  f->inner = in;
  f->layer[4] = (box){all.z0, in.z0, all.y0, all.y1, all.x0, all.x1};
  f->layer[5] = (box){in.z1, all.z1, all.y0, all.y1, all.x0, all.x1};
  f->layer[2] = (box){in.z0, in.z1, all.y0, in.y0, all.x0, all.x1};
  f->layer[3] = (box){in.z0, in.z1, in.y1, all.y1, all.x0, all.x1};
  f->layer[0] = (box){in.z0, in.z1, in.y0, in.y1, all.x0, in.x0};
  f->layer[1] = (box){in.z0, in.z1, in.y0, in.y1, in.x1, all.x1};
  for (int b = 0; b < FACES; b++) { /* planes of whole pages, rows of whole cache lines */
    f->split_width[b] = (larger(f->layer[b].x1 - f->layer[b].x0, 1) + 7) / 8 * 8;
    f->split_rows[b] = (larger(f->layer[b].y1 - f->layer[b].y0, 1) + 63) / 64 * 64;
  }
}

/* The factors of one step, for the absorption s at a depth in the layer; 1 and S outside. */
static void absorb(const fdtd* f, double depth, int layer, double* keep, double* add) {
  const double most = -(f->order + 1) * log(f->reflection) / (2 * layer) * f->courant; /* s dt at the wall */
  const double s = layer > 0 && depth > 0 ? most * pow(depth / layer, f->order) : 0;
  *keep = exp(-s);
  *add = s > 0 ? f->courant * -expm1(-s) / s : f->courant;
}

static void fill_factors(fdtd* f) {
  bool good = true;
  for (int d = 0; d < 3; d++) {
    const int n = f->size[d], pad = d == 0 ? PAD_X : PAD, low = f->layers[2 * d], high = f->layers[2 * d + 1];
    double** const tables[] = {&f->keep_p[d], &f->add_p[d], &f->keep_u[d], &f->add_u[d]};
    for (int i = 0; i < 4; i++) good = (*tables[i] = malloc(sizeof(double) * (size_t)(pad + n + PAD))) != NULL && good;
    for (int i = 0; good && i < pad + n + PAD; i++) {
      const double face = i - pad, centre = face + 0.5;
      const bool lower = face < n - face;
      const int layer = lower ? low : high;
      absorb(f, lower ? low - centre : centre - (n - high), layer, &f->keep_p[d][i], &f->add_p[d][i]);
      absorb(f, lower ? low - face : face - (n - high), layer, &f->keep_u[d][i], &f->add_u[d][i]);
    }
  }
  team_agree(&f->team, good, TEAM_BAD_INPUT, "no memory for the factors of the absorbing layers");
}

/* The planes of this rank, by the rule of sms_mapalloc: pieces of ceil(planes / ranks), so the last ones may be shorter
 * or empty. */
static void divide_planes(fdtd* f) {
  const int planes = f->size[2] + 2 * PAD, count = f->team.count;
  team_agree(&f->team, count <= planes, TEAM_BAD_INPUT,
             "%d ranks are more than the %d planes (NZ = %d and %d around them); use fewer ranks or a larger --size",
             count, planes, f->size[2], 2 * PAD);
  const int piece = (planes + count - 1) / count;
  f->first = smaller(f->team.rank * piece, planes);
  f->last = smaller(f->first + piece, planes);
  f->lo = larger(f->first, PAD);
  f->hi = larger(smaller(f->last, planes - PAD), f->lo);
}

/* Bytes that fields take in planes of this rank. */
static double bytes_of_rank(const fdtd* f) {
  double elements = 4.0 * (double)f->plane * (f->last - f->first);
  for (int b = 0; b < FACES; b++) {
    const box* l = &f->layer[b];
    const int planes = larger(0, smaller(l->z1, f->hi) - larger(l->z0, f->lo));
    elements += (double)SPLIT * planes * (l->y1 - l->y0) * f->split_width[b];
  }
  return elements * sizeof(double) + (double)f->plane * (f->last - f->first + 2 * HALO);
}

static void lay_out(fdtd* f) {
  const double cells = (double)f->size[0] * f->size[1] * f->size[2];
  for (int unit = 8; unit <= 64; unit *= 2) { /* whole cache lines a row, whole pages a plane, in the least memory */
    const int row = (PAD_X + f->size[0] + PAD + unit - 1) / unit * unit, others = PAGE_ELEMENTS / unit;
    const int rows = (f->size[1] + 2 * PAD + others - 1) / others * others;
    if (f->plane != 0 && (ptrdiff_t)rows * row >= f->plane) continue;
    f->row = row, f->rows = rows, f->plane = (ptrdiff_t)rows * row;
  }
  parse_layers(f);
  divide_box(f);
  divide_planes(f);
  memory_check(&f->team, bytes_of_rank(f), "this grid");
  fill_factors(f);
  f->run.work = cells;
  f->run.unit = "cell";
}

static void choose_start(fdtd* f) {
  const team* team = &f->team;
  bool layers = false;
  for (int i = 0; i < FACES; i++) layers = layers || f->layers[i] > 0;
  const bool closed = !layers && f->source_count == 0;
  if (f->start == NULL) f->start = closed && f->solid_file == NULL ? "mode" : "rest";
  const bool mode = strcmp(f->start, "mode") == 0, noise = strcmp(f->start, "noise") == 0;
  team_agree(team, mode || noise || strcmp(f->start, "rest") == 0, TEAM_BAD_INPUT,
             "--start '%s' is not rest, noise or mode", f->start);
  team_agree(team, !mode || f->solid_file == NULL, TEAM_BAD_INPUT,
             "--start mode is the standing wave of an empty box: leave out --solid");
  team_agree(team, mode || noise || f->source_count > 0, TEAM_BAD_INPUT,
             "nothing would sound: give a --source, or --start noise or mode");
  team_agree(team, !f->verify || (closed && (mode || noise)), TEAM_BAD_INPUT,
             "--verify knows the answer for --start mode and noise only, without --pml and --source");
}

static void describe(const fdtd* f) {
  const double bytes = team_sum(&f->team, bytes_of_rank(f));
  if (f->team.rank != 0 || f->json) return;
  printf("%s: %d x %d x %d cells of %g m, %.1f MiB, %d rank%s x %d thread%s, %d steps of %.4g us\n", f->team.program,
         f->size[0], f->size[1], f->size[2], f->spacing, bytes / 1048576, f->team.count, f->team.count == 1 ? "" : "s",
         f->threads, f->threads == 1 ? "" : "s", f->steps, 1e6 * f->courant * f->spacing / f->speed);
  fflush(stdout);
}

void fdtd_begin(fdtd* f, const char* program, team team, int argc, char** argv) {
  *f = (fdtd){.team = team,
              .steps = 100,
              .pulse_width = 6,
              .courant = 0.45,
              .spacing = 0.01,
              .speed = 343,
              .reflection = 1e-6,
              .order = 3,
              .seed = 1,
              .threads = 1,
              .depth = 4,
              .devices = 1,
              .film_file = -1};
  f->team.program = program;
#ifdef _OPENMP
  f->threads = omp_get_max_threads();
#endif
  options_read(&f->team, options, OPTIONS, f, argc, argv);
  if (f->help) {
    if (team.rank == 0) print_help(f);
    team_leave(&f->team);
    exit(0);
  }
  check_options(f);
  geometry_size(f);
  lay_out(f);
  geometry_read(f);
  geometry_places(f);
  choose_start(f);
  fdtd_open_restart(f);
  describe(f);
}

/* Memory for planes [first - halo, last + halo), and the address of plane 0 in it. */
static double* pages(fdtd* f, int number, int halo, ptrdiff_t plane) {
  const size_t planes = (size_t)(f->last - f->first + 2 * halo);
  double* const memory = memory_pages(planes * (size_t)plane * sizeof(double));
  team_agree(&f->team, memory != NULL, TEAM_BAD_INPUT, "no memory for the fields; use a smaller --size");
  f->private_memory[number] = memory;
  return memory - (f->first - halo) * plane;
}

fields fdtd_private_layers(fdtd* f) {
  fields a = {NULL};
  for (int b = 0; b < FACES; b++)
    if (f->layers[b] > 0) a.split[b] = pages(f, 4 + b, 0, split_plane(f, b));
  return a;
}

fields fdtd_private(fdtd* f, int halo) {
  fields a = fdtd_private_layers(f);
  a.p = pages(f, 0, halo, f->plane);
  for (int d = 0; d < 3; d++) a.u[d] = pages(f, 1 + d, halo, f->plane);
  return a;
}
