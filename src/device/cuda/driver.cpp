#include "device/cuda/driver.hpp"

#include <dlfcn.h>

#include <mutex>
#include <string>

namespace hiroba::cuda {

namespace {

constexpr char library[] = "libcuda.so.1";

// `missing` gets the name of the first function that the library lacks.
void find_calls(void* handle, Driver& out, const char*& missing) {
#define HIROBA_CUDA_FIND(name, ...)                                      \
  out.name = reinterpret_cast<decltype(out.name)>(dlsym(handle, #name)); \
  if (out.name == nullptr && missing == nullptr) missing = #name
  HIROBA_CUDA_CALLS(HIROBA_CUDA_FIND);
#undef HIROBA_CUDA_FIND
}

Status load_once(Driver& out) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status::error(format("no driver of NVIDIA is installed (%s)", dlerror()));
  const char* missing = nullptr;
  find_calls(handle, out, missing);
  int version = 0;
  if (out.cuDriverGetVersion != nullptr) out.cuDriverGetVersion(&version);
  if (version < oldest_version || missing != nullptr)
    return Status::error(format("the driver of NVIDIA is for CUDA %d.%d%s%s; at least %d.%d: install a newer driver",
                                version / 1000, version % 1000 / 10, missing == nullptr ? "" : " and lacks ",
                                missing == nullptr ? "" : missing, oldest_version / 1000, oldest_version % 1000 / 10));
  const Result started = out.cuInit(0);
  if (started == no_device) return Status::error("the driver of NVIDIA finds no device");
  return started == success ? Status() : failure(out, started, "the start of the driver");
}

}  // namespace

Status load(const Driver*& out) {
  static Driver driver;
  static std::once_flag once;
  static Status& loaded = *new Status;
  std::call_once(once, [] { loaded = load_once(driver); });
  out = &driver;
  return loaded;
}

Status failure(const Driver& driver, Result result, const char* doing) {
  const char* text = nullptr;
  if (driver.cuGetErrorString(result, &text) != success || text == nullptr) text = "an unknown error";
  const bool lost = result == unavailable || result == damaged_memory || result == damaged_link || result == unknown;
  return Status::error(format("%s: the driver of NVIDIA says \"%s\" (%d)%s", doing, text, result,
                              lost ? ", so the device may be lost: nvidia-smi tells, and the kernel's log why (dmesg, "
                                     "lines with NVRM: Xid); CUDA_VISIBLE_DEVICES leaves it out"
                                   : ""));
}

}  // namespace hiroba::cuda
