/* Uses the C library and POSIX as OpenMP programs do, beside memory and descriptors: a function for each row of the
   table in docs/openmp.md. Prints "ok", from an exit handler. With a word: without timers, whose signals meet the steps
   of option check. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <omp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ; /* the program has the C library's variable then */

static int failed;
#define EXPECT(holds)                                         \
  do {                                                        \
    if (!(holds)) {                                           \
      fprintf(stderr, "line %d: not %s\n", __LINE__, #holds); \
      failed = 1;                                             \
    }                                                         \
  } while (0)

enum { files = 20 };
static int visited;

static int visit(const char* name, const struct stat* about, int kind, struct FTW* place) {
  visited += kind == FTW_F && about->st_size == 3 && name[place->base] == 'f';
  return 0;
}

static int is_file(const struct dirent* entry) { return entry->d_name[0] == 'f'; }

static int count_entries(const char* folder) {
  int count = 0;
  DIR* const directory = opendir(folder);
  if (directory == NULL) return -1;
  while (readdir(directory) != NULL) ++count;
  rewinddir(directory);
  if (readdir(directory) == NULL || closedir(directory) != 0) return -1;
  return count;
}

static void read_directories(void) {
  char folder[] = "/tmp/openmp-XXXXXX", name[320];
  struct dirent** entries = NULL;
  glob_t found;
  int wrong = 0;
  EXPECT(mkdtemp(folder) != NULL);
  for (int i = 0; i < files; ++i) {
    snprintf(name, sizeof name, "%s/f%d", folder, i);
    FILE* const file = fopen(name, "w");
    EXPECT(file != NULL && fputs("abc", file) >= 0 && fclose(file) == 0);
  }
  EXPECT(scandir(folder, &entries, is_file, alphasort) == files && strcmp(entries[2]->d_name, "f10") == 0);
  snprintf(name, sizeof name, "%s/f1*", folder);
  EXPECT(glob(name, 0, NULL, &found) == 0 && found.gl_pathc == 11);
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < files; ++i) {
    char own[320];
    snprintf(own, sizeof own, "%s/%s", folder, entries[i]->d_name);
    wrong += access(own, R_OK) != 0 || access(found.gl_pathv[i % 11], R_OK) != 0;
    wrong += count_entries(folder) != files + 2;
  }
  EXPECT(wrong == 0 && count_entries(folder) == files + 2);
  EXPECT(nftw(folder, visit, 8, FTW_PHYS) == 0 && visited == files);
  for (int i = 0; i < files; ++i) {
    snprintf(name, sizeof name, "%s/%s", folder, entries[i]->d_name);
    EXPECT(unlink(name) == 0);
    free(entries[i]);
  }
  free(entries);
  globfree(&found);
  EXPECT(rmdir(folder) == 0);
}

static void lock_files(void) {
  char name[] = "/tmp/openmp-XXXXXX";
  int wrong = 0, threads = 0;
  long value = 0;
  const int file = mkstemp(name);
  EXPECT(file >= 0 && write(file, &value, sizeof value) == sizeof value);
#pragma omp parallel reduction(+ : wrong, threads)
  {
    ++threads;
    for (int i = 0; i < 5; ++i) {
      long mine = 0;
      const int own = open(name, O_RDWR);
      wrong += own < 0 || flock(own, LOCK_EX) != 0 || pread(own, &mine, sizeof mine, 0) != sizeof mine;
      ++mine;
      wrong += pwrite(own, &mine, sizeof mine, 0) != sizeof mine || flock(own, LOCK_UN) != 0 || close(own) != 0;
    }
  }
  EXPECT(pread(file, &value, sizeof value, 0) == sizeof value && value == 5 * threads && wrong == 0);
  /* A lock of the process stays when it opens the file again. */
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 4}, other_lock = lock;
  EXPECT(fcntl(file, F_SETLK, &lock) == 0);
  const int other = open(name, O_RDWR);
  EXPECT(fcntl(other, F_OFD_SETLK, &other_lock) == -1);
  lock.l_type = F_UNLCK;
  EXPECT(fcntl(file, F_SETLK, &lock) == 0 && fcntl(other, F_OFD_SETLK, &other_lock) == 0 && close(other) == 0);
  EXPECT(lseek(file, 0, SEEK_SET) == 0 && lockf(file, F_LOCK, 8) == 0 && lockf(file, F_ULOCK, 8) == 0);
  EXPECT(close(file) == 0 && unlink(name) == 0);
}

