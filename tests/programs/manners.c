/* What programs may do beside shared memory, and must go on working: manners CASE. System calls on shared addresses,
 * signal handlers of their own, processes of their own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

enum { PAGES = 40, BYTES = PAGES * PAGE - 100 };

/* ---- shared memory at work ------------------------------------------------------------------------------- */

static unsigned char* bytes; /* spread over all ranks */
static int round_now;

static unsigned char value_of(int round, int byte) { return (unsigned char)mix2((uint64_t)round, (uint64_t)byte); }

/* Every rank writes bytes at home on others, and reads all. */
static void use_shared_memory(const char* when) {
  ++round_now;
  for (int b = sms_rank; b < BYTES; b += sms_nprocs) bytes[b] = value_of(round_now, b);
  sms_barrier();
  for (int b = 0; b < BYTES; ++b)
    if (bytes[b] != value_of(round_now, b))
      fail("manners, %s: byte %d is %u, expected %u, on rank %d", when, b, bytes[b], value_of(round_now, b), sms_rank);
  sms_barrier();
}

/* ---- system calls ---------------------------------------------------------------------------------------- */

static void check_file(int file, int round) {
  unsigned char* copy = malloc(BYTES);
  if (pread(file, copy, BYTES, 0) != BYTES) fail("manners: cannot read the file back");
  for (int b = 0; b < BYTES; ++b)
    if (copy[b] != value_of(round, b))
      fail("manners: write(2) from shared memory wrote %u as byte %d, expected %u", copy[b], b, value_of(round, b));
  free(copy);
}

/* The kernel cannot fetch pages: what calls it on absent ones brings them first. */
static void system_calls(void) {
  unsigned char* far = sms_alloc(1, BYTES, sms_nprocs - 1);
  const int file = memfd_create("manners", MFD_CLOEXEC);
  for (int b = 0; sms_rank == sms_nprocs - 1 && b < BYTES; ++b) far[b] = value_of(1, b);
  sms_barrier();
  if (sms_rank == 0) {
    if (pwrite(file, far, BYTES, 0) != BYTES) fail("manners: write(2) from absent pages gave errno %d", errno);
    check_file(file, 1);
  }
  sms_barrier();
  if (sms_rank == 0) {
    for (int b = 0; b < BYTES; ++b) {
      const unsigned char value = value_of(2, b);
      if (pwrite(file, &value, 1, b) != 1) fail("manners: cannot write the file");
    }
    sms_sync_drop();
    if (pread(file, far, BYTES, 0) != BYTES) fail("manners: read(2) into absent pages gave errno %d", errno);
  } else {
    sms_sync_drop();
  }
  sms_barrier();
  for (int b = 0; b < BYTES; ++b)
    if (far[b] != value_of(2, b))
      fail("manners: what read(2) stored is %u at byte %d, expected %u, on rank %d", far[b], b, value_of(2, b),
           sms_rank);
}

/* ---- signal handlers ------------------------------------------------------------------------------------- */

static sigjmp_buf back;
static volatile sig_atomic_t expecting, seen;
static struct sigaction runtime_action; /* that was there before ours */

/* The program's own faults, and nothing else, unless it passes on what it did not expect. */
static void handle(int number, siginfo_t* info, void* context) {
  if (expecting) {
    ++seen;
    siglongjmp(back, 1);
  }
  if (runtime_action.sa_sigaction != NULL && (runtime_action.sa_flags & SA_SIGINFO) != 0)
    runtime_action.sa_sigaction(number, info, context);
  else _exit(99);
}

static void install(int number, int passing_on) {
  struct sigaction mine = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  sigemptyset(&mine.sa_mask);
  struct sigaction before;
  if (sigaction(number, &mine, &before) != 0) fail("manners: sigaction");
  if (passing_on) runtime_action = before;
}

/* An access that the kernel answers with this signal. */
static void make_fault(int number) {
  static volatile int* volatile nowhere;
  static volatile char* past_end; /* of a file */
  if (past_end == NULL)
    past_end = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd_create("empty", MFD_CLOEXEC), 0);
  const int before = seen;
  expecting = 1;
  if (sigsetjmp(back, 1) == 0) {
    if (number == SIGSEGV) *nowhere = 1;
    else *past_end = 1;
  }
  expecting = 0;
  if (seen != before + 1) fail("manners: the program's handler did not see its own signal %d", number);
}

