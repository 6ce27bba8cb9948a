/* Sound in a box by SMint directives: the version to read. Its three loops are those of a serial program; the directive
 * above each distributes it over the ranks and fetches what it reads of other nodes. A rank goes on with the next box
 * at once (nowait), because no box reads what another one writes. For space-time blocking order.c calls the loops with
 * planes of this rank only, those at its ends after a barrier. fdtd.h describes the arrays. */
#include <smint.h>

#include "fdtd.h"

/* u_d -= S rise_d(p), with the factors of the absorbing layers, which are 1 and S outside of them. */
static void update_u_in(const fdtd* f, const box* b, int rows, int row, double (*restrict ux)[rows][row],
                        double (*restrict uy)[rows][row], double (*restrict uz)[rows][row], double (*p)[rows][row]) {
  const int z0 = b->z0, z1 = b->z1, y0 = b->y0, y1 = b->y1, x0 = b->x0, x1 = b->x1, end = PAD_X + f->size[0];
  if (z0 >= z1 || y0 >= y1) return;
  const double *kx = f->keep_u[0], *ky = f->keep_u[1], *kz = f->keep_u[2];
  const double *ax = f->add_u[0], *ay = f->add_u[1], *az = f->add_u[2];
  const unsigned char *kind = f->kind, *solid = f->solid;
  const ptrdiff_t plane = f->plane;
#pragma SMint parallel for nowait
#pragma omp parallel for
  for (int z = z0; z < z1; z++)
    for (int y = y0; y < y1; y++) {
      const unsigned char* s = solid + z * plane + y * row;
      const double ky_y = ky[y], ay_y = ay[y], kz_z = kz[z], az_z = az[z];
      if (kind[z * rows + y] == ALL_SOLID) continue;
      if (kind[z * rows + y] == OPEN)
#pragma omp simd
        for (int x = x0; x < x1; x++) {
          ux[z][y][x] = kx[x] * ux[z][y][x] - ax[x] * rise(p[z][y][x - 2], p[z][y][x - 1], p[z][y][x], p[z][y][x + 1]);
          uy[z][y][x] = ky_y * uy[z][y][x] - ay_y * rise(p[z][y - 2][x], p[z][y - 1][x], p[z][y][x], p[z][y + 1][x]);
          uz[z][y][x] = kz_z * uz[z][y][x] - az_z * rise(p[z - 2][y][x], p[z - 1][y][x], p[z][y][x], p[z + 1][y][x]);
        }
      else
#pragma omp simd
        for (int x = x0; x < x1; x++) {
          const double in_x = rise_p(p[z][y][x - 2], p[z][y][x - 1], p[z][y][x], p[z][y][x + 1], s[x - 2], s[x + 1]);
          const double in_y =
              rise_p(p[z][y - 2][x], p[z][y - 1][x], p[z][y][x], p[z][y + 1][x], s[x - 2 * row], s[x + row]);
          const double in_z =
              rise_p(p[z - 2][y][x], p[z - 1][y][x], p[z][y][x], p[z + 1][y][x], s[x - 2 * plane], s[x + plane]);
          const double to_x = kx[x] * ux[z][y][x] - ax[x] * in_x;
          const double to_y = ky_y * uy[z][y][x] - ay_y * in_y;
          const double to_z = kz_z * uz[z][y][x] - az_z * in_z;
          ux[z][y][x] = s[x] | s[x - 1] ? 0 : to_x;
          uy[z][y][x] = s[x] | s[x - row] ? 0 : to_y;
          uz[z][y][x] = s[x] | s[x - plane] ? 0 : to_z;
        }
      if (x0 == PAD_X) ux[z][y][PAD_X - 1] = -ux[z][y][PAD_X + 1];
      if (x1 == end) ux[z][y][x1 + 1] = -ux[z][y][x1 - 1];
    }
}

/* The rises of u_x, u_y, u_z in cell (z, y, x), as text, so that hirobacc sees which elements they read. */
#define RISE_X rise(ux[z][y][x - 1], ux[z][y][x], ux[z][y][x + 1], ux[z][y][x + 2])
#define RISE_Y rise(uy[z][y - 1][x], uy[z][y][x], uy[z][y + 1][x], uy[z][y + 2][x])
#define RISE_Z rise(uz[z - 1][y][x], uz[z][y][x], uz[z + 1][y][x], uz[z + 2][y][x])
#define WALLS_X rise_u(ux[z][y][x - 1], ux[z][y][x], ux[z][y][x + 1], ux[z][y][x + 2], s[x - 1], s[x + 1])
#define WALLS_Y rise_u(uy[z][y - 1][x], uy[z][y][x], uy[z][y + 1][x], uy[z][y + 2][x], s[x - row], s[x + row])
#define WALLS_Z rise_u(uz[z - 1][y][x], uz[z][y][x], uz[z + 1][y][x], uz[z + 2][y][x], s[x - plane], s[x + plane])

