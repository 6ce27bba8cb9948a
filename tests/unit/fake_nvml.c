/* NVML for tests: its GPUs are the words of the variable FAKE_NVML when it is initialised, such as
 * "counts=250 tells=200": one that counts 250 W in millijoules, and an older one that tells 200 W in
 * milliwatts. Others: "denied", "lost", "backwards", "slow=300" (changes every 0.25 s). Without the variable no driver
 * is loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { success = 0, uninitialized = 1, not_supported = 3, no_permission = 4, gpu_lost = 15 };
enum { most = 8 };

struct gpu {
  char kind[16];
  double watts;
  int reads;
};
double fake_nvml_clock = -1; /* seconds, if a test sets them */

static struct gpu gpus[most];
static int gpu_count;

static double now(void) {
  struct timespec t;
  if (fake_nvml_clock >= 0) return fake_nvml_clock;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int nvmlInit_v2(void) {
  const char* at = getenv("FAKE_NVML");
  if (at == NULL) return uninitialized;
  for (gpu_count = 0; gpu_count < most; ++gpu_count) {
    struct gpu* const gpu = &gpus[gpu_count];
    char word[32];
    int length = 0;
    if (sscanf(at, "%31s%n", word, &length) != 1) break;
    memset(gpu, 0, sizeof *gpu);
    sscanf(word, "%15[^=]=%lf", gpu->kind, &gpu->watts);
    at += length;
  }
  return success;
}

int nvmlDeviceGetCount_v2(unsigned* count) { return *count = (unsigned)gpu_count, success; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu** out) { return *out = &gpus[index], success; }

int nvmlDeviceGetName(struct gpu* gpu, char* name, unsigned length) {
  return snprintf(name, length, "Fake %s", gpu->kind), success;
}

struct pci { /* nvmlPciInfo_t */
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};

/* As cuda_standin.c has it. */
int nvmlDeviceGetPciInfo_v3(struct gpu* gpu, struct pci* out) {
  memset(out, 0, sizeof *out);
  out->domain = out->bus = out->device = (unsigned)(gpu - gpus);
  return success;
}

int nvmlDeviceGetTotalEnergyConsumption(struct gpu* gpu, unsigned long long* millijoules) {
  double seconds = now();
  if (strcmp(gpu->kind, "tells") == 0) return not_supported;
  if (strcmp(gpu->kind, "denied") == 0) return no_permission;
  if (strcmp(gpu->kind, "lost") == 0) return gpu_lost;
  if (strcmp(gpu->kind, "backwards") == 0) seconds = 1e6 - ++gpu->reads;
  if (strcmp(gpu->kind, "slow") == 0) seconds = (double)(long)(seconds * 4) / 4;
  *millijoules = (unsigned long long)(seconds * gpu->watts * 1e3);
  return success;
}

int nvmlDeviceGetPowerUsage(struct gpu* gpu, unsigned* milliwatts) {
  if (strcmp(gpu->kind, "tells") != 0) return no_permission;
  return *milliwatts = (unsigned)(gpu->watts * 1e3), success;
}

const char* nvmlErrorString(int result) {
  switch (result) {
    case uninitialized: return "Driver Not Loaded";
    case not_supported: return "Not Supported";
    case no_permission: return "Insufficient Permissions";
    case gpu_lost: return "GPU is lost";
    default: return "Success";
  }
}
