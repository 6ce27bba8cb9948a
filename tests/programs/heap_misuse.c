/* One mistake in the use of the heap, by number; the last rank makes it, or rank 0. */
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const char* const what = option_text(argc, argv, "--what", "");
  char** const table = sms_alloc(sizeof(char*), 16, 0);
  const int last = sms_nprocs - 1;
  if (sms_rank == 0) {
    table[0] = sms_malloc(24);
    table[1] = sms_malloc(100);
    memset(table[0], 1, 24);
  }
  sms_barrier();
  char* const object = table[0];
#define IF(name, rank) if (strcmp(what, name) == 0 && sms_rank == (rank))
  IF("twice", last) {
    sms_mfree(object);
    sms_mfree(object);
  }
  IF("overrun", last) object[24] = 1;
  sms_barrier();
  IF("overrun", last) sms_mfree(object);
  IF("after", 0) {
    sms_mfree(object);
    object[3] = 9;
  }
  IF("negative", 0) sms_malloc((size_t)-5);
  IF("product", 0) sms_calloc((size_t)1 << 40, (size_t)1 << 40);
  IF("private", 0) sms_mfree(&argc);
  IF("array", 0) sms_mfree(table);
  IF("object", last) sms_free(object);
  IF("inside", last) sms_mfree(table[1] + 8);
  IF("rank", 0) sms_malloc_on(8, 77);
  IF("alignment", 0) sms_aligned_alloc(24, 8);
  IF("exhausted", 0) for (;;) sms_malloc(1000);
  IF("libc", 0) free(object);
  IF("forked", 0) {
    sms_mfree(sms_malloc(8));
    const pid_t child = fork();
    if (child == 0) sms_malloc(8), _exit(0);
    waitpid(child, NULL, 0);
  }
  sms_free(table);
  return sms_shutdown();
}
