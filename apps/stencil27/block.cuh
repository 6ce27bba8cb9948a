/* block.cuh: what a slab of the box is after D steps, on a device; block.c tells how the steps follow one another in z.
 *
 * A thread block computes a tile of x and y, and goes through the planes. A warp has PY rows of the tile, a thread PX
 * points of each of them: its patch. A thread keeps of each step the last two planes of its patch in registers. Sums
 * beside a patch in x come from the next lane; those beside it in y come from the warps before and after, through
 * shared memory, while the warp computes its inner rows. A warp waits for these two warps only. The steps before the
 * last one reach further than what the tile writes; several blocks compute these points. */
#ifndef STENCIL27_BLOCK_CUH
#define STENCIL27_BLOCK_CUH

#include "part.h"
#include "update.h"

/* The first sleeps until the barrier changes. */
#if __CUDA_ARCH__ >= 900
#define WAIT "try_wait"
#else
#define WAIT "test_wait"
#endif

template <int D, int PY, int W>
struct tile {
  static constexpr int lanes = PART_LANES, PX = PART_POINTS, stages = PART_STAGES, threads = lanes * W;
  static constexpr int margin_x = PART_MARGIN(D), width = PART_WIDTH(D), height = PART_HEIGHT(D, PY, W);
  /* In shared memory a row of all threads has their points in pairs. */
  static constexpr int buffer = 4 * threads, stage = PY * threads;
  static_assert(PX == 2 && PART_SHARED(PY, W) == (2 * buffer + stages * stage) * sizeof(double2));

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

  /* ---- warps wait for those beside them ------------------------------------------------------------------------ */

