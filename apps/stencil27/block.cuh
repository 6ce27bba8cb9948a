/* block.cuh: what a slab of the box is after D steps, on a device; block.c tells how the steps follow one another in z.
 *
 * A thread block computes a tile of x and y, and goes through the planes. A warp has PY rows of the tile, a thread PX
 * points of each of them: its patch. A thread keeps of each step the last three planes of its patch in registers. Sums
 * beside a patch in x come from the next lane; those beside it in y come from the warps before and after, through
 * shared memory. The steps before the last one reach further than what the tile writes; several blocks compute these
 * points. */
#ifndef STENCIL27_BLOCK_CUH
#define STENCIL27_BLOCK_CUH

#include <type_traits>

#include "part.h"
#include "update.h"

template <int D, int PY, int W>
struct tile {
  static constexpr int lanes = PART_LANES, PX = PART_POINTS, stages = PART_STAGES, threads = lanes * W;
  static constexpr int margin_x = PART_MARGIN(D), width = PART_WIDTH(D), height = PART_HEIGHT(D, PY, W);
  /* In shared memory a row of all threads has their points in pairs. */
  static constexpr int edges = 4 * threads, stage = PY * threads;
  static_assert(PX == 2 && stages == 3 && PART_SHARED(D, PY, W) == (2 * D * edges + stages * stage) * sizeof(double2));

  typedef double line[PX];
  typedef line patch[PY];

  /* What a thread knows of its place. */
  struct place {
    int x, y;                      /* of its first point */
    unsigned fixed_x, fixed_y;     /* bits: the point is on the boundary */
    unsigned written_x, written_y; /* bits: the tile writes it */
    int thread, warp;
  };

  static __device__ void put(double2* at, const line v) { *at = make_double2(v[0], v[1]); }
  static __device__ void get(const double2* at, line v) {
    const double2 d = *at;
    v[0] = d.x, v[1] = d.y;
  }

  static __device__ unsigned address(const void* shared_memory) {
    return (unsigned)__cvta_generic_to_shared(shared_memory);
  }

  static __device__ void copy(patch to, const patch from) {
#pragma unroll
    for (int y = 0; y < PY; y++)
#pragma unroll
      for (int x = 0; x < PX; x++) to[y][x] = from[y][x];
  }

  /* ---- a step ---------------------------------------------------------------------------------------------------- */

  /* One row of new points, from the rows of the plane and of sums over z: before, at and after it. */
  static __device__ void new_row(const line m_low, const line m, const line m_high, const line z_low, const line z,
                                 const line z_high, line out) {
    line middle, side;
#pragma unroll
    for (int x = 0; x < PX; x++) {
      const double m3[3] = {m_low[x], m[x], m_high[x]}, z3[3] = {z_low[x], z[x], z_high[x]};
      const double beside = BESIDE(m3, z3), across = ACROSS(z3);
      middle[x] = MIDDLE(m[x], beside, across);
      side[x] = SIDE(m[x], beside, across);
    }
    const double side_l = __shfl_up_sync(~0u, side[PX - 1], 1), side_r = __shfl_down_sync(~0u, side[0], 1);
#pragma unroll
    for (int x = 0; x < PX; x++)
      out[x] = NEW(middle[x], x > 0 ? side[x - 1] : side_l, x < PX - 1 ? side[x + 1] : side_r);
  }

  /* First half of a step: sums over z, and what the warps beside this one read of it. */
  static __device__ void begin(double2* buffer, const patch before, const patch now, const patch next, patch z) {
#pragma unroll
    for (int y = 0; y < PY; y++)
#pragma unroll
      for (int x = 0; x < PX; x++) z[y][x] = before[y][x] + next[y][x];
    put(buffer, now[0]);
    put(buffer + threads, z[0]);
    put(buffer + 2 * threads, now[PY - 1]);
    put(buffer + 3 * threads, z[PY - 1]);
  }

  /* Second half: the plane `now` after one more step. The first and the last warp have no neighbour; what they compute
   * at these ends is not used. */
  static __device__ void end(const double2* buffer, const place& at, const patch now, const patch z, patch out) {
    const double2 *const low = buffer - (at.warp > 0 ? lanes : 0), *const high = buffer + (at.warp < W - 1 ? lanes : 0);
    line now_low, z_low, now_high, z_high;
    get(low + 2 * threads, now_low);
    get(low + 3 * threads, z_low);
    get(high, now_high);
    get(high + threads, z_high);
#pragma unroll
    for (int y = 0; y < PY; y++)
      new_row(y > 0 ? now[y - 1] : now_low, now[y], y < PY - 1 ? now[y + 1] : now_high, y > 0 ? z[y - 1] : z_low, z[y],
              y < PY - 1 ? z[y + 1] : z_high, out[y]);
    if (at.fixed_x | at.fixed_y) {
#pragma unroll
      for (int y = 0; y < PY; y++)
#pragma unroll
        for (int x = 0; x < PX; x++)
          if ((at.fixed_x >> x | at.fixed_y >> y) & 1) out[y][x] = now[y][x];
    }
  }

  /* ---- planes ---------------------------------------------------------------------------------------------------- */

  /* The same number; what follows from it is computed again in each plane, and so needs no registers meanwhile. */
  static __device__ int forgotten(int number) {
    asm volatile("" : "+r"(number));
    return number;
  }