static volatile sig_atomic_t alarms;
static void count_alarm(int number) { alarms += number == SIGALRM; }

static void use_timers(void) {
  struct sigaction action = {.sa_handler = count_alarm};
  struct itimerval once = {{0, 0}, {0, 5000}};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  struct itimerspec also_once = {{0, 0}, {0, 5000000}};
  timer_t timer;
  int wrong = 0;
  EXPECT(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &once, NULL) == 0);
  while (alarms < 1) usleep(1000);
  EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &also_once, NULL) == 0);
  while (alarms < 2) usleep(1000);
  EXPECT(timer_delete(timer) == 0);
#pragma omp parallel reduction(+ : wrong)
  {
    struct timespec wait = {0, 1000000}, left, now;
    struct timeval day;
    wrong += nanosleep(&wait, &left) != 0 || clock_gettime(CLOCK_MONOTONIC, &now) != 0;
    wrong += gettimeofday(&day, NULL) != 0 || time(NULL) + 1 < day.tv_sec; /* its clock is coarser */
  }
  EXPECT(wrong == 0);
}

/* Regions read what main has got of the C library. */
static void read_results(char** environment) {
  int others = 0;
  for (char** entry = environment; *entry != NULL; ++entry) others += strncmp(*entry, "HIROBA_", 7) != 0;
  const time_t when = 100000;
  int wrong = 0;
  EXPECT(setenv("OPENMP_SYSTEM_WORD", "hello", 1) == 0 && setenv("TZ", "Asia/Tokyo", 1) == 0);
  tzset();
  const char* const word = getenv("OPENMP_SYSTEM_WORD");
  const char* const text = ctime(&when);
  const struct tm* const there = localtime(&when);
  const char* const error = strerror(2);
#pragma omp parallel reduction(+ : wrong)
  {
    struct tm own, universal;
    char zone[8];
    wrong += strcmp(word, "hello") != 0 || strcmp(getenv("OPENMP_SYSTEM_WORD"), "hello") != 0;
    wrong += there->tm_hour != 12 || strncmp(text, "Fri Jan  2 12", 13) != 0;
    wrong += strcmp(error, "No such file or directory") != 0;
    wrong += gmtime_r(&when, &universal) == NULL || universal.tm_hour != 3;
    wrong += localtime_r(&when, &own) == NULL || own.tm_hour != 12 || mktime(&own) != when;
    wrong += strftime(zone, sizeof zone, "%Z", &own) == 0 || strcmp(zone, "JST") != 0;
  }
  EXPECT(wrong == 0);
#pragma omp parallel reduction(+ : wrong)
  {
    int first = 0, own = 0;
    for (char** entry = environ; *entry != NULL; ++entry) own += strcmp(*entry, "OPENMP_SYSTEM_WORD=hello") == 0;
    for (char** entry = environment; *entry != NULL; ++entry) first += strncmp(*entry, "HIROBA_", 7) != 0;
    wrong += own != 1 || first != others;
  }
  EXPECT(wrong == 0);
}