  /* Barriers of warps, for even and odd numbers of the exchange: a warp may be one exchange ahead of its neighbours. */
  struct exchange {
    double2* rows;           /* two buffers */
    unsigned long long* all; /* barriers: two of each warp */
    int number;
    __device__ double2* at() const { return rows + (number & 1) * buffer; }
  };
  static __device__ unsigned address(const void* shared_memory) {
    return (unsigned)__cvta_generic_to_shared(shared_memory);
  }
  static __device__ void begin(const place& at, unsigned long long* all) {
    if (at.thread < 2 * W) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(all + at.thread)) : "memory");
    __syncthreads();
  }
  static __device__ void arrive(const place& at, const exchange& e) {
    __syncwarp();
    asm volatile(
        "{\n\t.reg .b64 t;\n\t.reg .pred first;\n\tsetp.eq.s32 first, %1, 0;\n\t"
        "@first mbarrier.arrive.shared.b64 t, [%0];\n\t}" ::"r"(address(e.all + 2 * at.warp + (e.number & 1))),
        "r"(at.thread % lanes)
        : "memory");
  }
  static __device__ void wait_for(int warp, const exchange& e) {
    asm volatile(
        "{\n\t.reg .pred p;\n"
        "again:\n\tmbarrier." WAIT ".parity.shared.b64 p, [%0], %1;\n\t@!p bra.uni again;\n\t}" ::"r"(
            address(e.all + 2 * warp + (e.number & 1))),
        "r"(e.number >> 1 & 1)
        : "memory");
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

  /* The plane `now` after one more step; before, now and next are planes of the step before. */
  static __device__ void step(exchange& e, const place& at, const patch before, const patch now, const patch next,
                              patch out) {
    patch z;
#pragma unroll
    for (int y = 0; y < PY; y++)
#pragma unroll
      for (int x = 0; x < PX; x++) z[y][x] = before[y][x] + next[y][x];
    double2* const own = e.at() + at.thread;
    put(own, now[0]);
    put(own + threads, z[0]);
    put(own + 2 * threads, now[PY - 1]);
    put(own + 3 * threads, z[PY - 1]);
    arrive(at, e);
#pragma unroll
    for (int y = 1; y < PY - 1; y++) new_row(now[y - 1], now[y], now[y + 1], z[y - 1], z[y], z[y + 1], out[y]);
    line now_low, z_low, now_high, z_high;
    /* The first and the last warp wait for themselves; what they compute at these ends is not used. */
    const int before_me = max(at.warp - 1, 0), after_me = min(at.warp + 1, W - 1);
    wait_for(before_me, e);
    const double2* const low = own + (before_me - at.warp) * lanes;
    get(low + 2 * threads, now_low);
    get(low + 3 * threads, z_low);
    new_row(now_low, now[0], now[1], z_low, z[0], z[1], out[0]);
    wait_for(after_me, e);
    const double2* const high = own + (after_me - at.warp) * lanes;
    get(high, now_high);
    get(high + threads, z_high);
    new_row(now[PY - 2], now[PY - 1], now_high, z[PY - 2], z[PY - 1], z_high, out[PY - 1]);
    e.number++;
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

  /* Plane `front` is read, and so plane front - 1 - i of step i + 1 follows. In `kept`, plane OLD of a step is older. */
  template <int OLD, bool ALL>
  static __device__ void front(const part& s, const place& at, double* to, int front, int z0, int z1, exchange& e,
                               const double2* loaded, patch (*kept)[2]) {
    patch next, out;
#pragma unroll
    for (int y = 0; y < PY; y++) get(loaded + y * threads, next[y]);
#pragma unroll
    for (int i = 0; i < D; i++) {
      const int z = front - 1 - i, wide = D - 1 - i;
      if (ALL) {
        step(e, at, kept[i][OLD], kept[i][1 - OLD], next, out);
      } else if (z >= 1 && z <= s.nz) {
        if (z >= z0 - wide && z < z1 + wide) step(e, at, kept[i][OLD], kept[i][1 - OLD], next, out);
      } else {
#pragma unroll
        for (int y = 0; y < PY; y++)
#pragma unroll
          for (int x = 0; x < PX; x++) out[y][x] = kept[i][1 - OLD][y][x];
      }
#pragma unroll
      for (int y = 0; y < PY; y++)
#pragma unroll
        for (int x = 0; x < PX; x++) kept[i][OLD][y][x] = next[y][x], next[y][x] = out[y][x];
    }
    if (ALL || (front - D >= z0 && front - D < z1)) store(s, at, to, front - D, next);
  }

  static __device__ void run(const part& s, const double* from, double* to) {
    extern __shared__ double2 memory[];
    __shared__ unsigned long long barriers[2 * W];
    const place at = here(s);
    begin(at, barriers);
    exchange e = {memory, barriers, 0};
    double2* const loaded = memory + 2 * buffer + at.thread;
    const int z0 = s.z0 + blockIdx.z * s.chunk, z1 = min(z0 + s.chunk, s.z1);
    const int first = max(z0 - D, 0), last = min(z1 + D, s.nz + 2); /* planes that are read */
    patch kept[D][2];
#pragma unroll
    for (int i = 0; i < stages - 1; i++) {
      if (first + i < last) load(s, at, from, first + i, loaded + i * stage);
      asm volatile("cp.async.commit_group;");
    }
    int slot = 0;
    for (int z = first; z < z1 + D; z += 2) {
#pragma unroll
      for (int odd = 0; odd < 2; odd++) {
        const int ahead = slot == 0 ? stages - 1 : slot - 1;
        if (z + odd + stages - 1 < last) load(s, at, from, z + odd + stages - 1, loaded + ahead * stage);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
        const double2* const here = loaded + slot * stage;
        if (z >= z0 + D && z + 1 < min(z1 + D, s.nz + 2)) {
          if (odd == 0) front<0, true>(s, at, to, z, z0, z1, e, here, kept);
          else front<1, true>(s, at, to, z + 1, z0, z1, e, here, kept);
        } else {
          if (odd == 0) front<0, false>(s, at, to, z, z0, z1, e, here, kept);
          else front<1, false>(s, at, to, z + 1, z0, z1, e, here, kept);
        }
        slot = slot == stages - 1 ? 0 : slot + 1;
      }
    }
  }
};

#endif
