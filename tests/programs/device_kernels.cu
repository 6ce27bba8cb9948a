#include "device_kernels.h"

namespace {

__global__ void scale(double* x, Factor a) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < a.count) x[i] *= a.factor;
}
__global__ void add(const double* x, double* y, Factor a) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < a.count) y[i] = x[i] + a.factor;
}
__global__ void spin(double* x, long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) continue;
  *x = 1;
}
__global__ void wild(double* x) { x[threadIdx.x] = 0; }

constexpr int threads = 256;
unsigned blocks(int64_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }
cudaStream_t of(void* stream) { return static_cast<cudaStream_t>(stream); }
const Factor& factor(const void* argument) { return *static_cast<const Factor*>(argument); }

int launch_scale(void* const* data, const void* argument, void* stream) {
  const Factor& a = factor(argument);
  scale<<<blocks(a.count), threads, 0, of(stream)>>>(static_cast<double*>(data[0]), a);
  return cudaGetLastError();
}
int launch_add(void* const* data, const void* argument, void* stream) {
  const Factor& a = factor(argument);
  add<<<blocks(a.count), threads, 0, of(stream)>>>(static_cast<const double*>(data[0]), static_cast<double*>(data[1]), a);
  return cudaGetLastError();
}
int launch_spin(void* const* data, const void* argument, void* stream) {
  constexpr double clock_rate = 1.7e9;  // about
  const auto clocks = static_cast<long long>(factor(argument).factor * clock_rate);
  spin<<<1, 1, 0, of(stream)>>>(static_cast<double*>(data[0]), clocks);
  return cudaGetLastError();
}
int launch_wild(void* const*, const void*, void* stream) {
  wild<<<1, 32, 0, of(stream)>>>(reinterpret_cast<double*>(8));
  return cudaGetLastError();
}

}  // namespace

extern "C" {
extern const hiroba_kernel scale_kernel = {"scale", nullptr, launch_scale};
extern const hiroba_kernel add_kernel = {"add", nullptr, launch_add};
extern const hiroba_kernel spin_kernel = {"spin", nullptr, launch_spin};
extern const hiroba_kernel wild_kernel = {"wild", nullptr, launch_wild};
}

double copy_time(size_t bytes, int to_device) {
  static char *host = nullptr, *device = nullptr;
  static size_t room = 0;
  static cudaEvent_t begin, end;
  if (room < bytes) {
    if (room == 0) cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaFreeHost(host), cudaFree(device);
    cudaHostAlloc(&host, bytes, cudaHostAllocDefault), cudaMalloc(&device, bytes);
    room = bytes;
  }
  cudaEventRecord(begin);
  if (to_device != 0) cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice);
  else cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  return milliseconds * 1e-3;
}
