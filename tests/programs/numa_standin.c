/* Stands before the C library's syscall() in the ranks of a job, and plays a kernel with several NUMA domains: mbind
 * and move_pages on the address range of shared arrays are recorded in the file NUMA_STANDIN, three bytes per page: 1 +
 * the domain where it is, 1 + the domain that its policy prefers, and whether it is interleaved. As the real kernel, it
 * moves only what this process alone has mapped (bit 56 of pagemap). For jobs of one node. CPU NUMA_SECOND is on
 * domain 1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_SHIFT = 12, RECORD = 3, DOMAINS = 2, MODE_INTERLEAVE = 3 };
#define TABLE ((size_t)64 << 20)

static _Atomic unsigned char* table(void) {
  static _Atomic unsigned char* at = NULL;
  if (at == NULL) {
    const int fd = open(getenv("NUMA_STANDIN"), O_RDWR | O_CLOEXEC);
    void* const mapped = mmap(NULL, TABLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) abort();
    at = mapped;
    close(fd);
  }
  return at;
}

/* The place of a byte in the file that is mapped there; which is its place in the address range, too. */
static uint64_t file_offset(uintptr_t address) {
  FILE* const maps = fopen("/proc/self/maps", "re");
  uintptr_t first = 0, end = 0;
  unsigned long offset = 0;
  uint64_t found = UINT64_MAX;
  for (char line[512]; fgets(line, sizeof line, maps) != NULL;)
    if (sscanf(line, "%lx-%lx %*s %lx", &first, &end, &offset) == 3 && first <= address && address < end)
      found = offset + (address - first);
  fclose(maps);
  return found;
}

static uint64_t pagemap(uintptr_t address) {
  static int fd = -1;
  if (fd < 0) fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  uint64_t entry = 0;
  if (pread(fd, &entry, sizeof entry, (off_t)(address >> PAGE_SHIFT) * 8) != sizeof entry) return 0;
  return entry;
}

static long stand_in_mbind(uintptr_t address, size_t bytes, int mode, const unsigned long* mask) {
  const uint64_t first = file_offset(address) >> PAGE_SHIFT, n = bytes >> PAGE_SHIFT;
  for (uint64_t i = first; i < first + n && (i + 1) * RECORD <= TABLE; i++) {
    table()[i * RECORD + 1] = mask == NULL || mode == MODE_INTERLEAVE ? 0 : (unsigned char)(1 + __builtin_ctzl(*mask));
    table()[i * RECORD + 2] = mode == MODE_INTERLEAVE;
  }
  return 0;
}

/* By whose policy it came, when it is first looked for. */
static int domain_of(uint64_t page) {
  _Atomic unsigned char* const record = table() + page * RECORD;
  if (record[0] == 0) record[0] = record[2] ? (unsigned char)(1 + page % DOMAINS) : record[1] ? record[1] : 1;
  return record[0] - 1;
}

static long stand_in_move_pages(unsigned long n, void* const* pages, const int* to, int* status) {
  const uintptr_t first = (uintptr_t)pages[0];
  const uint64_t first_page = file_offset(first) >> PAGE_SHIFT; /* all of a call are in one mapping */
  for (unsigned long i = 0; i < n; i++) {
    const uintptr_t address = (uintptr_t)pages[i];
    const uint64_t page = first_page + ((address - first) >> PAGE_SHIFT), entry = pagemap(address);
    if ((entry >> 63) == 0) {
      status[i] = -ENOENT;
    } else if (to == NULL || domain_of(page) == to[i]) {
      status[i] = domain_of(page);
    } else if ((entry >> 56 & 1) == 0) {
      status[i] = -EACCES;
    } else {
      table()[page * RECORD] = (unsigned char)(1 + to[i]);
      status[i] = to[i];
    }
  }
  return 0;
}

__attribute__((visibility("default"))) int getcpu(unsigned* cpu, unsigned* domain) {
  *cpu = (unsigned)sched_getcpu();
  *domain = *cpu == (unsigned)atoi(getenv("NUMA_SECOND"));
  return 0;
}

__attribute__((visibility("default"))) long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_mbind) return stand_in_mbind((uintptr_t)a[0], (size_t)a[1], (int)a[2], (const unsigned long*)a[3]);
  if (number == SYS_move_pages)
    return stand_in_move_pages((unsigned long)a[1], (void* const*)a[2], (const int*)a[3], (int*)a[4]);
  static long (*next)(long, ...) = NULL;
  if (next == NULL) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
