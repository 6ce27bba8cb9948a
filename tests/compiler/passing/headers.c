#define _GNU_SOURCE
#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <iso646.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <omp.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tgmath.h>
#include <threads.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>
#include <immintrin.h>

static jmp_buf back;

static double mean(int count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(list, double);
  va_end(list);
  return count ? sum / count : NAN;
}

int main(int argc, char** argv) {
  struct stat st;
  assert(argc > 0);
  if (stat(argv[0], &st) != 0 && errno not_eq ENOENT) perror(argv[0]);
  if (setjmp(back) == 0) longjmp(back, 1);
  double complex z = cexp(1.0 + 2.0 * I);
  __m128d pair = _mm_set_pd(1, 2);
  void* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t pid = fork();
  if (pid == 0) _exit(3);
  int status = 0;
  waitpid(pid, &status, 0);
  printf("%" PRId64 " %g %g %d %g %p %d %s\n", INT64_MAX, creal(z), mean(2, 1.0, 2.0), WEXITSTATUS(status),
         _mm_cvtsd_f64(pair), p, omp_get_max_threads(), __func__);
  FD_SET(0, &(fd_set){0});
  return isdigit('0') ? EXIT_SUCCESS : EXIT_FAILURE;
}
