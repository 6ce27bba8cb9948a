/* malloc and free of whatever library is linked: glibc's, or one that takes its place: bench_heap_NAME KIND PAIRS. */
#include <stdlib.h>

#define ALLOCATE(bytes) malloc(bytes)
#define RELEASE(object) free(object)
#include "work.h"

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s random|pairs|batches PAIRS\n", argv[0]), 2;
  return heap_work(argv[1], atol(argv[2]));
}
