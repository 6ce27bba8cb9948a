// The start of an OpenMP program over ranks: before its main, and before the constructors of its global objects, its
// variables become shared. Main runs on rank 0. In a job of one rank nothing of this happens: libgomp alone runs it.
#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>  // each rank's streams of C++ begin before the program's, which only rank 0 begins
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "base/secure.hpp"
#include "base/tables/phrases.hpp"
#include "notation/gomp/affinity.hpp"
#include "notation/gomp/calls.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"
#include "sms.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using Main = int (*)(int, char**, char**);
extern "C" pid_t fork();
extern "C" int __libc_start_main(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

namespace hiroba::openmp {

namespace {

struct Start {
  Main main;
  int argc;
  char** argv;
  void (*init)();
  void (*fini)();
  void* stack_end;
};
Start start;

void check_program(const Program& program) {
  if (program.begin == shared_base) return;
  end_job(1,
          "this OpenMP program lies at %#lx, and must lie at %#lx, so that all ranks share its variables; link it by "
          "hirobacc -fopenmp-nodes, or with the flags of `pkg-config --libs hiroba_openmp`",
          program.begin, shared_base);
}

// A makefile that names libgomp itself may do so too early.
void check_order() {
  Dl_info found = {}, here = {};
  dladdr(dlsym(RTLD_DEFAULT, "GOMP_parallel"), &found);
  dladdr(reinterpret_cast<void*>(check_program), &here);
  if (found.dli_fbase == here.dli_fbase) return;
  end_job(1, "%s is linked before libhiroba_openmp and takes its place; name it after it, or leave it to -fopenmp",
          found.dli_fname);
}

// clang's OpenMP calls another library than GCC's. A file that was compiled without -fopenmp has no regions.
void check_calls(int rank) {
  if (imports({"__kmpc_*"}))
    end_job(1,
            "code of this program was compiled by clang, whose OpenMP calls libomp: compile it by gcc, g++, gfortran");
  check_functions();
  if (rank == 0 && !imports({"GOMP_*", "omp_*"}) && !instance<Libraries>().have_new())
    log_line(
        "this program calls nothing of OpenMP, so rank 0 alone runs it; compile its files with -fopenmp-nodes, too, "
        "not only link it so");
  if (const auto library = library_that_calls("GOMP_parallel*"); rank == 0 && !library.empty())
    log_line(
        "%s has parallel regions, which rank 0 alone runs, and its variables are each rank's own: build it by hirobacc "
        "-fopenmp-nodes -shared",
        library.data());
}

// All ranks need libraries at the same addresses, because variables of the program may point to them: the program
// begins again without random addresses.
void keep_addresses(char** argv) {
  if (has_more_rights_than_user()) return;  // the start of the job refuses it
  constexpr const char* again = "OPENMP_STARTED_WITH_HIROBA";
  const int persona = personality(0xffffffff);
  if ((persona & ADDR_NO_RANDOMIZE) != 0 || std::getenv(again) != nullptr) return;
  if (personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE) == -1) return;  // check_addresses tells
  setenv(again, "1", 1);
  execv("/proc/self/exe", argv);
}

// Addresses that hold in all ranks: of functions of libraries, and of the first thread's variables.
void check_addresses(const void* here, const char* what) {
  const auto address = reinterpret_cast<int64_t>(here);
  const int64_t least = sms_reduce_int64(address, SMS_MIN), most = sms_reduce_int64(address, SMS_MAX);
  if (least == most) return;
  end_job(1,
          "libraries lie at other addresses than in other ranks (%s at %#lx to %#lx); OpenMP over ranks needs the "
          "same versions on all hosts, and the right to start without random addresses (personality; in a container: "
          "a seccomp profile that allows it)",
          what, least, most);
}

// The C library says in __libc_single_threaded that there is one thread, until the first other one begins, in each
// process: std::shared_ptr then counts without atomic operations. Here others run from the start.
void say_that_there_are_threads() {
  std::thread([] {}).join();
}

// The variable may be the program's, and is shared then: threads of the runtime must not look there.
void keep_own_word_of_threads() {
  static char single_threaded = 0;
  const Import own = {"__libc_single_threaded", &single_threaded};
  replace_imports(Users::libraries, {&own, 1});
}

std::vector<Import> program_calls() {
  std::vector<Import> calls;
  add_mapping_calls(calls);
  add_file_calls(calls);
  add_descriptor_calls(calls);
  add_process_calls(calls);
  add_fortran_calls(calls);
  add_thread_calls(calls);
  add_library_calls(calls);
  add_directory_calls(calls);
  add_result_calls(calls);
  return calls;
}

int serve() {
  Regions& regions = instance<Regions>();
  if (!regions.serves_elsewhere()) return regions.serve();
  int status = 0;
  std::thread([&] { status = regions.serve(); }).join();
  return status;
}

[[noreturn]] void end_rank(int status) {
  flush_program_output();
  instance<Objects>().end();
  sms_shutdown();
  if (status == 0 && findings() > 0) status = 1;
  _exit(status != 0 && (status & 0xff) == 0 ? 1 : status);
}

// The destructors of the executable use its variables, so they run before the job ends. Fortran's library then closes
// the files: to flush them would wait for ever after an error in a file, which the program's thread has not left.
void end_program() {
  instance<ExitHandlers>().run();
  dynamic_table().run_destructors();
  instance<Libraries>().run_destructors();
  instance<Mappings>().end();
  dynamic_table("libgfortran.so").run_destructors();
}

// Runs after the program's own exit handlers. The stack of main is shared memory, which ends with the job, so the rest
// happens on another one. Libraries have memory there that the program has made them allocate: they end with the
// process.
[[noreturn]] void end_on(int status) {
  end_program();
  is_main_thread = in_program = false;
  instance<Regions>().end(status);
  end_rank(status);
}

char* exit_stack() {
  alignas(64) static char stack[256 << 10];
  return stack + sizeof stack;
}

void leave(int status, void*) {
  if (!process_started()) return;
  if (!is_main_thread || member.spans) {
    if (status == 0) end_job_silently(0);
    end_job(status, "exit(%d) in a parallel region, or in a thread of the program's own", status);
  }
  Stacks::call_from(
      exit_stack(), [](void* value) { end_on(static_cast<int>(reinterpret_cast<intptr_t>(value))); },
      reinterpret_cast<void*>(static_cast<intptr_t>(status)));
}

char** shared_words(int argc, char** argv) {
  const InProgram program;
  char** const out = static_cast<char**>(std::malloc(sizeof(char*) * static_cast<size_t>(argc + 1)));
  for (int i = 0; i < argc; ++i) {
    out[i] = static_cast<char*>(std::malloc(std::strlen(argv[i]) + 1));
    std::strcpy(out[i], argv[i]);
  }
  out[argc] = nullptr;
  return out;
}

int program_main(int argc, char** argv, char** environment) {
  int count = 0;
  while (environment[count] != nullptr) ++count;
  return start.main(argc, argv, shared_words(count, environment));
}

void run_program(void*) {
  is_main_thread = in_program = true;
  Stacks::handle_faults_elsewhere();
  instance<Libraries>().run_constructors(start.argc, start.argv, environ);
  HIROBA_REAL(__libc_start_main)
  (program_main, start.argc, start.argv, start.init, start.fini, nullptr, start.stack_end);
}

}  // namespace

}  // namespace hiroba::openmp

