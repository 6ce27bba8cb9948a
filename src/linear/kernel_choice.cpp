#include "linear/kernel_levels.hpp"

namespace hiroba {

namespace {

struct Choice {
  const KernelTables* tables;
  int level;
};

Choice choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0)
    return {&kernels_v4, 4};
  if (v3) return {&kernels_v3, 3};
#endif
  return {&kernels_base, 0};
}

const Choice& chosen() {
  static const Choice the_choice = choose();
  return the_choice;
}

}  // namespace

template <typename T>
const Kernels<T>& kernels() {
  return chosen().tables->of<T>();
}
#define HIROBA_INSTANTIATE(T) template const Kernels<T>& kernels<T>();
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)
int kernels_level() { return chosen().level; }

}  // namespace hiroba
