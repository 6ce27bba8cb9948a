/* The rival on one device of NVIDIA: the kernels of block.cuh in a program of its own, by CUDA's runtime alone.
 *
 *   stencil27_cuda N STEPS DEPTH SLABS     N^3 points; the sine mode, whose decay is checked; one line of JSON, with
 *                                          the speed at which the device copies its memory: GB that it reads and writes
 *                                          in a second */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "block.cuh"

#define CHECK(call)                                           \
  if (const cudaError_t error = (call); error != cudaSuccess) \
  exit((fprintf(stderr, "stencil27_cuda: line %d: %s\n", __LINE__, cudaGetErrorString(error)), EXIT_FAILURE))

template <int D, int PY, int W>
__global__ void __launch_bounds__(PART_LANES* W, 1)
    advance(part s, const double* __restrict__ from, double* __restrict__ to) {
  tile<D, PY, W>::run(s, from, to);
}

struct kernel {
  void (*run)(part, const double*, double*);
  int width, height, threads, shared;
};
#define KERNEL(depth, rows, warps)                                                                        \
  {advance<depth, rows, warps>, PART_WIDTH(depth), PART_HEIGHT(depth, rows, warps), PART_LANES * (warps), \
   PART_SHARED(depth, rows, warps)},
static const kernel kernels[] = {STENCIL27_KERNELS(KERNEL)};

static part box(int n) {
  const int row = (8 + n + 1 + 7) / 8 * 8;
  return {.plane = (long)row * (n + 2),
          .row = row,
          .shift = 7,
          .nx = n,
          .ny = n,
          .nz = n,
          .z0 = 1,
          .z1 = n + 1,
          .chunk = 0};
}

static double mode(const part& p, int z, int y, int x) {
  const double pi = 3.14159265358979323846;
  return sin(pi * x / (p.nx + 1)) * sin(2 * pi * y / (p.ny + 1)) * sin(3 * pi * z / (p.nz + 1));
}
static double decay(const part& p, int steps) {
  const double pi = 3.14159265358979323846;
  return pow((1 + cos(pi / (p.nx + 1))) * (1 + cos(2 * pi / (p.ny + 1))) * (1 + cos(3 * pi / (p.nz + 1))) / 8, steps);
}

/* One part of the box, in a stream of its own. */
struct slab {
  part planes;
  cudaStream_t stream;
  cudaEvent_t done;
};

static std::vector<slab> divide(const part& whole, int count) {
  int multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  std::vector<slab> out(count);
  for (int k = 0; k < count; k++) {
    out[k].planes = whole;
    out[k].planes.z0 = 1 + (long)whole.nz * k / count, out[k].planes.z1 = 1 + (long)whole.nz * (k + 1) / count;
    CHECK(cudaStreamCreateWithFlags(&out[k].stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&out[k].done, cudaEventDisableTiming));
  }
  return out;
}

static void launch(const slab& s, int depth, int beside, int multiprocessors, const double* from, double* to) {
  const kernel& k = kernels[depth - 1];
  part p = s.planes;
  const unsigned x = (p.nx + k.width - 1) / k.width, y = (p.ny + k.height - 1) / k.height;
  p.chunk = part_chunk(&p, depth, x * y, beside, multiprocessors);
  const dim3 grid(x, y, (p.z1 - p.z0 + p.chunk - 1) / p.chunk);
  k.run<<<grid, k.threads, k.shared, s.stream>>>(p, from, to);
  CHECK(cudaGetLastError());
}

/* A block of steps. The slabs read planes of their neighbours, so each waits for these. */
static void advance_all(std::vector<slab>& slabs, int depth, int multiprocessors, const double* from, double* to) {
  const int count = slabs.size();
  for (slab& s : slabs) {
    launch(s, depth, count, multiprocessors, from, to);
    CHECK(cudaEventRecord(s.done, s.stream));
  }
  for (int k = 0; k < count; k++) {
    if (k > 0) CHECK(cudaStreamWaitEvent(slabs[k].stream, slabs[k - 1].done, 0));
    if (k + 1 < count) CHECK(cudaStreamWaitEvent(slabs[k].stream, slabs[k + 1].done, 0));
  }
}

/* The fastest of some copies within the device. */
static double copy_speed(double* to, const double* from, size_t bytes, cudaEvent_t begin, cudaEvent_t end) {
  float least = INFINITY;
  for (int i = 0; i < 5; i++) {
    float ms = 0;
    CHECK(cudaEventRecord(begin));
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    least = fminf(least, ms);
  }
  return 2e-6 * (double)bytes / least;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 64;
  const int depth = argc > 3 ? atoi(argv[3]) : 4, count = argc > 4 ? atoi(argv[4]) : 1;
  if (n < 1 || steps < 1 || depth < 1 || depth > STENCIL27_MOST_DEPTH || count < 1 || count > n) return EXIT_FAILURE;
  const part whole = box(n);
  std::vector<double> field(whole.plane * (n + 2));
  for (int z = 1; z <= n; z++)
    for (int y = 1; y <= n; y++)
      for (int x = 1; x <= n; x++)
        field[z * whole.plane + y * (long)whole.row + x + whole.shift] = mode(whole, z, y, x);
  double *from = nullptr, *to = nullptr;
  const size_t bytes = field.size() * sizeof(double);
  for (double** f : {&from, &to}) {
    CHECK(cudaMalloc(f, bytes));
    CHECK(cudaMemcpy(*f, field.data(), bytes, cudaMemcpyHostToDevice));
  }
  int multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  for (const kernel& k : kernels)
    CHECK(cudaFuncSetAttribute(k.run, cudaFuncAttributeMaxDynamicSharedMemorySize, k.shared));
  std::vector<slab> slabs = divide(whole, count);
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const double copies = copy_speed(to, from, bytes, begin, end);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(begin, slabs[0].stream));
  for (int t = 0, now; t < steps; t += now, std::swap(from, to))
    advance_all(slabs, now = depth < steps - t ? depth : steps - t, multiprocessors, from, to);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(end, slabs[0].stream));
  CHECK(cudaEventSynchronize(end));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  CHECK(cudaMemcpy(field.data(), from, bytes, cudaMemcpyDeviceToHost));
  double worst = 0;
  const double factor = decay(whole, steps);
  for (int z = 1; z <= n; z++)
    for (int y = 1; y <= n; y++)
      for (int x = 1; x <= n; x++)
        worst = fmax(worst, fabs(field[z * whole.plane + y * (long)whole.row + x + whole.shift] -
                                 factor * mode(whole, z, y, x)));
  printf(
      "{\"program\": \"stencil27_cuda\", \"n\": %d, \"steps\": %d, \"depth\": %d, \"slabs\": %d, \"seconds\": %.6f, "
      "\"glups\": %.2f, \"error\": %.3g, \"copy_gb_s\": %.1f}\n",
      n, steps, depth, count, ms * 1e-3, 1e-9 * n * n * n * steps / (ms * 1e-3), worst, copies);
  return worst <= 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