using namespace hiroba;
using namespace hiroba::openmp;

EXPORT int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*loader_fini)(),
                             void* stack_end) {
  start = {main, argc, argv, init, fini, stack_end};
  if (!launched_with_others())
    return HIROBA_REAL(__libc_start_main)(main, argc, argv, init, fini, loader_fini, stack_end);
  const Program program = this_program();
  check_program(program);
  check_order();
  phrases() = {.end = "the end of the program",
               .bring_pages = "a read of each",
               .free_object = "free",
               .resize_object = "realloc",
               .allocate_array = "malloc",
               .set_homes = "HIROBA_HOMES=migrating",
               .move_homes = "a static schedule",
               .stray =
                   ", and may be in another rank alone: what libraries allocate, and threads that the program "
                   "starts by itself, or mmap() with MAP_STACK"};
  keep_addresses(argv);
  say_that_there_are_threads();
  sms_startup(nullptr, nullptr);
  check_addresses(dlsym(RTLD_NEXT, "printf"), "printf");
  check_addresses(&member, "a thread-local variable");
  name_rank_in_displays(sms_rank);
  keep_own_word_of_threads();
  keep_own_environment();
  check_calls(sms_rank);
  Memory& memory = process_memory("the start of an OpenMP program");
  require(instance<Regions>().begin(memory, program));
  require(instance<Objects>().begin(memory, program));
  require(instance<RegionOutput>().begin(memory));
  require(instance<Mappings>().begin(memory));
  require(instance<Descriptors>().begin(memory));
  require(instance<FortranUnits>().begin(memory));
  require(instance<ProcessState>().begin(memory));
  require(instance<ExitHandlers>().begin(memory));
  require(instance<Libraries>().begin(memory, program_calls()));
  memory_is_shared = true;
  // Launchers give each rank a pipe for its output, and do not keep the order between them.
  instance<ProcessState>().standard_has_changed(STDOUT_FILENO);
  if (memory.job().nnodes > 1 || memory.checking()) require(prepare_code(program));
  on_exit(leave, nullptr);
  if (memory.job().rank != 0) end_rank(serve());
  instance<PlainLibraries>().begin();
  show_environment();
  start.argv = shared_words(argc, argv);
  instance<Regions>().stacks().call_on(0, run_program, nullptr);
  __builtin_unreachable();
}

// The child would run on the stack of the rank. The C library's system() and popen() do not call it.
EXPORT pid_t fork() noexcept {
  const char here = 0;
  if (!process_started() || !instance<Regions>().stacks().have(&here)) return HIROBA_REAL(fork)();
  log_line(
      "fork() fails in an OpenMP program over ranks, whose stacks are shared memory: a child would use the "
      "parent's; start programs by posix_spawn(), system() or popen()");
  errno = ENOSYS;
  return -1;
}
