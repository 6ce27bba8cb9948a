// The handler of SIGBUS and SIGSEGV. It may interrupt any code of the program, so what it calls allocates nothing
// and takes only locks that no holder can fault under; the exception is the way out, when the job is going to end.
//
// A program may have handlers of its own, and may install them at any time: sigaction() and signal() of this library
// stand before the C library's, and keep for these two signals what the program asks for as the handler to pass on to.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/debugger.hpp"
#include "base/log.hpp"
#include "base/symbols.hpp"
#include "memory/memory.hpp"

extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*) __attribute__((weak));

namespace hiroba {

namespace {

// A signal handler has no argument of ours, so this is where it finds its Memory: one per process.
std::atomic<Memory*> current{nullptr};
struct sigaction previous_bus, previous_segv, previous_trap;  // what the program wants
// The last access that was not ours. The handler of another library (Open MPI, UCX) may raise the signal again, without
// the address.
std::atomic<void*> bad_access{nullptr};
std::atomic<bool> had_bad_access{false};

// The C library's own: in a shared library behind ours, in a static program under its internal name.
using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);
Sigaction system_sigaction() {
  static const auto next = reinterpret_cast<Sigaction>(dlsym(RTLD_NEXT, "sigaction"));
  return next != nullptr ? next : &__sigaction;
}

struct sigaction& wanted(int signal) {
  return signal == SIGBUS ? previous_bus : signal == SIGSEGV ? previous_segv : previous_trap;
}
// SIGTRAP only where races are looked for: a debugger, or the program, may want it.
std::span<const int> our_signals(const Memory& memory) {
  static constexpr int signals[] = {SIGBUS, SIGSEGV, SIGTRAP};
  return {signals, memory.finds_races() ? 3U : 2U};
}

bool is_ours(int signal) {
  const Memory* const memory = current.load(std::memory_order_relaxed);
  if (memory == nullptr) return false;
  const std::span<const int> ours = our_signals(*memory);
  return std::find(ours.begin(), ours.end(), signal) != ours.end();
}

const char* kind(int signal) {
  return signal == SIGBUS ? "bus error" : signal == SIGSEGV ? "segmentation fault" : "trap";
}

// What is printed allocates and takes locks, of which the program may hold one: then the alarm ends the process, which
// has told what happened before.
void print_crash() {
  constexpr unsigned seconds = 10;
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  system_sigaction()(SIGALRM, &standard, nullptr);
  alarm(seconds);
  print_stack();
  alarm(0);
}

// Where the program's own handler, if any, takes over; else the crash is reported and the default action ends us.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = wanted(signal);
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  stop_at_crash(kind(signal));
  if (first_to_report(128 + signal)) {
    if (had_bad_access.load())
      log_line("%s at address %p, which is not in a shared array; the program crashed here:", kind(signal),
               bad_access.load());
    else
      log_line("the program was ended by the signal of a %s, which process %d has sent:", kind(signal), info->si_pid);
    print_crash();
  }
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  system_sigaction()(signal, &standard, nullptr);  // the access is repeated on return, and ends the process
  if (signal == SIGTRAP) raise(signal);            // a trap is not
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  Memory* const memory = current.load(std::memory_order_acquire);
  const bool by_access = info->si_code > 0;  // not sent by kill()
  if (memory != nullptr && signal == SIGTRAP && memory->record_trap(*static_cast<ucontext_t*>(context))) {
    // the one instruction that was to be seen is over
  } else if (memory == nullptr || !by_access || signal == SIGTRAP || !memory->contains(info->si_addr)) {
    if (by_access && signal != SIGTRAP) bad_access.store(info->si_addr), had_bad_access.store(true);
    pass_on(signal, info, context);
  } else if (!(signal == SIGSEGV && memory->record_fault(info->si_addr, *static_cast<ucontext_t*>(context))) &&
             !memory->serve_fault(info->si_addr)) {
    Array* array = nullptr;
    const bool inside = memory->find(info->si_addr, array).ok() && !memory->is_guard(info->si_addr);
    stop_at_crash(inside ? kind(signal) : memory->explain(info->si_addr).c_str());
    if (first_to_report(128 + signal)) {
      if (inside) log_line("%s inside array %s: the machine has no memory left for it", kind(signal), array->name);
      else log_line("%s: %s", kind(signal), memory->explain(info->si_addr).c_str());
      print_crash();
    }
    tell_launcher(128 + signal);
    _exit(128 + signal);
  }
  errno = saved;
}

}  // namespace

void install_fault_handler(Memory* memory) {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // NODEFER: the program's own handler may leave with longjmp. ONSTACK: it may want a stack of its own for overflows.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  for (const int signal : our_signals(*memory)) system_sigaction()(signal, &action, &wanted(signal));
  current.store(memory, std::memory_order_release);
}

Memory* served_memory() { return current.load(std::memory_order_acquire); }

void remove_fault_handler() {
  const Memory* const memory = current.exchange(nullptr);
  for (const int signal : our_signals(*memory)) system_sigaction()(signal, &wanted(signal), nullptr);
}

}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction* action,
                                                                struct sigaction* old) noexcept {
  if (!hiroba::is_ours(signal)) return hiroba::system_sigaction()(signal, action, old);
  struct sigaction& wanted = hiroba::wanted(signal);
  const struct sigaction before = wanted;
  if (action != nullptr) wanted = *action;
  if (old != nullptr) *old = before;
  return 0;
}

extern "C" __attribute__((visibility("default"))) sighandler_t signal(int signal, sighandler_t handler) noexcept {
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
