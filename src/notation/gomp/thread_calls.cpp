// Objects of POSIX and C++ by which threads wait for each other: threads of all ranks may use those in shared memory.
// The C library's functions act on a copy, and wake threads of their own process only, so each object has a protocol of
// its own in the memory that it has: words that are changed at their home, with the orders of locks. Objects in memory
// of the rank's own stay the C library's.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

extern "C" {
int __cxa_guard_acquire(int64_t*);
void __cxa_guard_release(int64_t*);
void __cxa_guard_abort(int64_t*);
}

namespace hiroba::openmp {

namespace {

bool is_shared(const void* object) {
  if (!process_started()) return false;
  const InRuntime runtime;
  PastCache::Place place = {};
  return process_memory("threads").past_cache().locate(object, place).ok();
}

// ---- waiting -----------------------------------------------------------------------------------------------------

struct Limit {
  clockid_t clock = CLOCK_REALTIME;
  const timespec* end = nullptr;  // null: none
  bool is_over() const {
    if (end == nullptr) return false;
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
  }
};

// Returns true when done() has returned true, false after the limit. Threads may wait for long, such as those of a
// pool: they look less and less often.
template <typename Done>
bool await(const Limit& limit, const Done& done) {
  constexpr useconds_t most_pause = 500;
  useconds_t pause = 20;
  for (Backoff backoff(200); !done();) {
    if (backoff.step()) continue;
    if (limit.is_over()) return false;
    usleep(pause);
    pause = std::min(2 * pause, most_pause);
  }
  return true;
}

int64_t* word(void* object) { return static_cast<int64_t*>(object); }

// Changes the value from `before`, with the orders of a change and a look; returns false if it has another one.
bool change(int64_t* word, uint64_t before, uint64_t after) {
  words::release(word);
  if (words::swap(word, before, after) != before) return false;
  words::acquire(word);
  return true;
}

// ---- mutexes: the words of the C library's, which initialisers and attributes have set -----------------------------

int this_thread() {
  static thread_local int number __attribute__((tls_model("initial-exec"))) = 0;
  constexpr int bits = 22;  // of the number of a thread
  if (number == 0) number = (process_memory("threads").job().rank + 1) << bits ^ gettid();
  return number;
}

uint32_t* lock_of(pthread_mutex_t* mutex) { return reinterpret_cast<uint32_t*>(&mutex->__data.__lock); }
bool is_kind(const pthread_mutex_t* mutex, int kind) { return (mutex->__data.__kind & 3) == kind; }

// Returns the result for a mutex that this thread has already; -1: it has not.
int lock_again(pthread_mutex_t* mutex, int busy) {
  if (is_kind(mutex, PTHREAD_MUTEX_NORMAL) || mutex->__data.__owner != this_thread()) return -1;
  if (is_kind(mutex, PTHREAD_MUTEX_ERRORCHECK)) return busy;
  return ++mutex->__data.__count, 0;
}

int got(pthread_mutex_t* mutex) {
  if (!is_kind(mutex, PTHREAD_MUTEX_NORMAL)) mutex->__data.__owner = this_thread();
  return 0;
}

int lock_mutex(pthread_mutex_t* mutex) {
  if (!is_shared(mutex)) return pthread_mutex_lock(mutex);
  if (const int result = lock_again(mutex, EDEADLK); result >= 0) return result;
  instance<Singles>().pass();
  words::lock(lock_of(mutex));
  return got(mutex);
}

int try_mutex(pthread_mutex_t* mutex) {
  if (!is_shared(mutex)) return pthread_mutex_trylock(mutex);
  if (const int result = lock_again(mutex, EBUSY); result >= 0) return result;
  return words::try_lock(lock_of(mutex)) ? got(mutex) : EBUSY;
}

int lock_until(pthread_mutex_t* mutex, const Limit& limit) {
  if (const int result = lock_again(mutex, EDEADLK); result >= 0) return result;
  return await(limit, [mutex] { return words::try_lock(lock_of(mutex)); }) ? got(mutex) : ETIMEDOUT;
}
int lock_by_time(pthread_mutex_t* mutex, const timespec* end) {
  return is_shared(mutex) ? lock_until(mutex, {CLOCK_REALTIME, end}) : pthread_mutex_timedlock(mutex, end);
}
int lock_by_clock(pthread_mutex_t* mutex, clockid_t clock, const timespec* end) {
  return is_shared(mutex) ? lock_until(mutex, {clock, end}) : pthread_mutex_clocklock(mutex, clock, end);
}

int unlock_mutex(pthread_mutex_t* mutex) {
  if (!is_shared(mutex)) return pthread_mutex_unlock(mutex);
  if (!is_kind(mutex, PTHREAD_MUTEX_NORMAL)) {
    if (mutex->__data.__owner != this_thread()) return EPERM;
    if (mutex->__data.__count > 0) return --mutex->__data.__count, 0;
    mutex->__data.__owner = 0;
  }
  words::unlock(lock_of(mutex));
  return 0;
}

// ---- condition variables: a word counts the signals, each of which wakes all ---------------------------------------

int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, const Limit& limit) {
  const uint64_t before = words::load(word(condition));
  unlock_mutex(mutex);
  const bool woken = await(limit, [&] { return words::load(word(condition)) != before; });
  lock_mutex(mutex);
  return woken ? 0 : ETIMEDOUT;
}
int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return is_shared(condition) ? wait_until(condition, mutex, {}) : pthread_cond_wait(condition, mutex);
}
int wait_by_time(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  if (!is_shared(condition)) return pthread_cond_timedwait(condition, mutex, end);
  constexpr unsigned is_monotonic = 2;
  const clockid_t clock = (condition->__data.__wrefs & is_monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return wait_until(condition, mutex, {clock, end});
}
int wait_by_clock(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* end) {
  if (!is_shared(condition)) return pthread_cond_clockwait(condition, mutex, clock, end);
  return wait_until(condition, mutex, {clock, end});
}
int signal_one(pthread_cond_t* condition) {
  return is_shared(condition) ? (words::add(word(condition), 1), 0) : pthread_cond_signal(condition);
}
int signal_all(pthread_cond_t* condition) {
  return is_shared(condition) ? (words::add(word(condition), 1), 0) : pthread_cond_broadcast(condition);
}
int end_condition(pthread_cond_t* condition) { return is_shared(condition) ? 0 : pthread_cond_destroy(condition); }

// ---- semaphores, barriers, locks for readers and writers, spin locks ----------------------------------------------

bool take_one(sem_t* semaphore) {
  const uint64_t value = words::load(word(semaphore));
  return value > 0 && change(word(semaphore), value, value - 1);
}
int wait_semaphore(sem_t* semaphore) {
  if (!is_shared(semaphore)) return sem_wait(semaphore);
  await({}, [semaphore] { return take_one(semaphore); });
  return 0;
}
int wait_semaphore_by_time(sem_t* semaphore, const timespec* end) {
  if (!is_shared(semaphore)) return sem_timedwait(semaphore, end);
  return await({CLOCK_REALTIME, end}, [semaphore] { return take_one(semaphore); }) ? 0 : (errno = ETIMEDOUT, -1);
}
int try_semaphore(sem_t* semaphore) {
  if (!is_shared(semaphore)) return sem_trywait(semaphore);
  return take_one(semaphore) ? 0 : (errno = EAGAIN, -1);
}
int post_semaphore(sem_t* semaphore) {
  if (!is_shared(semaphore)) return sem_post(semaphore);
  words::release(semaphore);
  words::add(word(semaphore), 1);
  return 0;
}
int value_of_semaphore(sem_t* semaphore, int* value) {
  if (!is_shared(semaphore)) return sem_getvalue(semaphore, value);
  *value = static_cast<int>(words::load(word(semaphore)));
  return 0;
}

// The C library has written the number of threads; before it is a word of zeros, which counts arrivals here.
int wait_barrier(pthread_barrier_t* barrier) {
  if (!is_shared(barrier)) return pthread_barrier_wait(barrier);
  const uint64_t threads = reinterpret_cast<const uint32_t*>(barrier)[2];
  words::release(barrier);
  const uint64_t arrival = words::add(word(barrier), 1), end = (arrival / threads + 1) * threads;
  await({}, [&] { return words::load(word(barrier)) >= end; });
  words::acquire(barrier);
  return arrival + 1 == end ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
int end_barrier(pthread_barrier_t* barrier) { return is_shared(barrier) ? 0 : pthread_barrier_destroy(barrier); }

// A word: the number of readers, or this.
constexpr uint64_t has_writer = uint64_t{1} << 32;

bool take_to_read(pthread_rwlock_t* lock) {
  const uint64_t value = words::load(word(lock));
  return value < has_writer && change(word(lock), value, value + 1);
}
bool take_to_write(pthread_rwlock_t* lock) { return words::load(word(lock)) == 0 && change(word(lock), 0, has_writer); }
int lock_to_read(pthread_rwlock_t* lock) {
  if (!is_shared(lock)) return pthread_rwlock_rdlock(lock);
  return await({}, [lock] { return take_to_read(lock); }), 0;
}
int lock_to_write(pthread_rwlock_t* lock) {
  if (!is_shared(lock)) return pthread_rwlock_wrlock(lock);
  return await({}, [lock] { return take_to_write(lock); }), 0;
}
int try_to_read(pthread_rwlock_t* lock) {
  if (!is_shared(lock)) return pthread_rwlock_tryrdlock(lock);
  return take_to_read(lock) ? 0 : EBUSY;
}
int try_to_write(pthread_rwlock_t* lock) {
  if (!is_shared(lock)) return pthread_rwlock_trywrlock(lock);
  return take_to_write(lock) ? 0 : EBUSY;
}
int unlock_both(pthread_rwlock_t* lock) {
  if (!is_shared(lock)) return pthread_rwlock_unlock(lock);
  words::release(lock);
  const bool writes = words::load(word(lock)) == has_writer;
  words::add(word(lock), writes ? ~has_writer + 1 : ~uint64_t{0});
  return 0;
}

uint32_t* spin_word(pthread_spinlock_t* lock) { return reinterpret_cast<uint32_t*>(const_cast<int*>(lock)); }
int begin_spin(pthread_spinlock_t* lock, int shared) {
  if (!is_shared(const_cast<int*>(lock))) return pthread_spin_init(lock, shared);
  *lock = 0;
  return 0;
}
int lock_spin(pthread_spinlock_t* lock) {
  if (!is_shared(const_cast<int*>(lock))) return pthread_spin_lock(lock);
  return words::lock(spin_word(lock)), 0;
}
int try_spin(pthread_spinlock_t* lock) {
  if (!is_shared(const_cast<int*>(lock))) return pthread_spin_trylock(lock);
  return words::try_lock(spin_word(lock)) ? 0 : EBUSY;
}
int unlock_spin(pthread_spinlock_t* lock) {
  if (!is_shared(const_cast<int*>(lock))) return pthread_spin_unlock(lock);
  return words::unlock(spin_word(lock)), 0;
}

// ---- what is done once: variables that are static in a function, pthread_once() -----------------------------------

// A word of 4 bytes: 0, `begun`, `done`. Returns true in the thread that has begun it, false when another has done it.
bool begin_once(uint32_t* once, uint32_t begun, uint32_t done) {
  const auto look = [once]() -> uint32_t {
    if (words::is_far(once)) return static_cast<uint32_t>(words::load_far(once, sizeof *once));
    return __atomic_load_n(once, __ATOMIC_ACQUIRE);
  };
  const auto begins = [once, begun] {
    if (words::is_far(once)) return words::swap_far(once, sizeof *once, 0, begun) == 0;
    uint32_t before = 0;
    return __atomic_compare_exchange_n(once, &before, begun, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  };
  bool first = false;
  await({}, [&] { return look() == done || (first = begins()); });
  words::acquire(once);
  return first;
}

void end_once(uint32_t* once, uint32_t before, uint32_t after) {
  words::release(once);
  if (words::is_far(once)) words::swap_far(once, sizeof *once, before, after);
  else __atomic_store_n(once, after, __ATOMIC_RELEASE);
}

constexpr uint32_t guard_done = 1, guard_begun = 0x100;  // the program itself looks at the first byte
uint32_t* guard_word(int64_t* guard) { return reinterpret_cast<uint32_t*>(guard); }
int begin_static(int64_t* guard) {
  if (!is_shared(guard)) return __cxa_guard_acquire(guard);
  return begin_once(guard_word(guard), guard_begun, guard_done) ? 1 : 0;
}
void end_static(int64_t* guard) {
  if (!is_shared(guard)) return __cxa_guard_release(guard);
  end_once(guard_word(guard), guard_begun, guard_done);
}
void abort_static(int64_t* guard) {
  if (!is_shared(guard)) return __cxa_guard_abort(guard);
  end_once(guard_word(guard), guard_begun, 0);
}

int call_once(pthread_once_t* once, void (*function)()) {
  if (!is_shared(once)) return pthread_once(once, function);
  constexpr uint32_t begun = 1, done = 2;
  auto* const word = reinterpret_cast<uint32_t*>(once);
  if (!begin_once(word, begun, done)) return 0;
  function();
  end_once(word, begun, done);
  return 0;
}

// Waits of C++ (std::atomic::wait, futures) look at the value again after each wake-up, which may come without a
// reason.
long call_system(long number, ...) {
  va_list list;
  va_start(list, number);
  long argument[6];
  for (long& each : argument) each = va_arg(list, long);
  va_end(list);
  constexpr long of_kind = FUTEX_CMD_MASK;
  if (number != SYS_futex || !is_shared(reinterpret_cast<void*>(argument[0])))
    return syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
  const long kind = argument[1] & of_kind;
  constexpr useconds_t pause = 50;
  if (kind == FUTEX_WAIT || kind == FUTEX_WAIT_BITSET) usleep(pause);
  return 0;
}

sem_t* open_semaphore(const char* name, ...) {
  log_line("sem_open(\"%s\") fails in an OpenMP program over ranks: use sem_init()", name);
  errno = ENOSYS;
  return SEM_FAILED;
}

}  // namespace

void add_thread_calls(std::vector<Import>& calls) {
  take(calls, "pthread_mutex_lock", lock_mutex), take(calls, "pthread_mutex_trylock", try_mutex);
  take(calls, "pthread_mutex_timedlock", lock_by_time), take(calls, "pthread_mutex_clocklock", lock_by_clock);
  take(calls, "pthread_mutex_unlock", unlock_mutex);
  take(calls, "pthread_cond_wait", wait_for), take(calls, "pthread_cond_timedwait", wait_by_time);
  take(calls, "pthread_cond_clockwait", wait_by_clock), take(calls, "pthread_cond_signal", signal_one);
  take(calls, "pthread_cond_broadcast", signal_all), take(calls, "pthread_cond_destroy", end_condition);
  take(calls, "sem_wait", wait_semaphore), take(calls, "sem_timedwait", wait_semaphore_by_time);
  take(calls, "sem_trywait", try_semaphore), take(calls, "sem_post", post_semaphore);
  take(calls, "sem_getvalue", value_of_semaphore), take(calls, "sem_open", open_semaphore);
  take(calls, "pthread_barrier_wait", wait_barrier), take(calls, "pthread_barrier_destroy", end_barrier);
  take(calls, "pthread_rwlock_rdlock", lock_to_read), take(calls, "pthread_rwlock_wrlock", lock_to_write);
  take(calls, "pthread_rwlock_tryrdlock", try_to_read), take(calls, "pthread_rwlock_trywrlock", try_to_write);
  take(calls, "pthread_rwlock_unlock", unlock_both);
  take(calls, "pthread_spin_init", begin_spin), take(calls, "pthread_spin_lock", lock_spin);
  take(calls, "pthread_spin_trylock", try_spin), take(calls, "pthread_spin_unlock", unlock_spin);
  take(calls, "__cxa_guard_acquire", begin_static), take(calls, "__cxa_guard_release", end_static);
  take(calls, "__cxa_guard_abort", abort_static), take(calls, "pthread_once", call_once);
  take(calls, "syscall", call_system);
}

}  // namespace hiroba::openmp
