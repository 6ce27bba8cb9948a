/* A rank, the last one, that ends the job as the first argument says, with text in all buffers of stdio:
 *
 *   endings HOW FILE
 *
 * exit=N return=N: before sms_shutdown. after=N: the status after sms_shutdown. before=N: before sms_startup.
 * misuse: a call that is refused. outside: an access past an array. abort. raise=SIGNAL. handled=SIGNAL: by a handler
 * of the program, which says so. ignored=SIGNAL. calls: collective calls that differ. mapped: an access where memory
 * comes while the crash is being told. */
#define _GNU_SOURCE
#include <signal.h>
#include <sms.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static FILE* file;
static int value;

static void first_handler(void) { fprintf(file, "handler before the start\n"); }
static void last_handler(void) {
  if (sms_rank == sms_nprocs - 1) fprintf(file, "handler after the start\n");
}

static void on_signal(int number) {
  signal(number, SIG_DFL);
  if (write(1, "handled\n", 8) != 8 || number != value) _exit(9);
}

static int is(const char* how, const char* name) {
  const size_t length = strlen(name);
  if (strncmp(how, name, length) != 0) return 0;
  value = how[length] == '=' ? atoi(how + length + 1) : 0;
  return 1;
}

/* The report of a crash limits its time by this function, and may map memory anywhere meanwhile. */
static void* absent;
unsigned alarm(unsigned seconds) {
  const int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (absent != NULL && mmap(absent, 4096, access, kind, -1, 0) == MAP_FAILED) _exit(9);
  const struct itimerval limit = {{0, 0}, {seconds, 0}};
  return (unsigned)setitimer(ITIMER_REAL, &limit, NULL);
}

static void use_before_it_is_mapped(void) {
  absent = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int got = *(volatile char*)absent;
  fprintf(stderr, "went on with %d\n", got);
}

static int end(const char* how, int* array) {
  if (is(how, "exit")) exit(value);
  if (is(how, "return")) return value;
  if (is(how, "misuse")) sms_unlock(5);
  if (is(how, "outside")) array[1 << 20] = 1;
  if (is(how, "abort")) abort();
  if (is(how, "raise")) raise(value);
  if (is(how, "handled")) {
    signal(value, on_signal);
    raise(value);
    raise(value);
  }
  if (is(how, "ignored")) {
    signal(value, SIG_IGN);
    raise(value);
  }
  if (is(how, "calls")) sms_barrier();
  if (is(how, "mapped")) use_before_it_is_mapped();
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3 || (file = fopen(argv[2], "a")) == NULL) return 2;
  atexit(first_handler);
  if (is(argv[1], "before")) return value;
  sms_startup(&argc, &argv);
  atexit(last_handler);
  int* const array = sms_alloc(sizeof *array, 1 << 20, 0);
  sms_barrier();
  if (sms_rank == sms_nprocs - 1) {
    printf("a line on stdout\nand its rest");
    if (sms_nprocs > 1 && (!__flbf(stdout) || __fbufsize(stdout) < 256))
      printf("stdout has %zu bytes for a line\n", __fbufsize(stdout));
    fprintf(file, "a line in a file\n");
    const int status = end(argv[1], array);
    if (is(argv[1], "return")) return status;
  } else {
    fprintf(file, "a line of another rank\n");
  }
  sms_barrier();
  sms_free(array);
  sms_shutdown();
  return is(argv[1], "after") && sms_rank == sms_nprocs - 1 ? value : 0;
}
