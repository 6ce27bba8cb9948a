/* Threads of all ranks wait for each other by POSIX in regions. Prints "ok". */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EXPECT(holds) expect(holds, #holds, __LINE__)

enum { rounds = 60 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  printf("line %d: not %s\n", line, what);
  exit(1);
}

static void count_call(void) { ++calls; }

static void exclude(void) {
  pthread_mutex_t* const allocated = malloc(sizeof *allocated);
  pthread_mutexattr_t checks;
  sem_t semaphore;
  int count[6] = {0}, wrong = 0;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  EXPECT(pthread_mutex_init(allocated, &checks) == 0 && sem_init(&semaphore, 0, 1) == 0);
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    ++count[0];
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&recursive);
    wrong += pthread_mutex_lock(&recursive) != 0;
    ++count[1];
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(allocated);
    wrong += pthread_mutex_lock(allocated) != EDEADLK;
    ++count[2];
    pthread_mutex_unlock(allocated);
    sem_wait(&semaphore);
    ++count[3];
    sem_post(&semaphore);
    pthread_rwlock_wrlock(&readers);
    ++count[4];
    pthread_rwlock_unlock(&readers);
    pthread_rwlock_rdlock(&readers);
    wrong += count[4] == 0;
    pthread_rwlock_unlock(&readers);
    while (pthread_mutex_trylock(&mutex) != 0) {
    }
    ++count[5];
    pthread_mutex_unlock(&mutex);
    pthread_once(&once, count_call);
  }
  EXPECT(wrong == 0 && calls == 1);
  for (int i = 0; i < 6; ++i) EXPECT(count[i] == rounds);
  EXPECT(pthread_mutex_destroy(allocated) == 0 && sem_destroy(&semaphore) == 0);
  free(allocated);
}

static void wait_for_each_other(void) {
  const int threads = omp_get_max_threads();
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  int sum = 0, turn = 0, serial = 0, wrong = 0, late = 0;
  EXPECT(pthread_barrier_init(&barrier, NULL, (unsigned)threads) == 0 && pthread_spin_init(&spin, 0) == 0);
#pragma omp parallel num_threads(threads) reduction(+ : wrong, serial, late)
  {
    for (int i = 1; i <= 5; ++i) {
      pthread_spin_lock(&spin);
      ++sum;
      pthread_spin_unlock(&spin);
      serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
      wrong += sum != threads * i;
      pthread_barrier_wait(&barrier);
    }
    pthread_mutex_lock(&mutex);
    while (turn != omp_get_thread_num()) pthread_cond_wait(&condition, &mutex);
    ++turn;
    pthread_cond_broadcast(&condition);
    struct timespec past;
    clock_gettime(CLOCK_REALTIME, &past);
    late += pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT;
    pthread_mutex_unlock(&mutex);
  }
  EXPECT(wrong == 0 && serial == 5 && turn == threads && late > 0);
}

static void* add(void* value) {
  pthread_mutex_lock(&mutex);
  ++*(int*)value;
  pthread_mutex_unlock(&mutex);
  return value;
}

/* Threads that the program starts by itself are of one rank; those of main share what main has. */
static void start_threads(void) {
  pthread_t threads[4];
  int count = 0;
  for (int i = 0; i < 4; ++i) EXPECT(pthread_create(&threads[i], NULL, add, &count) == 0);
#pragma omp parallel for
  for (int i = 0; i < 20; ++i) add(&count);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  EXPECT(count == 24);
}

/* Each thread has a value of its own by a key of main. */
static void use_keys(void) {
  pthread_key_t key;
  int wrong = 0;
  EXPECT(pthread_key_create(&key, NULL) == 0);
#pragma omp parallel reduction(+ : wrong)
  {
    int own = 0;
    wrong += pthread_setspecific(key, &own) != 0;
#pragma omp barrier
    wrong += pthread_getspecific(key) != &own;
  }
  EXPECT(wrong == 0 && pthread_key_delete(key) == 0);
}

int main(void) {
  exclude();
  wait_for_each_other();
  start_threads();
  use_keys();
  puts("ok");
  return 0;
}
