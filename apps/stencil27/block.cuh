/* block.cuh: what a slab of the box is after some steps, on a device; block.c tells how the steps follow one another.
 *
 * A thread block computes a tile of x and y, and goes through the planes. A thread has a patch of PX x PY points of the
 * tile, and keeps of each step the last two planes of its patch in registers. LX lanes side by side make the whole
 * width of the tile, so that sums beside a patch in x come from another lane; sums beside it in y come through shared
 * memory. The steps before the last one reach further than what the tile writes; several blocks compute these points. */
#ifndef STENCIL27_BLOCK_CUH
#define STENCIL27_BLOCK_CUH

#include "update.h"

/* A slab: point (z, y, x) of the box lies at z * plane + y * row + x + shift of a field. Output is [z0, z1), in chunks
 * of `chunk` planes. shift + 1 and row are multiples of 4. */
struct slab {
  long plane;
  int row, shift;
  int nx, ny, nz;
  int z0, z1, chunk;
};

template <int D, int PX, int PY, int LX, int W, int C = 1>
struct tile {
  static constexpr int groups = W * 32 / LX; /* rows of patches */
  static constexpr int margin_x = (D + PX - 1) / PX * PX;
  static constexpr int width = LX * PX - 2 * margin_x, height = C * groups * PY - 2 * D; /* what is written */
  static constexpr int threads = 32 * W, pairs = PX / 2, stages = 3;
  static constexpr int sides = LX == 32 ? 2 : 1; /* of a patch that go through shared memory */
  /* Shared memory, in pairs of doubles: edges of patches, in two buffers; planes that are being loaded. */
  static constexpr int slots = threads + 64; /* of this block, and of those before and after */
  static constexpr int edge = slots * 2 * pairs, edges = edge * sides, stage = threads * PY * pairs;
  static constexpr int shared = (2 * edges + stages * stage) * (int)sizeof(double2);

  typedef double patch[PY][PX];
  typedef double line[PX];

  /* What a thread knows of its place. */
  struct place {
    int x, y;          /* of its first point */
    unsigned inside_x; /* bits: the point is not on the boundary, nor outside */
    unsigned inside_y;
    int thread, lane, upper; /* upper: the second row of a warp with two */
  };

  static __device__ void put(double2* at, const line v) {
#pragma unroll
    for (int p = 0; p < pairs; p++) at[p * slots] = make_double2(v[2 * p], v[2 * p + 1]);
  }
  static __device__ void put_there(double2* at, unsigned rank, const line v) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(at)), "r"(rank));
