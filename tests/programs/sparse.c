/* A TiB of shared array, reserved: under 1 MiB of memory of any kind until touched; then a few elements far apart, from
 * all ranks. The job must have --sparse yes.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "programs.h"

/* KiB in the job's memory files, which every rank has open. */
static long memory_files_kib(void) {
  long kib = 0;
  for (int fd = 3; fd < 256; ++fd) {
    char name[64], target[64];
    struct stat info;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(name, target, sizeof target - 1);
    if (length <= 0 || fstat(fd, &info) != 0) continue;
    target[length] = '\0';
    if (strncmp(target, "/memfd:", 7) == 0 || strncmp(target, "/hiroba-", 8) == 0) kib += info.st_blocks / 2;
  }
  return kib;
}

static long own_kib(void) { return status_kib("VmRSS") + status_kib("VmPTE"); }

static void check_growth(const char* what, long before, long after) {
  if (after - before >= 1024)
    fail("sparse: %s grew by %ld KiB on rank %d when 1 TiB was reserved, less than 1024 allowed", what, after - before,
         sms_rank);
}

int main(int argc, char** argv) {
  enum { SPOTS = 200 };
  const size_t count = (size_t)1 << 37; /* of 8 bytes */
  sms_startup(&argc, &argv);
  sms_free(sms_alloc(1, PAGE, 0)); /* what the first allocation costs is not the array's */
  sms_barrier();
  const long files = memory_files_kib(), own = own_kib();
  sms_barrier();
  const int64_t dim[] = {(int64_t)count, -1}, div[] = {sms_nprocs, -1};
  uint64_t* words = sms_mapalloc_large(dim, div, sizeof *words, 0, sms_nprocs);
  sms_barrier();
  check_growth("memory files", files, memory_files_kib());
  check_growth("resident memory and page tables", own, own_kib());
  sms_barrier();
  for (size_t s = 0; s < SPOTS; ++s)
    if ((int)(s % (size_t)sms_nprocs) == sms_rank) words[mix(s) % count] += s + 1;
  sms_barrier();
  for (size_t s = 0; s < SPOTS; ++s)
    if (words[mix(s) % count] != s + 1 || words[mix(s + SPOTS) % count] != 0)
      fail("sparse: rank %d reads %lu at %lu, expected %zu", sms_rank, words[mix(s) % count], mix(s) % count, s + 1);
  sms_barrier();
  sms_free(words);
  sms_shutdown();
  return 0;
}
