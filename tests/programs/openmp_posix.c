/* What OpenMP programs use of POSIX, in regions of all ranks. Prints "ok". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPECT(holds) expect(holds, #holds, __LINE__)

enum { page = 4096 };

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  printf("line %d: not %s\n", line, what);
  exit(1);
}

static char* new_file(int* descriptor) {
  static char name[200];
  const char* folder = getenv("TMPDIR");
  snprintf(name, sizeof name, "%s/openmp-XXXXXX", folder != NULL ? folder : "/tmp");
  *descriptor = mkstemp(name);
  EXPECT(*descriptor >= 0);
  return name;
}

static void map_memory(void) {
  int* each[64];
  const int threads = omp_get_max_threads();
  long sum = 0;
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    each[me] = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1000; ++i) each[me][i] += me + 1;
  }
  for (int i = 0; i < threads; ++i) {
    for (int j = 0; j < 1000; ++j) sum += each[i][j];
    EXPECT(munmap(each[i], 1 << 20) == 0);
  }
  EXPECT(sum == 500L * threads * (threads + 1));
}

/* As allocators do: addresses are reserved, parts get memory, and what is too much is unmapped. */
static void map_in_parts(void) {
  const size_t bytes = (size_t)16 << 20;
  char* const all = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* const part = all + page;
  EXPECT(all != MAP_FAILED && munmap(all, page) == 0);
  EXPECT(mmap(part, 2 * page, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == part);
  EXPECT(mprotect(part + 2 * page, 2 * page, PROT_READ | PROT_WRITE) == 0);
#pragma omp parallel for
  for (int i = 0; i < 4 * page; ++i) part[i] = 1;
  EXPECT(madvise(part, page, MADV_DONTNEED) == 0 && part[0] == 0 && part[page] == 1);
  EXPECT(munmap(part, bytes - page) == 0);
  int* grows = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  grows[5] = 5;
  grows = mremap(grows, page, 64 * page, MREMAP_MAYMOVE);
  EXPECT(grows != MAP_FAILED && grows[5] == 5);
#pragma omp parallel for
  for (int i = 0; i < 64 * page / 4; ++i) grows[i] = i;
  EXPECT(grows[64 * page / 4 - 1] == 64 * page / 4 - 1 && munmap(grows, 64 * page) == 0);
}

static void map_files(void) {
  int file = -1;
  const int bytes = 3 * page + 100;
  const char* const name = new_file(&file);
  EXPECT(ftruncate(file, bytes) == 0);
  unsigned char* const shared = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  EXPECT(shared != MAP_FAILED);
#pragma omp parallel for
  for (int i = 0; i < bytes; ++i) shared[i] = (unsigned char)(i % 251);
  unsigned char* const again = mmap(NULL, page, PROT_READ, MAP_SHARED, file, page);
  shared[page] = 7;
  EXPECT(again[0] == 7);
  unsigned char* const private = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  EXPECT(private[page] == 7);
  private[page] = 9;
  EXPECT(shared[page] == 7 && msync(shared, (size_t)bytes, MS_SYNC) == 0);
  unsigned char read_back[3 * page + 100];
  EXPECT(pread(file, read_back, sizeof read_back, 0) == bytes && memcmp(read_back, shared, (size_t)bytes) == 0);
  EXPECT(munmap(private, (size_t)bytes) == 0 && munmap(again, page) == 0);
  shared[3] = 77;
  EXPECT(munmap(shared, (size_t)bytes) == 0 && pread(file, read_back, 4, 0) == 4 && read_back[3] == 77);
  long sum = 0, expected = 0;
  for (int i = 0; i < bytes; ++i) expected += i == page ? 7 : i == 3 ? 77 : i % 251;
#pragma omp parallel reduction(+ : sum)
  {
    const int own = open(name, O_RDONLY);
    const unsigned char* const here = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, own, 0);
    for (int i = 0; i < bytes; ++i) sum += here[i];
    munmap((void*)here, (size_t)bytes);
    close(own);
  }
  EXPECT(sum == expected * omp_get_max_threads());
  close(file);
  unlink(name);
}

static void map_what_has_no_name(void) {
  const int file = memfd_create("openmp", 0);
  EXPECT(ftruncate(file, 16 * page) == 0);
  int* const one = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int* const other = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
#pragma omp parallel for
  for (int i = 0; i < 16 * page / 4; ++i) one[i] = i;
  munmap(one, 16 * page);
  for (int i = 0; i < 16 * page / 4; ++i) EXPECT(other[i] == i);
  EXPECT(munmap(other, 16 * page) == 0);
  EXPECT(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  EXPECT(mmap(NULL, page, PROT_READ, MAP_PRIVATE, 9999, 0) == MAP_FAILED);
  close(file);
}

int main(void) {
  map_memory();
  map_in_parts();
  map_files();
  map_what_has_no_name();
  puts("ok");
  return 0;
}
