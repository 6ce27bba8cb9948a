/* The allocator of oneTBB, under its own names: bench_heap_tbb KIND PAIRS. */
#include <tbb/scalable_allocator.h>

#define ALLOCATE(bytes) scalable_malloc(bytes)
#define RELEASE(object) scalable_free(object)
#include "work.h"

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s random|pairs|batches PAIRS\n", argv[0]), 2;
  return heap_work(argv[1], atol(argv[2]));
}
