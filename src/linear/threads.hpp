// Parts of a loop on the threads of a rank (OMP_NUM_THREADS, hirobarun --threads): those of OpenMP, so that a program
// that uses OpenMP has one set of threads. The OpenMP runtime is the program's, or is loaded when first needed.
//
// A thread runs one loop at a time; it blocks until all parts are done. Results do not depend on the thread of a part.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/shown.hpp"

namespace hiroba {

[[HIROBA_SHOWN]] int blas_threads();
// Calls function(context, part) for parts 0..parts-1.
[[HIROBA_SHOWN]] void run_parts(int parts, void (*function)(void* context, int part), void* context);

// Calls work(begin, end) for parts of [0, items), which touch `bytes` bytes together, in multiples of `unit` items.
template <typename Work>
void in_parts(int64_t items, int64_t bytes, int64_t unit, const Work& work) {
  constexpr int64_t least_bytes = 32768;  // less is done before other threads have begun
  const int64_t units = (items + unit - 1) / unit;
  const int64_t parts = std::min<int64_t>({blas_threads(), units, bytes / least_bytes});
  if (parts <= 1) {
    if (items > 0) work(int64_t{0}, items);
    return;
  }
  struct Context {
    const Work& work;
    int64_t items, units, unit, parts;
  } context = {work, items, units, unit, parts};
  run_parts(
      static_cast<int>(parts),
      [](void* self, int part) {
        const Context& c = *static_cast<Context*>(self);
        c.work(c.units * part / c.parts * c.unit, std::min(c.items, c.units * (part + 1) / c.parts * c.unit));
      },
      &context);
}

}  // namespace hiroba
