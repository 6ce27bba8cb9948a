/* Uses of POSIX by OpenMP programs, in regions of all ranks. Prints "ok". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* Names and results of calls of the system that lie in memory of other threads. */
static void name_files_elsewhere(void) {
  enum { files = 24 };
  int descriptor = -1;
  char* folder = strdup(new_file(&descriptor));
  close(descriptor);
  EXPECT(unlink(folder) == 0 && mkdir(folder, 0700) == 0);
  char** const names = malloc(files * sizeof *names);
  struct stat* const about = malloc(files * sizeof *about);
  for (int i = 0; i < files; ++i) {
    names[i] = malloc(6000);
    sprintf(names[i], "%s/%d", folder, i);
  }
  int wrong = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < files; ++i) {
    FILE* const file = fopen(names[i], "w");
    wrong += file == NULL || fprintf(file, "%d\n", i) < 0 || fclose(file) != 0;
  }
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < files; ++i) {
    const int other = (i + 1) % files, opened = open(names[other], O_RDONLY);
    char text[20] = {0};
    wrong += opened < 0 || read(opened, text, sizeof text) <= 0 || atoi(text) != other || close(opened) != 0;
    wrong += stat(names[other], &about[other]) != 0 || access(names[other], R_OK) != 0;
  }
  for (int i = 0; i < files; ++i) wrong += about[i].st_size != (i < 10 ? 2 : 3);
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < files; ++i) wrong += unlink(names[(i + 2) % files]) != 0;
  EXPECT(wrong == 0 && rmdir(folder) == 0);
}

/* Descriptors that main has opened, and those that a thread has. */
static void use_descriptors(void) {
  int file = -1, ends[2], wrong = 0;
  const char* const name = new_file(&file);
  const int threads = omp_get_max_threads();
  int* const each = malloc(64 * sizeof *each);
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 20; ++i) {
    char line[20];
    const int length = snprintf(line, sizeof line, "row %02d\n", i);
#pragma omp ordered
    wrong += write(file, line, (size_t)length) != length;
  }
  EXPECT(wrong == 0 && lseek(file, 0, SEEK_CUR) == 20 * 7);
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 20; ++i) {
    char line[8] = {0};
    struct stat about;
    wrong += pread(file, line, 7, 7 * i) != 7 || atoi(line + 4) != i;
    wrong += fstat(file, &about) != 0 || about.st_size != 140;
    wrong += pwrite(file, "ROW", 3, 7 * i) != 3;
  }
  EXPECT(wrong == 0 && lseek(file, 0, SEEK_SET) == 0);
  int sum = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong, sum)
  for (int i = 0; i < 20; ++i) {
    char line[8] = {0};
#pragma omp critical
    wrong += read(file, line, 7) != 7;
    wrong += strncmp(line, "ROW", 3) != 0;
    sum += atoi(line + 4);
  }
  EXPECT(wrong == 0 && sum == 190);
#pragma omp parallel num_threads(threads)
  each[omp_get_thread_num()] = open(name, O_RDONLY);
  for (int i = 0; i < threads; ++i) {
    char line[8] = {0};
    EXPECT(read(each[i], line, 7) == 7 && strcmp(line, "ROW 00\n") == 0);
    for (int j = 0; j < i; ++j) EXPECT(each[i] != each[j]);
  }
  EXPECT(pipe(ends) == 0);
#pragma omp parallel reduction(+ : wrong)
  wrong += write(ends[1], "x", 1) != 1;
  char got[64];
  EXPECT(wrong == 0 && read(ends[0], got, sizeof got) == threads);
#pragma omp parallel reduction(+ : wrong)
  {
    const int copy = dup(file);
    wrong += copy < 0 || pread(copy, got, 0, 0) != 0 || close(copy) != 0 || dup(9999) != -1 || errno != EBADF;
    wrong += close(each[omp_get_thread_num()]) != 0;
  }
  EXPECT(wrong == 0 && close(ends[0]) == 0 && close(ends[1]) == 0 && close(file) == 0 && unlink(name) == 0);
}

/* Waits for descriptors of main, and moves bytes between them. */
static void use_several_descriptors(void) {
  int descriptor = -1, ends[2], wrong = 0;
  char* const name = strdup(new_file(&descriptor));
  int sockets[2];
  char text[200] = {0};
  const int copy = memfd_create("copy", 0), set = epoll_create1(0);
  FILE* const temporary = tmpfile();
  EXPECT(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  EXPECT(write(descriptor, "0123456789", 10) == 10 && fputs("abc", temporary) >= 0 && fflush(temporary) == 0);
  struct epoll_event added = {.events = EPOLLIN};
  EXPECT(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &added) == 0);
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 8; ++i) {
    struct pollfd files[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}};
    struct epoll_event happened;
    struct timeval limit = {1, 0};
    fd_set reads, writes;
    char byte[4] = {0};
    off_t at = 2;
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_SET(ends[0], &reads);
    FD_SET(ends[1], &writes);
    FD_SET(sockets[0], &reads);
    wrong += poll(files, 2, 1000) != 2 || files[0].revents != POLLIN || files[1].revents != POLLOUT;
    wrong += epoll_wait(set, &happened, 1, 1000) != 1;
#pragma omp ordered
    {
      wrong += select(sockets[1] + 1, &reads, &writes, NULL, &limit) != 2 || FD_ISSET(sockets[0], &reads);
      wrong += send(sockets[0], "y", 1, 0) != 1 || recv(sockets[1], byte, 1, 0) != 1 || byte[0] != 'y';
      wrong += sendfile(copy, descriptor, &at, 3) != 3 || at != 5;
      wrong += pread(fileno(temporary), byte, 3, 0) != 3 || strcmp(byte, "abc") != 0;
      wrong += dprintf(copy, "-%d\n", i) != 3;
    }
  }
  EXPECT(wrong == 0 && pread(copy, text, sizeof text, 0) == 48 && strncmp(text, "234-0\n234-1\n", 12) == 0);
  EXPECT(close(set) == 0 && close(copy) == 0 && fclose(temporary) == 0 && close(sockets[0]) == 0);
  EXPECT(close(sockets[1]) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0 && close(descriptor) == 0);
  EXPECT(unlink(name) == 0);
  free(name);
}