static void use_memory(void) {
  enum { count = 5000 };
  const int variable = count;
  int wrong = 0, values[variable], last = 0;
  char* const bytes = memset(alloca(10000), 7, 10000);
  for (int i = 0; i < count; ++i) values[i] = i;
#pragma omp parallel reduction(+ : wrong)
  {
    char* const own = memset(alloca(5000), omp_get_thread_num(), 5000);
#pragma omp for
    for (int i = 0; i < count; ++i) values[i] += bytes[i] + bytes[9999];
    wrong += own[4999] != omp_get_thread_num() || values[count - 1] != count + 13;
  }
  EXPECT(wrong == 0);
  char name[40];
  snprintf(name, sizeof name, "/openmp-%d", getpid());
  const int numbers[2] = {memfd_create("openmp", 0), shm_open(name, O_CREAT | O_RDWR, 0600)};
  for (int f = 0; f < 2; ++f) {
    const size_t size = 4 * count;
    EXPECT(numbers[f] >= 0 && ftruncate(numbers[f], size) == 0);
    int* const mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, numbers[f], 0);
    EXPECT(mapped != MAP_FAILED);
#pragma omp parallel for
    for (int i = 0; i < count; ++i) mapped[i] = i;
    EXPECT(msync(mapped, size, MS_SYNC) == 0 && pread(numbers[f], &last, 4, size - 4) == 4 && last == count - 1);
    EXPECT(munmap(mapped, size) == 0 && close(numbers[f]) == 0);
  }
  EXPECT(shm_unlink(name) == 0);
  char* grown = malloc(1);
  for (size_t size = 20; size < 2000; size += 20) memset(grown = realloc(grown, size), 1, size);
  free(grown);
  char* const here = getcwd(NULL, 0);
  char* const same = realpath(".", NULL);
  EXPECT(here != NULL && same != NULL && strcmp(here, same) == 0);
  free(here), free(same);
}

static void start_programs(void) {
  static pid_t children[64];
  static int statuses[64];
  char line[20] = "";
  char* const words[] = {"sh", "-c", "exit 4", NULL};
  pid_t child = 0;
  int status = 0, wrong = 0;
  EXPECT(system("exit 3") == 3 << 8);
  EXPECT(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0 && waitpid(child, &status, 0) == child);
  EXPECT(WEXITSTATUS(status) == 4);
  FILE* const output = popen("echo word", "r");
  EXPECT(output != NULL && fgets(line, sizeof line, output) != NULL && strcmp(line, "word\n") == 0);
  EXPECT(pclose(output) == 0);
#pragma omp parallel reduction(+ : wrong)
  {
    char got[20] = "";
    FILE* const own = popen("echo own", "r");
    const int thread = omp_get_thread_num();
    /* Words and status in memory of another rank. */
    posix_spawn_file_actions_t quiet;
    wrong += posix_spawn_file_actions_init(&quiet) != 0;
    wrong += posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0) != 0;
    wrong += posix_spawnp(&children[thread], "sh", &quiet, NULL, words, environ) != 0;
    wrong += posix_spawn_file_actions_destroy(&quiet) != 0;
    wrong += waitpid(children[thread], &statuses[thread], 0) != children[thread] || WEXITSTATUS(statuses[thread]) != 4;
    wrong += system(words[2]) != 4 << 8 || own == NULL || read(fileno(own), got, 4) != 4 || strcmp(got, "own\n") != 0;
    wrong += pclose(own) != 0;
  }
  EXPECT(wrong == 0);
  for (int list = 0; list < 2; ++list) {
    child = vfork();
    if (child == 0) list ? execle("/bin/sh", "sh", "-c", words[2], NULL, environ) : execvp(words[0], words);
    if (child == 0) _exit(9);
    EXPECT(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
  }
}

/* Threads begin with the mask that main has when the first region starts. */
static void block_a_signal(void) {
  int blocked = 0;
  sigset_t one;
  EXPECT(sigemptyset(&one) == 0 && sigaddset(&one, SIGUSR2) == 0 && pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
#pragma omp parallel reduction(+ : blocked)
  {
    sigset_t mask;
    blocked += sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR2) == 1;
  }
  EXPECT(blocked == omp_get_max_threads());
}

/* Exit handlers: of main, of a region in its process, and of a region in another rank. The last one prints. */
static int ended;
static void end_one(void) {
  if (++ended == 3) puts(failed ? "failed" : "ok");
}

static void end_with_a_region(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  EXPECT(threads == omp_get_max_threads());
  end_one();
}

int main(int argc, char** argv, char** environment) {
  (void)argv;
  block_a_signal();
  atexit(end_with_a_region);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) atexit(end_one);
    if (omp_get_thread_num() == omp_get_num_threads() - 1) atexit(end_one);
  }
  read_directories();
  lock_files();
  if (argc == 1) use_timers();
  read_results(environment);
  use_memory();
  start_programs();
  return 0;
}
