#include "memory/space/faults.hpp"

// The handler of SIGBUS and SIGSEGV, and those of other signals that end the program. It may interrupt any code of the
// program, so the functions that it calls allocate nothing and take only locks that no holder can fault under; except
// when the job is going to end.
//
// A program may have handlers of its own, and may install them at any time. sigaction() and signal() of this library
// replace the C library's; for these two signals they store the program's handler, which is called for faults that are
// not ours. For other signals the program's handler replaces ours.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "base/debug/symbols.hpp"
#include "base/debug/whereabouts.hpp"
#include "base/debugger.hpp"
#include "base/ending.hpp"
#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "base/thread.hpp"
#include "memory/parts.hpp"
#include "memory/record/array_record.hpp"
#include "memory/space/ended_memory.hpp"
#include "memory/space/fault_kind.hpp"
#include "memory/space/program.hpp"
#include "memory/space/trampoline.hpp"

extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*) __attribute__((weak));

namespace hiroba {

namespace {

// A signal handler has no argument for this, so it finds here what it serves: one per process.
std::atomic<MemoryParts*> current{nullptr};
std::atomic<const EndedMemory*> ended{nullptr};               // after the end
struct sigaction previous_bus, previous_segv, previous_trap;  // the program's actions
// The last access that was not ours. The handler of another library (Open MPI, UCX) may raise the signal again without
// the address.
std::atomic<void*> bad_access{nullptr};
std::atomic<bool> had_bad_access{false};
std::atomic<bool> forked{false};  // in a child of the rank

// Finds the C library's own function: in the shared library after this one, in a static program by its internal name.
using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);
Sigaction system_sigaction() {
  static const auto next = reinterpret_cast<Sigaction>(dlsym(RTLD_NEXT, "sigaction"));
  return next != nullptr ? next : &__sigaction;
}

struct sigaction& wanted(int signal) {
  return signal == SIGBUS ? previous_bus : signal == SIGSEGV ? previous_segv : previous_trap;
}
// SIGTRAP is ours only if races are looked for: a debugger, or the program, may want it.
std::span<const int> our_signals(const MemoryParts& parts) {
  static constexpr int signals[] = {SIGBUS, SIGSEGV, SIGTRAP};
  return {signals, parts.races.on() ? 3U : 2U};
}

bool is_ours(int signal) {
  const MemoryParts* const parts = current.load(std::memory_order_relaxed);
  if (parts == nullptr) return false;
  const std::span<const int> ours = our_signals(*parts);
  return std::find(ours.begin(), ours.end(), signal) != ours.end();
}

// These end the program, and not because of an access to memory that could be served.
constexpr int ending_signals[] = {SIGABRT, SIGFPE, SIGILL, SIGTERM};

const char* kind(int signal) {
  switch (signal) {
    case SIGBUS: return "bus error";
    case SIGSEGV: return "segmentation fault";
    case SIGABRT: return "abort was called";
    case SIGFPE: return "arithmetic error, such as a division by zero";
    case SIGILL: return "illegal instruction";
    default: return "trap";
  }
}

bool is_sent(const siginfo_t& info) { return info.si_code <= 0; }  // by kill() or raise(), not by the processor

// A process that the rank has forked is a copy of it, with its buffers, but its end does not end the job.
bool is_rank() {
  const MemoryParts* const p = current.load(std::memory_order_acquire);
  return p == nullptr || p->board->rank(p->job.rank).pid.load(std::memory_order_relaxed) == getpid();
}

// Printing allocates and takes locks, which the program may hold. The message about the crash has been printed before.
void print_crash(int signal) {
  constexpr unsigned seconds = 10;
  const EndWithin limit(seconds, 128 + signal);
  print_stack();
}

// Ends the process by the signal's default action, also if the access could be repeated by now: printing the stack may
// have mapped memory at its address. The signal is sent again with what the processor has told, for a core file.
[[noreturn]] void end_by(int signal, const siginfo_t& info) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  system_sigaction()(signal, &standard, nullptr);
  sigset_t open;
  sigemptyset(&open);
  sigaddset(&open, signal);
  pthread_sigmask(SIG_UNBLOCK, &open, nullptr);
  siginfo_t again = info;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, &again);
  raise(signal);
  _exit(128 + signal);
}

