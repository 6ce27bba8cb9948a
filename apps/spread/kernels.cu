#include <dlfcn.h>

#include "kernels.h"

namespace {

constexpr int tile = 16;

__global__ void product(const double* a, const double* b, double* c, int64_t n) {
  __shared__ double as[tile][tile], bs[tile][tile];
  const int64_t row = blockIdx.y * int64_t{tile} + threadIdx.y, column = blockIdx.x * int64_t{tile} + threadIdx.x;
  double sum = 0;
  for (int64_t k = 0; k < n; k += tile) {
    as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void update(const double* x, double* y, update_size size) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= size.count) return;
  double value = y[i];
  for (int64_t t = 0; t < size.times; ++t) value += 2 * x[i];
  y[i] = value;
}

cudaStream_t of(void* stream) { return static_cast<cudaStream_t>(stream); }
double* number(void* data) { return static_cast<double*>(data); }

int launch_product(void* const* data, const void* argument, void* stream) {
  const int64_t n = static_cast<const product_size*>(argument)->n;
  const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
  product<<<dim3(blocks, blocks), dim3(tile, tile), 0, of(stream)>>>(number(data[0]), number(data[1]), number(data[2]),
                                                                     n);
  return cudaGetLastError();
}

int launch_update(void* const* data, const void* argument, void* stream) {
  const update_size size = *static_cast<const update_size*>(argument);
  constexpr int threads = 256;
  update<<<static_cast<unsigned>((size.count + threads - 1) / threads), threads, 0, of(stream)>>>(
      number(data[0]), number(data[1]), size);
  return cudaGetLastError();
}

// cuBLAS, which is loaded: its C interface since version 2.
struct Library {
  void* handle;
  int (*create)(void**);
  int (*set_stream)(void*, cudaStream_t);
  int (*multiply)(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*,
                  double*, int);
} library;

int launch_library(void* const* data, const void* argument, void* stream) {
  const int n = static_cast<int>(static_cast<const product_size*>(argument)->n);
  const double one = 1, nothing = 0;
  if (library.handle == nullptr && library.create(&library.handle) != 0) return cudaErrorInitializationError;
  if (library.set_stream(library.handle, of(stream)) != 0) return cudaErrorUnknown;
  const int status = library.multiply(library.handle, 0, 0, n, n, n, &one, number(data[1]), n, number(data[0]), n,
                                      &nothing, number(data[2]), n);
  return status == 0 ? cudaGetLastError() : cudaErrorUnknown;
}

}  // namespace

extern "C" {
extern const hiroba_kernel product_kernel = {"product", nullptr, launch_product};
extern const hiroba_kernel library_kernel = {"library product", nullptr, launch_library};
extern const hiroba_kernel update_kernel = {"update", nullptr, launch_update};

const char* find_library(const char** out) {
  for (const char* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
    void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) continue;
    *out = name;
    library.create = reinterpret_cast<decltype(library.create)>(dlsym(loaded, "cublasCreate_v2"));
    library.set_stream = reinterpret_cast<decltype(library.set_stream)>(dlsym(loaded, "cublasSetStream_v2"));
    library.multiply = reinterpret_cast<decltype(library.multiply)>(dlsym(loaded, "cublasDgemm_v2"));
    if (library.create != nullptr && library.set_stream != nullptr && library.multiply != nullptr) return nullptr;
  }
  return "there is no cuBLAS (libcublas.so.13 or .12)";
}
}
