#include "base/thread.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace hiroba {

int threads_per_rank() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const int threads = text == nullptr ? 1 : std::atoi(text);
  return std::max(1, threads);
}

// HIROBA_CPUS comes before the affinity: OpenMP's runtime binds the thread that loads it before main begins.
std::vector<int> cpus_of_rank() {
  if (const char* const bound = std::getenv("HIROBA_CPUS"))
    if (auto cpus = parse_numbers(bound)) return *cpus;
  std::vector<int> out;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) out.push_back(cpu);
  return out;
}

namespace {

void unbind(pthread_t thread) {
  if (std::getenv("HIROBA_CPUS") == nullptr) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus_of_rank())
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread, sizeof set, &set);  // if it fails, the thread keeps its creator's CPUs
}

}  // namespace

void leave_faults_open(sigset_t& blocked) {
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&blocked, fault);
}

Status start_thread(pthread_t& thread, const char* name, void* (*run)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  leave_faults_open(all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, nullptr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return Status::error("cannot start thread %s (%s)", name, explain_error(error).c_str());
  pthread_setname_np(thread, name);
  unbind(thread);
  return {};
}

Status Placement::parse(const std::string& text, Placement& out) {
  out = {};
  if (text == "none") out.kind = Kind::none;
  else if (text == "thread") out.kind = Kind::thread;
  else if (text == "spare") out.kind = Kind::spare;
  else if (text.starts_with("pin:")) {
    char* end = nullptr;
    const long cpu = std::strtol(text.c_str() + 4, &end, 10);
    if (end == text.c_str() + 4 || *end != '\0' || cpu < 0 || cpu >= CPU_SETSIZE)
      return Status::error("option progress=%s: pin: needs the number of a CPU, as in pin:3", text.c_str());
    out.kind = Kind::pin, out.cpu = static_cast<int>(cpu);
  } else {
    return Status::error("option progress=%s: it is none, thread, spare or pin:CPU", text.c_str());
  }
  return {};
}

Status Placement::apply(pthread_t thread) const {
  if (kind != Kind::pin) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  const int error = pthread_setaffinity_np(thread, sizeof set, &set);
  if (error == 0) return {};
  return Status::error("option progress=pin:%d: %s", cpu,
                       error == EINVAL ? "there is no such CPU, or this rank may not use it"
                                       : explain_error(error).c_str());
}

}  // namespace hiroba
