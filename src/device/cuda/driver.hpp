// The functions of NVIDIA's driver that this room uses, by the names and types of its header cuda.h, which is not
// needed to build. Loaded once; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace hiroba::cuda {

using Result = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextPart*;
using Stream = struct StreamPart*;
using Event = struct EventPart*;

// CUDA_MEMCPY2D
struct Copy2D {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  DevicePointer from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  DevicePointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};

enum : int { success = 0, out_of_memory = 2, no_device = 100, not_ready = 600 };
// Calls return one of these once a device cannot be used any more: it is gone, or its memory or link is damaged.
enum : int { unavailable = 46, damaged_memory = 214, damaged_link = 220, unknown = 999 };
enum : int { type_host = 1, type_device = 2 };
enum : int { pci_bus = 33, pci_slot = 34, pci_domain = 50, gpu_direct = 116, host_domain = 134 };
enum : unsigned { portable = 1, non_blocking = 1, no_timing = 2 };

// of(name, type of the function)
#define HIROBA_CUDA_CALLS(of)                                                                    \
  of(cuInit, Result(unsigned));                                                                  \
  of(cuDriverGetVersion, Result(int*));                                                          \
  of(cuDeviceGetCount, Result(int*));                                                            \
  of(cuDeviceGet, Result(Device*, int));                                                         \
  of(cuDeviceGetName, Result(char*, int, Device));                                               \
  of(cuDeviceTotalMem_v2, Result(size_t*, Device));                                              \
  of(cuDeviceGetAttribute, Result(int*, int, Device));                                           \
  of(cuDevicePrimaryCtxRetain, Result(Context*, Device));                                        \
  of(cuDevicePrimaryCtxRelease_v2, Result(Device));                                              \
  of(cuCtxSetCurrent, Result(Context));                                                          \
  of(cuCtxPushCurrent_v2, Result(Context));                                                      \
  of(cuCtxPopCurrent_v2, Result(Context*));                                                      \
  of(cuDeviceCanAccessPeer, Result(int*, Device, Device));                                       \
  of(cuCtxEnablePeerAccess, Result(Context, unsigned));                                          \
  of(cuMemAlloc_v2, Result(DevicePointer*, size_t));                                             \
  of(cuMemFree_v2, Result(DevicePointer));                                                       \
  of(cuMemHostAlloc, Result(void**, size_t, unsigned));                                          \
  of(cuMemFreeHost, Result(void*));                                                              \
  of(cuMemHostRegister_v2, Result(void*, size_t, unsigned));                                     \
  of(cuMemHostUnregister, Result(void*));                                                        \
  of(cuStreamCreate, Result(Stream*, unsigned));                                                 \
  of(cuStreamDestroy_v2, Result(Stream));                                                        \
  of(cuMemcpyHtoDAsync_v2, Result(DevicePointer, const void*, size_t, Stream));                  \
  of(cuMemcpyDtoHAsync_v2, Result(void*, DevicePointer, size_t, Stream));                        \
  of(cuMemcpyPeerAsync, Result(DevicePointer, Context, DevicePointer, Context, size_t, Stream)); \
  of(cuMemcpy2DAsync_v2, Result(const Copy2D*, Stream));                                         \
  of(cuEventCreate, Result(Event*, unsigned));                                                   \
  of(cuEventDestroy_v2, Result(Event));                                                          \
  of(cuEventRecord, Result(Event, Stream));                                                      \
  of(cuEventQuery, Result(Event));                                                               \
  of(cuStreamWaitEvent, Result(Stream, Event, unsigned));                                        \
  of(cuGetErrorString, Result(Result, const char**))

template <typename Function>
using Call = Function*;

struct Driver {
#define HIROBA_CUDA_CALL(name, ...) Call<__VA_ARGS__> name
  HIROBA_CUDA_CALLS(HIROBA_CUDA_CALL);
#undef HIROBA_CUDA_CALL
};

// The oldest version of CUDA that a driver must know: 12.0.
constexpr int oldest_version = 12000;

// Loads and starts the driver; fails with the reason if that is not possible. `out` lives for ever.
Status load(const Driver*& out);
// A failed call of the driver, as text; `doing`: "memory of 2 GiB".
Status failure(const Driver& driver, Result result, const char* doing);

}  // namespace hiroba::cuda