/* p -= S (rise_x(u_x) + rise_y(u_y) + rise_z(u_z)) */
static void update_p_in(const fdtd* f, const box* b, int rows, int row, double (*restrict p)[rows][row],
                        double (*ux)[rows][row], double (*uy)[rows][row], double (*uz)[rows][row]) {
  const int z0 = b->z0, z1 = b->z1, y0 = b->y0, y1 = b->y1, x0 = b->x0, x1 = b->x1, end = PAD_X + f->size[0];
  if (z0 >= z1 || y0 >= y1) return;
  const unsigned char *kind = f->kind, *solid = f->solid;
  const ptrdiff_t plane = f->plane;
  const double courant = f->courant;
#pragma SMint parallel for nowait
#pragma omp parallel for
  for (int z = z0; z < z1; z++)
    for (int y = y0; y < y1; y++) {
      const unsigned char* s = solid + z * plane + y * row;
      if (kind[z * rows + y] == ALL_SOLID) continue;
      if (kind[z * rows + y] == OPEN)
#pragma omp simd
        for (int x = x0; x < x1; x++) p[z][y][x] -= courant * (RISE_X + RISE_Y + RISE_Z);
      else
#pragma omp simd
        for (int x = x0; x < x1; x++) {
          const double to = p[z][y][x] - courant * (WALLS_X + WALLS_Y + WALLS_Z);
          p[z][y][x] = s[x] ? 0 : to;
        }
      if (x0 == PAD_X) {
        p[z][y][PAD_X - 1] = p[z][y][PAD_X];
        p[z][y][PAD_X - 2] = p[z][y][PAD_X + 1];
      }
      if (x1 == end) p[z][y][x1] = p[z][y][x1 - 1];
    }
}

/* The same in absorbing layer b, where p is the sum of three parts q, one for each direction. */
static void update_pml_p_in(const fdtd* f, int layer, const box* b, int rows, int row, int q_rows, int q_row,
                            double (*restrict q)[SPLIT][q_rows][q_row], double (*restrict p)[rows][row],
                            double (*ux)[rows][row], double (*uy)[rows][row], double (*uz)[rows][row]) {
  const int first_y = f->layer[layer].y0;
  const int z0 = b->z0, z1 = b->z1, y0 = b->y0, y1 = b->y1, x0 = b->x0, x1 = b->x1, end = PAD_X + f->size[0];
  if (z0 >= z1 || y0 >= y1) return;
  const double *kx = f->keep_p[0], *ky = f->keep_p[1], *kz = f->keep_p[2];
  const double *ax = f->add_p[0], *ay = f->add_p[1], *az = f->add_p[2];
  const unsigned char *kind = f->kind, *solid = f->solid;
  const ptrdiff_t plane = f->plane;
#pragma SMint parallel for nowait
#pragma omp parallel for
  for (int z = z0; z < z1; z++)
    for (int y = y0; y < y1; y++) {
      const unsigned char* s = solid + z * plane + y * row;
      const double ky_y = ky[y], ay_y = ay[y], kz_z = kz[z], az_z = az[z];
      if (kind[z * rows + y] == ALL_SOLID) continue;
      if (kind[z * rows + y] == OPEN)
#pragma omp simd
        for (int x = x0; x < x1; x++) {
          q[z][0][y - first_y][x - x0] = kx[x] * q[z][0][y - first_y][x - x0] - ax[x] * RISE_X;
          q[z][1][y - first_y][x - x0] = ky_y * q[z][1][y - first_y][x - x0] - ay_y * RISE_Y;
          q[z][2][y - first_y][x - x0] = kz_z * q[z][2][y - first_y][x - x0] - az_z * RISE_Z;
          p[z][y][x] = q[z][0][y - first_y][x - x0] + q[z][1][y - first_y][x - x0] + q[z][2][y - first_y][x - x0];
        }
      else
#pragma omp simd
        for (int x = x0; x < x1; x++) {
          const double to_x = kx[x] * q[z][0][y - first_y][x - x0] - ax[x] * WALLS_X;
          const double to_y = ky_y * q[z][1][y - first_y][x - x0] - ay_y * WALLS_Y;
          const double to_z = kz_z * q[z][2][y - first_y][x - x0] - az_z * WALLS_Z;
          q[z][0][y - first_y][x - x0] = s[x] ? 0 : to_x;
          q[z][1][y - first_y][x - x0] = s[x] ? 0 : to_y;
          q[z][2][y - first_y][x - x0] = s[x] ? 0 : to_z;
          p[z][y][x] = q[z][0][y - first_y][x - x0] + q[z][1][y - first_y][x - x0] + q[z][2][y - first_y][x - x0];
        }
      if (x0 == PAD_X) {
        p[z][y][PAD_X - 1] = p[z][y][PAD_X];
        p[z][y][PAD_X - 2] = p[z][y][PAD_X + 1];
      }
      if (x1 == end) p[z][y][x1] = p[z][y][x1 - 1];
    }
}