// Reports the crash, and ends the process.
[[noreturn]] void crash(int signal, const siginfo_t& info) {
  if (!is_rank()) end_by(signal, info);
  const bool by_itself = info.si_pid == getpid();
  char what[80];
  std::snprintf(what, sizeof what, "the program crashed by signal %d (%s)", signal, sigabbrev_np(signal));
  stop_at_crash(signal == SIGSEGV || signal == SIGBUS ? kind(signal) : what);
  if (first_to_report(128 + signal)) {
    if (is_sent(info) && !by_itself)
      log_line("the program was ended by signal %d (%s), which process %d has sent; it was here:", signal,
               strsignal(signal), info.si_pid);
    else if ((signal == SIGSEGV || signal == SIGBUS) && had_bad_access.load())
      log_line("%s at address %p, which is not in a shared array%s; the program crashed here:", kind(signal),
               bad_access.load(), phrases().stray);
    else if (is_sent(info) && signal != SIGABRT)
      log_line("the program has sent itself signal %d (%s):", signal, strsignal(signal));
    else log_line("%s; the program crashed here:", kind(signal));
    print_crash(signal);
  }
  tell_launcher_afterwards(128 + signal);
  end_by(signal, info);
}

void handle_crash(int signal, siginfo_t* info, void*) { crash(signal, *info); }

// A launcher ends the ranks of a job that has failed. A rank that waits in a call of the library is in no function of
// the C library, so its buffers are whole.
void handle_end(int signal, siginfo_t* info, void*) {
  const MemoryParts* const p = current.load(std::memory_order_acquire);
  if (p != nullptr && is_rank() && p->board->rank(p->job.rank).waiting.load(std::memory_order_relaxed) != 0) {
    const EndWithin limit(1, 128 + signal);
    flush_program_output();
  }
  end_by(signal, *info);
}

using Handler = void (*)(int, siginfo_t*, void*);
Handler standard_handler(int signal) { return signal == SIGTERM ? handle_end : handle_crash; }

bool is_standard(int signal, const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == standard_handler(signal);
}

// Calls the program's own handler, if any; else reports the crash.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction previous = wanted(signal);
  if ((previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) wanted(signal) = {};
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler == SIG_IGN && is_sent(*info)) return;
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  crash(signal, *info);
}

// Option check: records an access to a page that is closed for this; returns false if it is not one.
bool record(MemoryParts& p, const siginfo_t& info, ucontext_t& context) {
  return p.races.on() && info.si_signo == SIGSEGV && p.races.recorder().on_fault(info.si_addr, context);
}

size_t element_at(const Array& array, const void* address) {
  const char* const at = std::max(static_cast<const char*>(address), static_cast<const char*>(array.data));
  return static_cast<size_t>(at - array.data) / array.distribution.element_bytes();
}

// A child of fork() cannot speak for the rank: nobody fetches for it what is not here, which it would read as zero, nor
// tells other nodes what it writes. So it may read what was here, and the rest faults.
void close_to_child(MemoryParts& p) {
  if (p.cache == nullptr) return;
  const Copies& copies = p.cache->copies;
  const auto protect = [&](uint64_t page, uint64_t pages, int access) {
    mprotect(copies.view(page), pages << page_shift, access);
  };
  p.table.for_each_live([&](Array& array) {
    const auto here = [&](int rank) { return p.is_here(rank); };
    array.for_each_run_of(here, [&](uint64_t page, uint64_t pages) { protect(page, pages, PROT_READ); });
    array.for_each_run_of([&](int rank) { return !here(rank); },
                          [&](uint64_t page, uint64_t pages) { protect(page, pages, PROT_NONE); });
  });
  const auto readable = [&](uint64_t page) {
    return p.states.state(page) == PageState::valid || p.states.flag(page, PageStates::replica);
  };
  copies.for_each_piece([&](const Copies::Piece& piece) {
    for (uint64_t page = piece.first; page < piece.end;) {
      const uint64_t first = page;
      while (page < piece.end && readable(page)) ++page;
      if (page > first) protect(first, page - first, PROT_READ);
      else ++page;
    }
  });
}

// Ends the child: the rank would not know of what is fetched or written for it.
[[noreturn]] void refuse_child(const Array& array, const void* address, FaultKind kind) {
  log_line(
      "array %s, element %zu%s: process %d, a child that this rank has made by fork, %s; a child may read what was on "
      "this node before the fork, and write on one node only: let the rank itself do this, and the child hand over "
      "values, as by a pipe or a queue",
      array.name, element_at(array, address), interpreted_place().c_str(), static_cast<int>(getpid()),
      kind == FaultKind::load ? "reads a page of another node" : "writes a page that other nodes may have a copy of");
  _exit(1);
}

