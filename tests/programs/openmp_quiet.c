/* Memory that all threads have read and nobody has written for many regions, which the library may have closed to
   writes: then main, threads and the system write to it, and all threads see that. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 18, PAGES = BYTES / 4096, REGIONS = 60 };
static unsigned char variable[BYTES];
static unsigned char* object;
static int file, ends[2];
static long counter[512];

static void expect(int good, const char* what, long i) {
  if (!good) printf("%s: wrong at %ld\n", what, i), fflush(stdout), exit(1);
}

static unsigned char byte_of(int round, long i) { return (unsigned char)(i / 4096 * 7 + i + round * 31); }

/* All threads read all of it. */
static void read_by_all(const unsigned char* bytes, int round, const char* what) {
  long wrong = -1;
#pragma omp parallel reduction(max : wrong)
  for (long i = 0; i < BYTES; i++)
    if (bytes[i] != byte_of(round, i)) wrong = i;
  expect(wrong < 0, what, wrong);
}

static void be_quiet(void) {
  for (int k = 0; k < REGIONS; k++) {
#pragma omp parallel
    if (counter[0] < 0) puts("never");
  }
}

static void fill_file(int round) {
  static unsigned char copy[BYTES];
  for (long i = 0; i < BYTES; i++) copy[i] = byte_of(round, i);
  expect(pwrite(file, copy, BYTES, 0) == BYTES, "pwrite", 0);
}

static void by_main(unsigned char* to, int round) {
  for (long i = 0; i < BYTES; i++) to[i] = byte_of(round, i);
}
static void by_threads(unsigned char* to, int round) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < BYTES; i++) to[i] = byte_of(round, i);
}
static void by_other_threads(unsigned char* to, int round) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < BYTES; i++) to[BYTES - 1 - i] = byte_of(round, BYTES - 1 - i);
}
static void by_read(unsigned char* to, int round) {
  fill_file(round);
  expect(lseek(file, 0, SEEK_SET) == 0, "lseek", 0);
  for (long done = 0, n; done < BYTES; done += n) expect((n = read(file, to + done, BYTES - done)) > 0, "read", done);
}
static void by_pread(unsigned char* to, int round) {
  fill_file(round);
  expect(pread(file, to, BYTES, 0) == BYTES, "pread", 0);
}
static void by_readv(unsigned char* to, int round) {
  fill_file(round);
  const struct iovec parts[2] = {{to, 5000}, {to + 5000, BYTES - 5000}};
  expect(preadv(file, parts, 2, 0) == BYTES, "preadv", 0);
}
static void by_fread(unsigned char* to, int round) {
  fill_file(round);
  FILE* const stream = fdopen(dup(file), "r");
  rewind(stream);
  expect(fread(to, 1, BYTES, stream) == BYTES, "fread", 0);
  fclose(stream);
}
static void by_recv(unsigned char* to, int round) {
  for (long page = 0; page < PAGES; page++) {
    unsigned char part[4096];
    for (long i = 0; i < 4096; i++) part[i] = byte_of(round, page * 4096 + i);
    expect(send(ends[0], part, sizeof part, 0) == 4096, "send", page);
    expect(recv(ends[1], to + page * 4096, 4096, MSG_WAITALL) == 4096, "recv", page);
  }
}
static void by_region_of_calls(unsigned char* to, int round) {
  fill_file(round);
  int wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
  for (int page = 0; page < PAGES; page++) wrong += pread(file, to + page * 4096L, 4096, page * 4096L) != 4096;
  expect(wrong == 0, "pread in a region", wrong);
}

/* Small results of the system in variables that share quiet pages. */
static struct {
  char before[8192];
  struct stat about;
  struct rusage usage;
  struct timespec now;
  struct pollfd watched;
  int made[2];
  char text[64], folder[512];
  char after[8192];
} results;

static void by_calls(void) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (size_t i = 0; i < sizeof results; i++) sum += ((const char*)&results)[i];
  be_quiet();
  expect(sum == 0, "results", sum);
  expect(fstat(file, &results.about) == 0 && results.about.st_size == BYTES, "fstat", results.about.st_size);
  be_quiet();
  expect(getrusage(RUSAGE_SELF, &results.usage) == 0 && results.usage.ru_maxrss > 0, "getrusage", 0);
  be_quiet();
  expect(clock_gettime(CLOCK_MONOTONIC, &results.now) == 0 && results.now.tv_sec > 0, "clock_gettime", 0);
  be_quiet();
  expect(pipe(results.made) == 0 && write(results.made[1], "quiet\n", 6) == 6, "pipe", 0);
  be_quiet();
  results.watched = (struct pollfd){.fd = results.made[0], .events = POLLIN};
  be_quiet();
  expect(poll(&results.watched, 1, 1000) == 1 && results.watched.revents == POLLIN, "poll", results.watched.revents);
  be_quiet();
  FILE* const stream = fdopen(results.made[0], "r");
  expect(fgets(results.text, sizeof results.text, stream) != NULL && strcmp(results.text, "quiet\n") == 0, "fgets", 0);
  be_quiet();
  expect(getcwd(results.folder, sizeof results.folder) != NULL && results.folder[0] == '/', "getcwd", 0);
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  wrong += results.about.st_size != BYTES || results.now.tv_sec == 0 || results.folder[0] != '/' ||
           strcmp(results.text, "quiet\n") != 0 || results.watched.revents != POLLIN || results.usage.ru_maxrss == 0;
  expect(wrong == 0, "results that others see", wrong);
}

int main(void) {
  static void (*const ways[])(unsigned char*, int) = {by_main,  by_threads, by_other_threads,
                                                      by_read,  by_pread,   by_readv,
                                                      by_fread, by_recv,    by_region_of_calls};
  enum { WAYS = sizeof ways / sizeof ways[0] };
  char name[] = "/tmp/quiet.XXXXXX";
  file = mkstemp(name);
  expect(file >= 0 && unlink(name) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "files", 0);
  object = malloc(BYTES);
  for (int round = 0; round < 2 * WAYS; round++) {
    unsigned char* const to = round % 2 == 0 ? variable : object;
    ways[round / 2](to, round);
    read_by_all(to, round, "first look");
    be_quiet();
    ways[(round / 2 + 1) % WAYS](to, round + 1);
    read_by_all(to, round + 1, "what was written to quiet memory");
  }
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp atomic
    counter[511] += i;
  }
  by_calls();
  free(object);
  expect(counter[511] == 499500, "atomic", counter[511]);
  puts("ok");
  return 0;
}