static double* shared_field(int planes, int rows, int row) {
#pragma SMint shared ::[planes : NPROCS][rows : ][row : ](0, NPROCS)
  double(*field)[rows][row] = NULL;
  return &field[0][0][0];
}

static double* shared_parts(int planes, int rows, int row) {
#pragma SMint shared ::[planes : NPROCS][SPLIT : ][rows : ][row : ](0, NPROCS)
  double(*parts)[SPLIT][rows][row] = NULL;
  return &parts[0][0][0][0];
}

/* What a box and a part have in common. */
static box common(const box* b, part r) {
  return (box){larger(b->z0, r.z0), smaller(b->z1, r.z1), larger(b->y0, r.y0), smaller(b->y1, r.y1), b->x0, b->x1};
}

void update_u(fdtd* f, const fields* a, part r) {
  const int rows = f->rows, row = f->row;
  double(*p)[rows][row] = (double(*)[rows][row])a->p, (*ux)[rows][row] = (double(*)[rows][row])a->u[0];
  double(*uy)[rows][row] = (double(*)[rows][row])a->u[1], (*uz)[rows][row] = (double(*)[rows][row])a->u[2];
  const double start = team_now();
  for (int b = 0; b < FACES; b++) {
    const box layer = common(&f->layer[b], r);
    if (f->layers[b] > 0) update_u_in(f, &layer, rows, row, ux, uy, uz, p);
  }
  const double middle = team_now();
  const box inner = common(&f->inner, r);
  update_u_in(f, &inner, rows, row, ux, uy, uz, p);
  f->run.phase[PHASE_PML_U] += middle - start;
  f->run.phase[PHASE_U] += team_now() - middle;
}

void update_p(fdtd* f, const fields* a, part r) {
  const int rows = f->rows, row = f->row;
  double(*p)[rows][row] = (double(*)[rows][row])a->p, (*ux)[rows][row] = (double(*)[rows][row])a->u[0];
  double(*uy)[rows][row] = (double(*)[rows][row])a->u[1], (*uz)[rows][row] = (double(*)[rows][row])a->u[2];
  const double start = team_now();
  for (int b = 0; b < FACES; b++)
    if (f->layers[b] > 0) {
      const int q_rows = f->split_rows[b], q_row = f->split_width[b];
      double(*q)[SPLIT][q_rows][q_row] = (double(*)[SPLIT][q_rows][q_row])a->split[b];
      const box layer = common(&f->layer[b], r);
      update_pml_p_in(f, b, &layer, rows, row, q_rows, q_row, q, p, ux, uy, uz);
    }
  const double middle = team_now();
  const box inner = common(&f->inner, r);
  update_p_in(f, &inner, rows, row, p, ux, uy, uz);
  f->run.phase[PHASE_PML_P] += middle - start;
  f->run.phase[PHASE_P] += team_now() - middle;
}

static double max_over_ranks(double mine) { return sms_reduce_double(mine, SMS_MAX); }

static double sum_over_ranks(double mine) { return sms_reduce_double(mine, SMS_SUM); }

int main(int argc, char** argv) {
  fdtd f;
  const team team = {MYPID, NPROCS, max_over_ranks, sum_over_ranks, NULL, NULL};
  fdtd_begin(&f, "fdtd_smint", team, argc, argv);

  const int planes = f.size[2] + 2 * PAD;
  fields a = {.p = shared_field(planes, f.rows, f.row)};
  for (int d = 0; d < 3; d++) a.u[d] = shared_field(planes, f.rows, f.row);
  for (int b = 0; b < FACES; b++)
    if (f.layers[b] > 0) a.split[b] = shared_parts(planes, f.split_rows[b], f.split_width[b]);
  fdtd_fill(&f, &a);
#pragma SMint barrier
  fdtd_check_begin(&f, &a);

  fdtd_start(&f);
  bool more = true;
  for (int step = f.step + 1, depth; step <= f.steps && more; step += depth) {
    depth = fdtd_depth(&f, step);
    for (int k = 0; k < depth; k++) {
      update_u_ends(&f, &a, k);
#pragma SMint barrier
      if (k == 0) update_bands(&f, &a, step, depth);
      update_p_ends(&f, &a, step, k);
#pragma SMint barrier
    }
    more = fdtd_step(&f, step + depth - 1, &a);
  }
  run_stop(&f.run);
  return fdtd_finish(&f, &a, NULL);
}
