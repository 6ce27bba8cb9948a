// The handler of SIGBUS and SIGSEGV. It may interrupt any code of the program, so what it calls allocates nothing
// and takes only locks that no holder can fault under; the exception is the way out, when the job is going to end.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "memory/memory.hpp"

namespace hiroba {

namespace {

// A signal handler has no argument of ours, so this is where it finds its Memory: one per process.
std::atomic<Memory*> current{nullptr};
struct sigaction previous_bus, previous_segv;

const char* kind(int signal) { return signal == SIGBUS ? "bus error" : "segmentation fault"; }

// Where the program's own handler, if any, takes over; else the crash is reported and the default action ends us.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = signal == SIGBUS ? previous_bus : previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  if (first_to_report()) {
    log_line("%s at address %p, which is not in a shared array; the program crashed here:", kind(signal), info->si_addr);
    log_backtrace();
  }
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);  // the access is repeated on return, and ends the process
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  Memory* const memory = current.load(std::memory_order_acquire);
  const bool by_access = info->si_code > 0;  // not sent by kill()
  if (memory == nullptr || !by_access || !memory->contains(info->si_addr)) {
    pass_on(signal, info, context);
  } else if (!memory->serve_fault(info->si_addr)) {
    Array* array = nullptr;
    const bool inside = memory->find(info->si_addr, array).ok();
    if (first_to_report()) {
      if (inside) log_line("%s inside array %s: the machine has no memory left for it", kind(signal), array->name);
      else log_line("%s: %s", kind(signal), memory->explain(info->si_addr).c_str());
      log_backtrace();
    }
    _exit(128 + signal);
  }
  errno = saved;
}

}  // namespace

void install_fault_handler(Memory* memory) {
  current.store(memory, std::memory_order_release);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // NODEFER: the program's own handler may leave with longjmp. ONSTACK: it may want a stack of its own for overflows.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGBUS, &action, &previous_bus);
  sigaction(SIGSEGV, &action, &previous_segv);
}

void remove_fault_handler() {
  sigaction(SIGBUS, &previous_bus, nullptr);
  sigaction(SIGSEGV, &previous_segv, nullptr);
  current.store(nullptr, std::memory_order_release);
}

}  // namespace hiroba