#pragma unroll
    for (int p = 0; p < pairs; p++)
      asm volatile("st.shared::cluster.v2.f64 [%0], {%1, %2};" ::"r"(there + p * slots * 16), "d"(v[2 * p]),
                   "d"(v[2 * p + 1]) : "memory");
  }
  static __device__ void barrier() {
    if constexpr (C == 1) __syncthreads();
    else asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  template <int stride = slots>
  static __device__ void get(const double2* at, line v) {
#pragma unroll
    for (int p = 0; p < pairs; p++) {
      const double2 d = at[p * stride];
      v[2 * p] = d.x, v[2 * p + 1] = d.y;
    }
  }

  /* Exchanges the rows beside a patch: `low` and `high` become the rows before and after v. First half of it: send. */
  static __device__ void send(double2* buffer, const place& at, const patch v) {
    const int own = at.thread + 32;
    const unsigned rank = blockIdx.y % C;
    const bool first = C > 1 && at.thread < 32 && rank > 0, last = C > 1 && at.thread >= threads - 32 && rank < C - 1;
    if constexpr (LX == 32) {
      put(buffer + own, v[0]);
      put(buffer + edge + own, v[PY - 1]);
      if (first) put_there(buffer + threads + own, rank - 1, v[0]);
      if (last) put_there(buffer + edge + own - threads, rank + 1, v[PY - 1]);
    } else {
      line outer;
#pragma unroll
      for (int i = 0; i < PX; i++) outer[i] = at.upper ? v[PY - 1][i] : v[0][i];
      put(buffer + own, outer);
      if (first && !at.upper) put_there(buffer + threads + own, rank - 1, outer);
      if (last && at.upper) put_there(buffer + own - threads, rank + 1, outer);
    }
  }
  static __device__ void receive(const double2* buffer, const place& at, const patch v, line low, line high) {
    const int before = at.thread, after = at.thread + 64;
    if constexpr (LX == 32) {
      get(buffer + edge + before, low);
      get(buffer + after, high);
    } else {
      line outer;
      get(buffer + ((at.upper ? after : before) ^ 16), outer);
#pragma unroll
      for (int i = 0; i < PX; i++) {
        const double inner = __shfl_xor_sync(~0u, at.upper ? v[0][i] : v[PY - 1][i], 16);
        low[i] = at.upper ? inner : outer[i];
        high[i] = at.upper ? outer[i] : inner;
      }
    }
  }

  /* The plane of `now` after one more step; before, now and next are planes of the step before. */
  static __device__ void step(double2* buffer, const place& at, const patch before, const patch now, const patch next,
                              bool inside_z, patch out) {
    patch z;
#pragma unroll
    for (int y = 0; y < PY; y++)
#pragma unroll
      for (int x = 0; x < PX; x++) z[y][x] = before[y][x] + next[y][x];
    send(buffer, at, now);
    send(buffer + slots * pairs, at, z);
    barrier();
    line now_low, now_high, z_low, z_high;
    receive(buffer, at, now, now_low, now_high);
    receive(buffer + slots * pairs, at, z, z_low, z_high);
#pragma unroll
    for (int y = 0; y < PY; y++) {
      line beside, across;
#pragma unroll
      for (int x = 0; x < PX; x++) {
        const double m3[3] = {y > 0 ? now[y - 1][x] : now_low[x], now[y][x], y < PY - 1 ? now[y + 1][x] : now_high[x]};
        const double z3[3] = {y > 0 ? z[y - 1][x] : z_low[x], z[y][x], y < PY - 1 ? z[y + 1][x] : z_high[x]};
        beside[x] = BESIDE(m3, z3);
        across[x] = ACROSS(z3);
      }
      const double m_l = __shfl_up_sync(~0u, now[y][PX - 1], 1, LX), m_r = __shfl_down_sync(~0u, now[y][0], 1, LX);
      const double b_l = __shfl_up_sync(~0u, beside[PX - 1], 1, LX), b_r = __shfl_down_sync(~0u, beside[0], 1, LX);
      const double a_l = __shfl_up_sync(~0u, across[PX - 1], 1, LX), a_r = __shfl_down_sync(~0u, across[0], 1, LX);
#pragma unroll
      for (int x = 0; x < PX; x++) {
        const double v =
            NEW(now[y][x], x > 0 ? now[y][x - 1] : m_l, x < PX - 1 ? now[y][x + 1] : m_r, beside[x],
                x > 0 ? beside[x - 1] : b_l, x < PX - 1 ? beside[x + 1] : b_r, across[x],
                x > 0 ? across[x - 1] : a_l, x < PX - 1 ? across[x + 1] : a_r);
        const bool inside = inside_z && (at.inside_x >> x & 1) && (at.inside_y >> y & 1);
        out[y][x] = inside ? v : now[y][x];
      }
    }
  }

  /* Starts to load a plane; each thread loads its own patch. */
  static __device__ void load(const slab& s, const place& at, const double* from, int z, double2* stage_at) {
    const int x = min(max(at.x + s.shift, 0), s.row - PX);
#pragma unroll
    for (int y = 0; y < PY; y++) {
      const double* source = from + z * s.plane + min(max(at.y + y, 0), s.ny + 1) * (long)s.row + x;
#pragma unroll
      for (int p = 0; p < pairs; p++) {
        const unsigned target = (unsigned)__cvta_generic_to_shared(stage_at + (y * pairs + p) * threads + at.thread);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source + 2 * p));
      }
    }
  }

  static __device__ void store(const slab& s, const place& at, double* to, int z, const patch v) {
#pragma unroll
    for (int y = 0; y < PY; y++) {
      if (!(at.inside_y >> (16 + y) & 1)) continue;
      double* target = to + z * s.plane + (at.y + y) * (long)s.row + at.x + s.shift;
      if (at.inside_x >> 16 == (1u << PX) - 1) {
#pragma unroll
        for (int p = 0; p < pairs; p++) ((double2*)target)[p] = make_double2(v[y][2 * p], v[y][2 * p + 1]);
      } else {
#pragma unroll
        for (int x = 0; x < PX; x++)
          if (at.inside_x >> (16 + x) & 1) target[x] = v[y][x];
      }
    }
  }

  static __device__ place here(const slab& s) {
    place at;
    at.thread = threadIdx.x, at.lane = at.thread % LX, at.upper = at.thread / LX % 2;
    const int group = at.thread / LX, x_of_tile = at.lane * PX, y_of_tile = (blockIdx.y % C * groups + group) * PY;
    at.x = 1 + (int)blockIdx.x * width - margin_x + x_of_tile;
    at.y = 1 + (int)(blockIdx.y / C) * height - D + y_of_tile;
    at.inside_x = at.inside_y = 0;
    for (int x = 0; x < PX; x++) {
      const bool inside = at.x + x >= 1 && at.x + x <= s.nx;
      const bool written = inside && x_of_tile >= margin_x && x_of_tile < margin_x + width;
      at.inside_x |= (unsigned)inside << x | (unsigned)written << (16 + x);
    }
    for (int y = 0; y < PY; y++) {
      const bool inside = at.y + y >= 1 && at.y + y <= s.ny;
      const bool written = inside && y_of_tile + y >= D && y_of_tile + y < D + height;
      at.inside_y |= (unsigned)inside << y | (unsigned)written << (16 + y);
    }
    return at;
  }

  /* Plane `front` is read, and so plane front - 1 - i of step i + 1 follows. In `kept`, plane OLD of a step is older. */
  template <int OLD>
  static __device__ void front(const slab& s, const place& at, double* to, int front, int z0, int z1, double2* buffers,
                               int& turn, const double2* stage_at, patch (*kept)[2]) {
    patch next, out;
#pragma unroll
    for (int y = 0; y < PY; y++) get<threads>(stage_at + y * pairs * threads + at.thread, next[y]);
#pragma unroll
    for (int i = 0; i < D; i++) {
      const int z = front - 1 - i, wide = D - 1 - i;
      if (z >= z0 - wide && z < z1 + wide) {
        step(buffers + turn, at, kept[i][OLD], kept[i][1 - OLD], next, z >= 1 && z <= s.nz, out);
        turn = edges - turn; /* a barrier is between two uses of a buffer */
      }
#pragma unroll
      for (int y = 0; y < PY; y++)
#pragma unroll
        for (int x = 0; x < PX; x++) kept[i][OLD][y][x] = next[y][x], next[y][x] = out[y][x];
    }
    if (front - D >= z0 && front - D < z1) store(s, at, to, front - D, next);
  }

  static __device__ void run(const slab& s, const double* from, double* to) {
    extern __shared__ double2 memory[];
    double2* const stages_at = memory + 2 * edges;
    const place at = here(s);
    const int z0 = s.z0 + blockIdx.z * s.chunk, z1 = min(z0 + s.chunk, s.z1);
    const int first = max(z0 - D, 0), last = min(z1 + D, s.nz + 2); /* planes that are read */
    if constexpr (C > 1) barrier(); /* all blocks of the cluster have begun */
    patch kept[D][2];
#pragma unroll
    for (int i = 0; i < stages - 1; i++) {
      if (first + i < last) load(s, at, from, first + i, stages_at + i * stage);
      asm volatile("cp.async.commit_group;");
    }
    int slot = 0, turn = 0;
    for (int z = first; z < z1 + D; z += 2) {
#pragma unroll
      for (int odd = 0; odd < 2; odd++) {
        const int ahead = slot == 0 ? stages - 1 : slot - 1;
        if (z + odd + stages - 1 < last) load(s, at, from, z + odd + stages - 1, stages_at + ahead * stage);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
        if (odd == 0) front<0>(s, at, to, z, z0, z1, memory, turn, stages_at + slot * stage, kept);
        else front<1>(s, at, to, z + 1, z0, z1, memory, turn, stages_at + slot * stage, kept);
        slot = slot == stages - 1 ? 0 : slot + 1;
      }
    }
    if constexpr (C > 1) barrier(); /* no block ends while others write into its shared memory */
  }
};

template <int D, int PX, int PY, int LX, int W, int C = 1>
__global__ void __cluster_dims__(1, C, 1) __launch_bounds__(32 * W, 1)
    advance(slab s, const double* __restrict__ from, double* __restrict__ to) {
  tile<D, PX, PY, LX, W, C>::run(s, from, to);
}

#endif
