/* part.h: what a kernel of block.cuh is called with, and how the kernels divide their work. For C, C++ and CUDA. */
#ifndef STENCIL27_PART_H
#define STENCIL27_PART_H

/* Planes of the box: point (z, y, x) lies at z * plane + y * row + x + shift of a field. Output is [z0, z1), each
 * thread block computes `chunk` planes. shift + 1 and row are multiples of 4. */
struct part {
  long plane;
  int row, shift;
  int nx, ny, nz;
  int z0, z1;
  int chunk; /* in the call of stencil27_kernel: parts of the same size that are computed at the same time */
};

/* of(depth, rows of a warp, warps of a block): the kernels, of which each computes `depth` steps. */
#define STENCIL27_KERNELS(of) of(1, 4, 8) of(2, 6, 8) of(3, 4, 8) of(4, 4, 8) of(5, 3, 8)
enum { STENCIL27_MOST_DEPTH = 5 };

/* A warp is as wide as the tile that a block computes: 32 threads with 2 points each. */
enum { PART_LANES = 32, PART_POINTS = 2, PART_STAGES = 3 };

/* Points that a tile writes along x and y; the margin in x is a multiple of a thread's points. */
#define PART_MARGIN(depth) (((depth) + 1) / 2 * 2)
#define PART_WIDTH(depth) (PART_LANES * PART_POINTS - 2 * PART_MARGIN(depth))
#define PART_HEIGHT(depth, rows, warps) ((rows) * (warps) - 2 * (depth))
/* Shared memory of a block in bytes: edges of patches in two buffers, and the planes that are being loaded. */
#define PART_SHARED(depth, rows, warps) (16 * PART_LANES * (warps) * (2 * 4 * (depth) + PART_STAGES * (rows)))

/* Returns the planes of a chunk: few enough that all multiprocessors have work, and enough that little is computed
 * twice. `beside` parts of the same size are computed at the same time. */
static inline int part_chunk(const struct part* part, int depth, int tiles, int beside, int multiprocessors) {
  const int planes = part->z1 - part->z0, most = 32;
  const double begin = 2.0 * depth + 3; /* in planes: the first steps, and the start of a block */
  int best = planes;
  double best_time = 1e300;
  for (int chunks = 1; chunks <= most && chunks <= planes; chunks++) {
    const int chunk = (planes + chunks - 1) / chunks;
    const double time =
        (double)(((long)tiles * chunks * beside + multiprocessors - 1) / multiprocessors) * (chunk + begin);
    if (time < best_time) best_time = time, best = chunk;
  }
  return best;
}

#endif