static void faults_and_memory(int number) {
  use_shared_memory("before a fault of the program");
  for (int i = 0; i < 3; ++i) {
    make_fault(number);
    use_shared_memory("after a fault of the program");
  }
}

static void segv_before(void) { faults_and_memory(SIGSEGV); }
static void bus_before(void) { faults_and_memory(SIGBUS); }
static void segv_passing_on(void) { install(SIGSEGV, 1), faults_and_memory(SIGSEGV); }
static void bus_passing_on(void) { install(SIGBUS, 1), faults_and_memory(SIGBUS); }
static void segv_after(void) { install(SIGSEGV, 0), faults_and_memory(SIGSEGV); }
static void bus_after(void) { install(SIGBUS, 0), faults_and_memory(SIGBUS); }

/* ---- blocked signals ------------------------------------------------------------------------------------- */

static void read_all(void) {
  for (int b = 0; b < BYTES; ++b)
    if (bytes[b] != value_of(round_now, b)) fail("manners: byte %d is %u with signals blocked", b, bytes[b]);
}
static void* read_in_thread(void* all) {
  if (all != NULL && pthread_sigmask(SIG_BLOCK, all, NULL) != 0) fail("manners: pthread_sigmask");
  read_all();
  return NULL;
}
static void read_in_handler(int number) { (void)number, read_all(); }

/* Reads pages that this rank does not have in a thread that blocks all signals, one that was made so, one that has got
 * it from its creator, and in a handler. */
static void blocked_signals(void) {
  sigset_t all, now;
  sigfillset(&all);
  pthread_attr_t made_so;
  pthread_attr_init(&made_so);
  if (pthread_attr_setsigmask_np(&made_so, &all) != 0) fail("manners: pthread_attr_setsigmask_np");
  for (int how = 0; how < 4; ++how) {
    use_shared_memory("before signals are blocked");
    sms_sync_drop();
    pthread_t thread;
    if (how == 2 && sigprocmask(SIG_SETMASK, &all, NULL) != 0) fail("manners: sigprocmask");
    if (how < 3) {
      pthread_create(&thread, how == 1 ? &made_so : NULL, read_in_thread, how == 0 ? &all : NULL);
      pthread_join(thread, NULL);
    } else {
      const struct sigaction action = {.sa_handler = read_in_handler, .sa_mask = all};
      if (sigaction(SIGUSR2, &action, NULL) != 0) fail("manners: sigaction");
      sigprocmask(SIG_SETMASK, NULL, &now);
      if (sigismember(&now, SIGUSR2) != 1 || sigismember(&now, SIGBUS) != 0) fail("manners: sigprocmask blocks others");
      sigdelset(&now, SIGUSR2);
      sigprocmask(SIG_SETMASK, &now, NULL);
      raise(SIGUSR2);
    }
    sms_barrier();
  }
}

/* ---- processes ------------------------------------------------------------------------------------------- */

static void children(void) {
  use_shared_memory("before a fork");
  for (int i = 0; i < 3; ++i) {
    if (system("exit 3") != 3 << 8) fail("manners: system() failed");
    const pid_t child = fork();
    if (child == 0 && i == 0) exit(5); /* runs what the program has registered with atexit */
    if (child == 0) _exit(5);
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5) fail("manners: a child process failed");
    use_shared_memory("after a fork");
  }
}

typedef struct manner {
  const char* name;
  void (*run)(void);
  int handler_before; /* signal for which to install a handler before sms_startup */
} manner;

static const manner manners[] = {
    {"system_calls", system_calls, 0},
    {"segv_before", segv_before, SIGSEGV},
    {"bus_before", bus_before, SIGBUS},
    {"segv_passing_on", segv_passing_on, 0},
    {"bus_passing_on", bus_passing_on, 0},
    {"segv_after", segv_after, 0},
    {"bus_after", bus_after, 0},
    {"blocked_signals", blocked_signals, 0},
    {"children", children, 0},
};

int main(int argc, char** argv) {
  const manner* found = NULL;
  for (size_t i = 0; i < sizeof manners / sizeof manners[0]; ++i)
    if (argc == 2 && strcmp(argv[1], manners[i].name) == 0) found = &manners[i];
  if (found == NULL) return 64;
  if (found->handler_before != 0) install(found->handler_before, 0);
  sms_startup(&argc, &argv);
  bytes = spread(BYTES, 1, 1);
  found->run();
  sms_barrier();
  sms_shutdown();
  return 0;
}