  /* Starts to load a plane; each thread loads its own patch. */
  static __device__ void load(const part& s, const place& at, const double* from, int z, double2* target) {
    const int x = min(max(at.x + s.shift, 0), s.row - PX), first = forgotten(at.y);
#pragma unroll
    for (int y = 0; y < PY; y++) {
      const double* const source = from + z * s.plane + (min(max(first + y, 0), s.ny + 1) * s.row + x);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(target + y * threads)), "l"(source));
    }
  }

  static __device__ void store(const part& s, const place& at, double* to, int z, const patch v) {
    double* const target = to + z * s.plane + (forgotten(at.y) * s.row + at.x + s.shift);
#pragma unroll
    for (int y = 0; y < PY; y++) {
      const bool here = at.written_y >> y & 1;
      if (here && at.written_x == 3) *(double2*)(target + y * s.row) = make_double2(v[y][0], v[y][1]);
      if (here && at.written_x == 1) target[y * s.row] = v[y][0];
    }
  }

  static __device__ place here(const part& s) {
    place at;
    at.thread = threadIdx.x, at.warp = at.thread / lanes;
    const int x_of_tile = at.thread % lanes * PX, y_of_tile = at.warp * PY;
    at.x = 1 + (int)blockIdx.x * width - margin_x + x_of_tile;
    at.y = 1 + (int)blockIdx.y * height - D + y_of_tile;
    at.fixed_x = at.fixed_y = at.written_x = at.written_y = 0;
    for (int i = 0; i < PX; i++) {
      const int x = at.x + i, of_tile = x_of_tile + i;
      at.fixed_x |= (unsigned)(x == 0 || x == s.nx + 1) << i;
      at.written_x |= (unsigned)(x >= 1 && x <= s.nx && of_tile >= margin_x && of_tile < margin_x + width) << i;
    }
    for (int i = 0; i < PY; i++) {
      const int y = at.y + i, of_tile = y_of_tile + i;
      at.fixed_y |= (unsigned)(y == 0 || y == s.ny + 1) << i;
      at.written_y |= (unsigned)(y >= 1 && y <= s.ny && of_tile >= D && of_tile < D + height) << i;
    }
    return at;
  }

  /* Plane `front` is read; step i + 1 makes plane front - 1 - 2 * i, from what step i has made before. So all steps are
   * independent of one another, and the block waits once. kept[i] are the last three planes that step i has made, the
   * oldest one first; ALL: no plane is outside of what the chunk needs, or on the boundary. */
  template <bool ALL>
  static __device__ void front(const part& s, const place& at, double* to, int front, int z0, int z1, double2* buffer,
                               const double2* loaded, patch (*kept)[3]) {
#pragma unroll
    for (int y = 0; y < PY; y++) get(loaded + y * threads, kept[0][2][y]);
#pragma unroll
    for (int i = 0; i < D; i++) begin(buffer + i * edges, kept[i][0], kept[i][1], kept[i][2], kept[i][0]);
    __syncthreads();
#pragma unroll
    for (int i = D - 1; i >= 0; i--) {
      const int z = front - 1 - 2 * i, wide = D - 1 - i;
      patch out;
      if (ALL || (z >= 1 && z <= s.nz)) {
        if (ALL || (z >= z0 - wide && z < z1 + wide)) end(buffer + i * edges, at, kept[i][1], kept[i][0], out);
      } else {
        copy(out, kept[i][1]);
      }
      copy(kept[i][0], kept[i][1]);
      copy(kept[i][1], kept[i][2]);
      if (i < D - 1) copy(kept[i + 1][2], out);
      else if (ALL || (z >= z0 && z < z1)) store(s, at, to, z, out);
    }
#pragma unroll
    for (int y = 0; y < PY; y++) get(loaded + y * threads, kept[0][1][y]); /* again: no registers in between */
  }

  static __device__ void run(const part& s, const double* from, double* to) {
    extern __shared__ double2 memory[];
    const place at = here(s);
    double2 *const buffers = memory + at.thread, *const loaded = memory + 2 * D * edges + at.thread;
    const int z0 = s.z0 + blockIdx.z * s.chunk, z1 = min(z0 + s.chunk, s.z1);
    const int first = max(z0 - D, 0), last = min(z1 + D, s.nz + 2); /* planes that are read */
    patch kept[D][3];
#pragma unroll
    for (int i = 0; i < stages - 1; i++) {
      if (first + i < last) load(s, at, from, first + i, loaded + i * stage);
      asm volatile("cp.async.commit_group;");
    }
    int turn = 0, slot = 0, z = first;
    const auto next = [&](auto all) {
      const int ahead = slot == 0 ? stages - 1 : slot - 1;
      if (z + stages - 1 < last) load(s, at, from, z + stages - 1, loaded + ahead * stage);
      asm volatile("cp.async.commit_group;");
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
      front<all.value>(s, at, to, z, z0, z1, buffers + turn, loaded + slot * stage, kept);
      turn = D * edges - turn, slot = slot == stages - 1 ? 0 : slot + 1, z++;
    };
    const int all_from = z0 + 2 * D - 1, all_to = min(z1 + D, s.nz + 2), end = z1 + 2 * D - 1;
    while (z < end) {
      /* Not unrolled: its instructions fit into the cache of a quarter of a multiprocessor. */
#pragma unroll 1
      while (z >= all_from && z < all_to) next(std::true_type());
      if (z < end) next(std::false_type());
    }
  }
};

#endif