// Ends a child that uses what is closed to it.
void look_at_child(const MemoryParts& p, const void* address, FaultKind kind) {
  if (!forked.load(std::memory_order_relaxed) || p.cache == nullptr) return;
  if (const Array* const array = p.table.live(p.page_of(address))) refuse_child(*array, address, kind);
}

// Serves an access to an absent page, by the instruction at `code`; returns false if it is not one.
bool serve(MemoryParts& p, const void* address, FaultKind kind, const void* code) {
  Array* const array = p.table.live(p.page_of(address));
  if (array == nullptr || p.cache == nullptr) return false;
  const InLibrary library;
  p.transport->faulting(true);
  if (p.checks_promises && array->preloaded.load()) {
    end_job(
        1,
        "element %zu of array %s has not been preloaded since the last synchronisation, as %s promises; preload it, "
        "or leave out the promise",
        element_at(*array, address), array->name, array->preloaded_by);
  }
  const double begin = p.times.now();
  uint64_t fetched = 0;
  const bool served = p.cache->fetches.fault(*array, p.page_of(address), kind, &fetched);
  const double end = p.times.now();
  if (recording() && served) note_fault(code, record_number(*array), address, fetched, begin, end);
  p.transport->faulting(false);
  return served;
}

// Opens a home page that is closed to detect touches, or because nobody wrote it; returns false if the access is not to
// one.
bool open_closed(MemoryParts& p, const siginfo_t& info) {
  if (info.si_signo != SIGSEGV) return false;
  const uint64_t page = p.page_of(info.si_addr);
  Array* const array = p.table.live(page);
  if (array == nullptr || !p.is_here(array->home(page).rank)) return false;
  // Each returns true also if another thread has just opened the page for it, so both are asked.
  const bool touched = p.touches.used() && p.touches.open(*array, page);
  const bool quiet = p.cache != nullptr && array->closable && p.home_writes.quiet().open(page);
  return touched || quiet;
}

// Ends the process after an access that cannot be served. The message has the kind of the signal and `name`; a debugger
// shows `what`.
[[noreturn]] void refuse(int signal, const char* what, const char* message, const char* name) {
  stop_at_crash(what);
  if (first_to_report(128 + signal)) {
    log_line(message, kind(signal), name);
    print_crash(signal);
  }
  {
    const EndWithin limit(1, 128 + signal);
    flush_program_output();
  }
  tell_launcher(128 + signal);
  _exit(128 + signal);
}

[[noreturn]] void refuse(const MemoryParts& p, int signal, const void* address) {
  const Array* const array = p.arrays.at(address);
  if (array != nullptr && array->closed_pages != nullptr && signal == SIGSEGV)
    refuse(signal, kind(signal), "%s: %s", array->closed_pages);
  if (array != nullptr && !p.arrays.is_guard(address))
    refuse(signal, kind(signal), "%s inside array %s: the machine has no memory left for it", array->name);
  const std::string text = p.arrays.explain(address);
  refuse(signal, text.c_str(), "%s: %s", text.c_str());
}

// After the end of shared memory.
[[noreturn]] void refuse(const EndedMemory& was, int signal, const void* address) {
  const std::string text = was.explain(address);
  refuse(signal, text.c_str(), "%s: %s", text.c_str());
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  MemoryParts* const p = current.load(std::memory_order_acquire);
  ucontext_t& state = *static_cast<ucontext_t*>(context);
  const bool by_access = !is_sent(*info);
  if (p != nullptr && signal == SIGTRAP && p->races.on() && p->races.recorder().on_trap(state)) {
    // the one recorded instruction is over
  } else if (const EndedMemory* const was = ended.load(std::memory_order_acquire);
             was != nullptr && by_access && signal != SIGTRAP && was->contains(info->si_addr)) {
    refuse(*was, signal, info->si_addr);
  } else if (p == nullptr || !by_access || signal == SIGTRAP || !p->space.contains(info->si_addr)) {
    if (by_access && signal != SIGTRAP) bad_access.store(info->si_addr), had_bad_access.store(true);
    pass_on(signal, info, context);
  } else if (look_at_child(*p, info->si_addr, fault_kind(state));
             !follow_trampoline(state) && !record(*p, *info, state) && !open_closed(*p, *info) &&
             !serve(*p, info->si_addr, fault_kind(state), code_of(state))) {
    refuse(*p, signal, info->si_addr);
  }
  errno = saved;
}

}  // namespace