static void expect_text(const char* name, const char* expected) {
  char text[400] = {0};
  FILE* const file = fopen(name, "r");
  EXPECT(file != NULL && fread(text, 1, sizeof text - 1, file) > 0 && fclose(file) == 0);
  if (strcmp(text, expected) != 0) fprintf(stderr, "%s\ninstead of\n%s\n", text, expected);
  EXPECT(strcmp(text, expected) == 0);
}

/* Parts of lines, to a stream and to stdout, which is a file meanwhile. */
static void print_in_order(void) {
  int descriptor = -1;
  char* const name = strdup(new_file(&descriptor));
  close(descriptor);
  FILE* const file = fopen(name, "w");
  fprintf(file, "begin ");
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 9; ++i) {
#pragma omp ordered
    {
      fprintf(file, "%d", i);
      fputs(" ", file);
      if (i == 4) fwrite("half ", 1, 5, file), fputc('\n', file);
    }
  }
  fprintf(file, "end\n");
#pragma omp parallel num_threads(omp_get_max_threads())
  if (omp_get_thread_num() == omp_get_num_threads() - 1) fputs("last\n", file);
  fputs("after\n", file);
  fclose(file);
  expect_text(name, "begin 0 1 2 3 4 half \n5 6 7 8 end\nlast\nafter\n");
  fflush(stdout);
  const int before = dup(1), there = open(name, O_WRONLY | O_TRUNC | O_APPEND);
  EXPECT(before >= 0 && dup2(there, 1) == 1);
  printf("begin ");
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 9; ++i) {
#pragma omp ordered
    {
      printf("%d", i);
      putchar(' ');
      if (i == 4) puts("half");
    }
  }
  printf("end\n");
  fflush(stdout);
  EXPECT(dup2(before, 1) == 1 && close(before) == 0 && close(there) == 0);
  expect_text(name, "begin 0 1 2 3 4 half\n5 6 7 8 end\n");
  unlink(name);
#pragma omp parallel
  {
  }
}

static volatile sig_atomic_t signals;
static void count_signal(int number) { signals += number == SIGUSR1; }

/* main changes its process, and the regions see it. */
static void change_the_process(void) {
  int descriptor = -1, wrong = 0;
  char before[4096], folder[] = "/tmp/openmp-XXXXXX";
  EXPECT(getcwd(before, sizeof before) != NULL && mkdtemp(folder) != NULL && chdir(folder) == 0);
  descriptor = open("here", O_CREAT | O_RDWR, 0600);
  const mode_t mask = umask(077);
  EXPECT(setenv("OPENMP_WORD", "one", 1) == 0 && putenv(strdup("OPENMP_OTHER=two")) == 0);
  static char text[] = "OPENMP_TEXT=before";
  EXPECT(putenv(text) == 0);
  EXPECT(setenv("OPENMP_WORD", "none", 0) == 0 && setenv("OPENMP_GONE", "x", 1) == 0 && unsetenv("OPENMP_GONE") == 0);
  struct sigaction action = {.sa_handler = count_signal};
  EXPECT(sigaction(SIGUSR1, &action, NULL) == 0 && setlocale(LC_ALL, "C.UTF-8") != NULL);
  struct rlimit limit = {0, 0};
  EXPECT(setrlimit(RLIMIT_CORE, &limit) == 0);
#pragma omp parallel reduction(+ : wrong)
  {
    char here[4096];
    struct rlimit core;
    const char* const word = getenv("OPENMP_WORD");
    const char* const other = getenv("OPENMP_OTHER");
    wrong += access("here", R_OK) != 0 || getcwd(here, sizeof here) == NULL || strcmp(here, folder) != 0;
    wrong += word == NULL || strcmp(word, "one") != 0 || other == NULL || strcmp(other, "two") != 0;
    const char* const of_text = getenv("OPENMP_TEXT");
    wrong += of_text == NULL || strcmp(of_text, "before") != 0;
    wrong += getenv("OPENMP_GONE") != NULL || strcmp(setlocale(LC_ALL, NULL), "C.UTF-8") != 0;
    wrong += getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0;
#pragma omp critical
    wrong += raise(SIGUSR1) != 0;
  }
  EXPECT(wrong == 0 && signals == omp_get_max_threads());
  strcpy(strchr(text, '='), "=after");
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 8; ++i) {
    const char* const of_text = getenv("OPENMP_TEXT");
    wrong += of_text == NULL || strcmp(of_text, "after") != 0;
    char name[8];
    struct stat about;
    snprintf(name, sizeof name, "new%d", i);
    const int made = open(name, O_CREAT | O_WRONLY, 0666);
    wrong += made < 0 || fstat(made, &about) != 0 || (about.st_mode & 0777) != 0600 || close(made) != 0;
    unlink(name);
  }
  EXPECT(wrong == 0 && close(descriptor) == 0 && unlink("here") == 0);
  umask(mask);
  setlocale(LC_ALL, "C");
  EXPECT(chdir(before) == 0 && rmdir(folder) == 0);
}

int main(void) {
  name_files_elsewhere();
  use_descriptors();
  use_several_descriptors();
  print_in_order();
  change_the_process();
  map_memory();
  map_in_parts();
  map_files();
  map_what_has_no_name();
  puts("ok");
  return 0;
}
