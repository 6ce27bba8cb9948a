/* The loops over the cells of a rank, of which cell.h says what each does in a step. `walls` is constant where these
 * functions are inlined, so the loops over open rows have no conditions. */
#include "fdtd.h"

#define INLINED static inline __attribute__((always_inline))

/* Blocks of as many rows as have this size in a plane of one field: the planes that a row reads stay in the last cache
 * until the block is done. */
enum { BLOCK_Z = 64, BLOCK_BYTES = 384 * 1024 };

INLINED void row_u(const fdtd* f, const fields* a, int z, int y, int x0, int x1, const bool walls) {
  const ptrdiff_t at = fdtd_at(f, z, y, 0), row = f->row, plane = f->plane;
  const double* p = a->p + at;
  double* restrict ux = a->u[0] + at, * restrict uy = a->u[1] + at, * restrict uz = a->u[2] + at;
  const double *keep = f->keep_u[0], *add = f->add_u[0];
  const double keep_y = f->keep_u[1][y], add_y = f->add_u[1][y], keep_z = f->keep_u[2][z], add_z = f->add_u[2][z];
  const unsigned char* s = f->solid + at;
#pragma omp simd
  for (int x = x0; x < x1; x++)
    cell_u(p + x, ux + x, uy + x, uz + x, s + x, (triple){keep[x], keep_y, keep_z}, (triple){add[x], add_y, add_z}, row,
           plane, walls);
}

INLINED void row_p(const fdtd* f, const fields* a, int z, int y, int x0, int x1, const bool walls) {
  const ptrdiff_t at = fdtd_at(f, z, y, 0);
  double* restrict p = a->p + at;
  const double *ux = a->u[0] + at, *uy = a->u[1] + at, *uz = a->u[2] + at;
  const unsigned char* s = f->solid + at;
  const double courant = f->courant;
#pragma omp simd
  for (int x = x0; x < x1; x++) cell_p(p + x, ux + x, uy + x, uz + x, s + x, courant, f->row, f->plane, walls);
}

INLINED void row_pml_p(const fdtd* f, const fields* a, int layer, int z, int y, int x0, int x1, const bool walls) {
  const ptrdiff_t at = fdtd_at(f, z, y, 0);
  double* restrict p = a->p + at;
  const double *ux = a->u[0] + at, *uy = a->u[1] + at, *uz = a->u[2] + at;
  double* const split = a->split[layer] - f->layer[layer].x0;
  double* restrict px = split + split_row(f, layer, z, 0, y);
  double* restrict py = split + split_row(f, layer, z, 1, y);
  double* restrict pz = split + split_row(f, layer, z, 2, y);
  const unsigned char* s = f->solid + at;
  const double *keep = f->keep_p[0], *add = f->add_p[0];
  const double keep_y = f->keep_p[1][y], add_y = f->add_p[1][y], keep_z = f->keep_p[2][z], add_z = f->add_p[2][z];
#pragma omp simd
  for (int x = x0; x < x1; x++)
    cell_pml_p(p + x, px + x, py + x, pz + x, ux + x, uy + x, uz + x, s + x, (triple){keep[x], keep_y, keep_z},
               (triple){add[x], add_y, add_z}, f->row, f->plane, walls);
}

enum { ROW_U, ROW_P, ROW_PML_P };

INLINED void any_row(const fdtd* f, const fields* a, int what, int layer, const box* b, int z, int y, bool walls) {
  const int x0 = b->x0, x1 = b->x1, end = PAD_X + f->size[0];
  if (what == ROW_U) row_u(f, a, z, y, x0, x1, walls);
  if (what == ROW_P) row_p(f, a, z, y, x0, x1, walls);
  if (what == ROW_PML_P) row_pml_p(f, a, layer, z, y, x0, x1, walls);
  if (what == ROW_U) mirror_u(a->u[0] + fdtd_at(f, z, y, 0), x0, x1, end);
  else mirror_p(a->p + fdtd_at(f, z, y, 0), x0, x1, end);
}

INLINED void update_row(const fdtd* f, const fields* a, int what, int layer, const box* b, int z, int y) {
  const int kind = f->kind[z * f->rows + y];
  if (kind == OPEN) any_row(f, a, what, layer, b, z, y, false);
  if (kind == BESIDE_SOLID) any_row(f, a, what, layer, b, z, y, true);
}

INLINED void update(const fdtd* f, const fields* a, int what, int layer, const box* b, part r) {
  const int z0 = larger(r.z0, b->z0), z1 = smaller(r.z1, b->z1);
  const int y0 = larger(r.y0, b->y0), y1 = smaller(r.y1, b->y1);
  if (z0 >= z1 || y0 >= y1) return;
  const int share = (y1 - y0 + f->threads - 1) / f->threads;
  const int block = larger(smaller(BLOCK_BYTES / (f->row * (int)sizeof(double)), share), 1);
#pragma omp parallel for collapse(2) schedule(static, 1)
  for (int zb = z0; zb < z1; zb += BLOCK_Z)
    for (int yb = y0; yb < y1; yb += block)
      for (int z = zb; z < smaller(zb + BLOCK_Z, z1); z++)
        for (int y = yb; y < smaller(yb + block, y1); y++) update_row(f, a, what, layer, b, z, y);
}

void update_u(fdtd* f, const fields* a, part r) {
  const double start = team_now();
  for (int b = 0; b < FACES; b++)
    if (f->layers[b] > 0) update(f, a, ROW_U, b, &f->layer[b], r);
  const double middle = team_now();
  update(f, a, ROW_U, 0, &f->inner, r);
  f->run.phase[PHASE_PML_U] += middle - start;
  f->run.phase[PHASE_U] += team_now() - middle;
}

void update_p(fdtd* f, const fields* a, part r) {
  const double start = team_now();
  for (int b = 0; b < FACES; b++)
    if (f->layers[b] > 0) update(f, a, ROW_PML_P, b, &f->layer[b], r);
  const double middle = team_now();
  update(f, a, ROW_P, 0, &f->inner, r);
  f->run.phase[PHASE_PML_P] += middle - start;
  f->run.phase[PHASE_P] += team_now() - middle;
}