constexpr std::array crash_signals = {SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL};

KeptSignals::KeptSignals() {
  for (size_t i = 0; i < before_.size(); ++i) system_sigaction()(crash_signals[i], nullptr, &before_[i]);
}

KeptSignals::~KeptSignals() {
  for (size_t i = 0; i < before_.size(); ++i) system_sigaction()(crash_signals[i], &before_[i], nullptr);
}

void install_fault_handler(MemoryParts& parts) {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // NODEFER: the program's own handler may leave with longjmp. ONSTACK: it may want a stack of its own for overflows.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  for (const int signal : our_signals(parts)) system_sigaction()(signal, &action, &wanted(signal));
  for (const int signal : ending_signals) {
    struct sigaction now;
    system_sigaction()(signal, nullptr, &now);
    action.sa_sigaction = standard_handler(signal);
    if (now.sa_handler == SIG_DFL) system_sigaction()(signal, &action, nullptr);
  }
  current.store(&parts, std::memory_order_release);
  sigset_t blocked;  // by the process that started this one
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  leave_faults_open(blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  pthread_atfork(nullptr, nullptr, [] {
    forked.store(true);
    if (MemoryParts* const p = served_memory()) close_to_child(*p);
  });
}

MemoryParts* served_memory() { return current.load(std::memory_order_acquire); }

void remove_fault_handler(const char* call) {
  const MemoryParts& parts = *current.load();
  auto was = std::make_unique<const EndedMemory>(parts.arrays, parts.space, call);
  ended.store(was.release(), std::memory_order_release);  // never freed: any thread may use it at any time
  current.store(nullptr);
  if (parts.races.on()) system_sigaction()(SIGTRAP, &wanted(SIGTRAP), nullptr);
  struct sigaction standard = {}, now;
  for (const int signal : ending_signals) {
    system_sigaction()(signal, nullptr, &now);
    if (is_standard(signal, now)) system_sigaction()(signal, &standard, nullptr);
  }
}

}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction* action,
                                                                struct sigaction* old) noexcept {
  if (!hiroba::is_ours(signal)) {
    struct sigaction open = action != nullptr ? *action : (struct sigaction){};
    hiroba::leave_faults_open(open.sa_mask);
    const int result = hiroba::system_sigaction()(signal, action != nullptr ? &open : nullptr, old);
    if (result == 0 && old != nullptr && hiroba::is_standard(signal, *old)) *old = {};  // the program had none
    return result;
  }
  struct sigaction& wanted = hiroba::wanted(signal);
  const struct sigaction before = wanted;
  if (action != nullptr) wanted = *action;
  if (old != nullptr) *old = before;
  return 0;
}

// Our handler serves page faults, and prints stacks, on the stack that the program wants for signals: that of Python's
// faulthandler is 16 KiB. A smaller one than this is replaced, once for each thread.
extern "C" __attribute__((visibility("default"))) int sigaltstack(const stack_t* stack, stack_t* old) noexcept {
  // A sanitizer calls this before it can see any other call.
  const auto next = [old](const stack_t* wanted) { return static_cast<int>(syscall(SYS_sigaltstack, wanted, old)); };
  constexpr size_t enough = size_t{1} << 18;
  if (stack == nullptr || (stack->ss_flags & SS_DISABLE) != 0 || stack->ss_size >= enough) return next(stack);
  static thread_local void* memory = MAP_FAILED;
  if (memory == MAP_FAILED)
    memory = mmap(nullptr, enough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return next(stack);
  stack_t larger = *stack;
  larger.ss_sp = memory, larger.ss_size = enough;
  return next(&larger);
}

static sighandler_t install(int signal, sighandler_t handler, int flags) {
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

extern "C" __attribute__((visibility("default"))) sighandler_t signal(int signal, sighandler_t handler) noexcept {
  return install(signal, handler, SA_RESTART);
}

// Programs that are compiled as ISO C (-std=c11) call signal() by this name, with System V's meaning.
extern "C" __attribute__((visibility("default"))) sighandler_t __sysv_signal(int signal,
                                                                             sighandler_t handler) noexcept {
  return install(signal, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}
