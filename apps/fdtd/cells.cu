/* The kernels: cell.h on devices of NVIDIA, with a thread for each cell. */
#include "cell.h"

struct position {
  int x, y, z;
  ptrdiff_t row; /* where its row begins */
};

static __device__ position here(const cells& c) {
  const int y = c.b.y0 + (int)blockIdx.y, z = c.b.z0 + (int)blockIdx.z;
  return {c.b.x0 + (int)(blockIdx.x * blockDim.x + threadIdx.x), y, z, z * c.plane + y * c.row};
}

static __device__ triple factors(const double* const of[3], const position& i) {
  return {of[0][i.x], of[1][i.y], of[2][i.z]};
}

/* The cell from which the second one of a row is mirrored: the one after the first, if this kernel changes it. */
static __device__ bool is_second(const cells& c, int x) {
  return c.b.x0 == PAD_X && x == (PAD_X + 1 < c.b.x1 ? PAD_X + 1 : PAD_X);
}

extern "C" __global__ void fdtd_u(cells c) {
  const position i = here(c);
  const int kind = c.kind[i.z * c.rows + i.y];
  if (i.x >= c.b.x1 || kind == ALL_SOLID) return;
  const ptrdiff_t at = i.row + i.x;
  const triple keep = factors(c.keep, i), add = factors(c.add, i);
  double *const ux = c.u[0] + at, *const uy = c.u[1] + at, *const uz = c.u[2] + at;
  if (kind == OPEN) cell_u(c.p + at, ux, uy, uz, c.solid + at, keep, add, c.row, c.plane, false);
  else cell_u(c.p + at, ux, uy, uz, c.solid + at, keep, add, c.row, c.plane, true);
  double* const row = c.u[0] + i.row;
  if (is_second(c, i.x)) row[PAD_X - 1] = -row[PAD_X + 1];
  if (i.x == c.end - 1) row[c.end + 1] = -row[c.end - 1];
}

template <bool walls>
static __device__ void new_p(const cells& c, const position& i) {
  const ptrdiff_t at = i.row + i.x;
  const double *const ux = c.u[0] + at, *const uy = c.u[1] + at, *const uz = c.u[2] + at;
  const unsigned char* const s = c.solid + at;
  if (c.layer.first == nullptr) {
    cell_p(c.p + at, ux, uy, uz, s, c.courant, c.row, c.plane, walls);
    return;
  }
  double* part[SPLIT];
  for (int k = 0; k < SPLIT; k++)
    part[k] = c.layer.first + split_at(&c.layer, i.z, k, i.y) + i.x - c.layer.cells.x0;
  cell_pml_p(c.p + at, part[0], part[1], part[2], ux, uy, uz, s, factors(c.keep, i), factors(c.add, i), c.row, c.plane,
             walls);
}

extern "C" __global__ void fdtd_p(cells c) {
  const position i = here(c);
  const int kind = c.kind[i.z * c.rows + i.y];
  if (i.x >= c.b.x1 || kind == ALL_SOLID) return;
  if (kind == OPEN) new_p<false>(c, i);
  else new_p<true>(c, i);
  double* const row = c.p + i.row;
  if (i.x == PAD_X) row[PAD_X - 1] = row[PAD_X];
  if (is_second(c, i.x)) row[PAD_X - 2] = row[PAD_X + 1];
  if (i.x == c.end - 1) row[c.end] = row[c.end - 1];
}

/* A thread for each row, in which cells follow one another. */
extern "C" __global__ void fdtd_source(cells c, all_layers layers, double more) {
  const int y = c.b.y0 + (int)(blockIdx.x * blockDim.x + threadIdx.x), z = c.b.z0 + (int)blockIdx.y;
  if (y >= c.b.y1) return;
  double* const row = c.p + z * c.plane + y * c.row;
  for (int x = c.b.x0; x < c.b.x1; x++) cell_source(row + x, layers.of, z, y, x, more);
  mirror_p(row, PAD_X, c.end, c.end);
}

/* A thread for each plane, which sums in the order of the processor. record: the number of plane 0. */
extern "C" __global__ void fdtd_probe(cells c, double* record, ptrdiff_t next) {
  const int z = c.b.z0 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (z >= c.b.z1) return;
  double sum = 0;
  for (int y = c.b.y0; y < c.b.y1; y++)
    for (int x = c.b.x0; x < c.b.x1; x++) sum += c.p[z * c.plane + y * c.row + x];
  record[z * next] = sum;
}
