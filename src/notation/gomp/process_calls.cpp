// Calls by which the program changes its process: the other ranks change theirs before the next region. And those by
// which it starts other programs.
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

extern "C" sighandler_t __sysv_signal(int, sighandler_t) noexcept;
extern "C" int __cxa_atexit(void (*)(void*), void*, void*) noexcept;

namespace hiroba::openmp {

namespace {

using Kind = ProcessState::Kind;

template <typename... Texts>
void note(Kind kind, int number, Texts... texts) {
  if (in_program) instance<ProcessState>().note(kind, number, texts...);
}

bool may_change(const char* call) { return !in_program || instance<ProcessState>().may_change(call); }

int note_folder(int result) {
  char folder[PATH_MAX];
  if (result == 0 && getcwd(folder, sizeof folder) != nullptr) note(Kind::folder, 0, std::string_view(folder));
  return result;
}

int change_folder(const char* name) {
  if (!may_change("chdir")) return -1;
  return note_folder(in_program ? call_touched<int, const char*>(chdir, name) : chdir(name));
}

int change_folder_to(int descriptor) { return may_change("fchdir") ? note_folder(fchdir(descriptor)) : -1; }

// Fortran's library changes the mask, for a moment, while it makes a file.
mode_t change_mask(mode_t mask) {
  const auto caller = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  if (!this_program().has(caller) && !instance<Libraries>().has(caller)) return umask(mask);
  if (!may_change("umask")) return mask;
  note(Kind::file_mask, static_cast<int>(mask));
  return umask(mask);
}

// A program that names `environ` has the C library's variable, which is shared then. Each rank needs its own; the
// program's is what rank 0 has.
char** own_environment = nullptr;
char*** program_environment = nullptr;

// Returns the result of a call that has changed the environment.
int shown(int result) {
  show_environment();
  return result;
}

// Programs that are started get the environment from the system, which reads it.
int set_here(const char* name, const char* value, int overwrites) {
  const InRuntime runtime;
  return setenv(name, value, overwrites);
}

int set_variable(const char* name, const char* value, int overwrites) {
  if (!may_change("setenv")) return -1;
  const bool kept = overwrites == 0 && std::getenv(name) != nullptr;
  const int result = shown(set_here(name, value, overwrites));
  if (result == 0 && !kept) note(Kind::set_variable, 0, std::string_view(name), std::string_view(value));
  return result;
}

int put_variable(char* text) {
  if (!may_change("putenv")) return -1;
  if (in_program) instance<ProcessState>().note_variable(text);
  return shown(putenv(text));
}

int unset_variable(const char* name) {
  if (!may_change("unsetenv")) return -1;
  note(Kind::unset_variable, 0, std::string_view(name));
  return shown(unsetenv(name));
}

int clear_variables() {
  if (!may_change("clearenv")) return -1;
  note(Kind::no_variables, 0);
  return shown(clearenv());
}

// The C library reads files by names that it has allocated, which must be the rank's own.
char* set_locale_here(int category, const char* name) {
  if (!in_program) return std::setlocale(category, name);
  const char* result = nullptr;
  {
    const InRuntime runtime;
    if (words::checked) touch_stack();
    result = std::setlocale(category, name);
  }
  if (result == nullptr) return nullptr;
  return shared_text(result);
}

char* set_locale(int category, const char* name) {
  if (name != nullptr && !may_change("setlocale")) return nullptr;
  char* const result = set_locale_here(category, name);
  if (name != nullptr && result != nullptr) note(Kind::locale, category, std::string_view(result));
  return result;
}

// A locale with facets of the program's own has no name, by which others could make it, but lies in shared memory.
std::locale set_locale_of_cxx(const std::locale& wanted) {
  const auto name = wanted.name();
  if (name != "*") note(Kind::locale_of_cxx, 0, std::string_view(name));
  else note(Kind::facets_of_cxx, 0, std::string_view(reinterpret_cast<const char*>(&wanted), sizeof wanted));
  return std::locale::global(wanted);
}

void set_time_zone() {
  note(Kind::time_zone, 0);
  const InRuntime runtime;  // it reads a file by a name that it has allocated
  tzset();
}

void note_signal(int number) {
  struct sigaction action;
  if (in_program && sigaction(number, nullptr, &action) == 0)
    note(Kind::signal, number, std::string_view(reinterpret_cast<const char*>(&action), sizeof action));
}

int set_action(int number, const struct sigaction* action, struct sigaction* old) {
  if (in_program) touch_all(action, old);
  const int result = sigaction(number, action, old);
  if (result == 0 && action != nullptr) note_signal(number);
  return result;
}

template <sighandler_t (*function)(int, sighandler_t)>
sighandler_t set_handler(int number, sighandler_t handler) {
  const sighandler_t before = function(number, handler);
  if (before != SIG_ERR) note_signal(number);
  return before;
}

int set_mask(int how, const sigset_t* set, sigset_t* old) {
  if (in_program) touch_all(set, old), instance<ProcessState>().mask_may_have_changed();
  return pthread_sigmask(how, set, old);
}

int set_mask_or_errno(int how, const sigset_t* set, sigset_t* old) {
  const int failed = set_mask(how, set, old);
  return failed == 0 ? 0 : (errno = failed, -1);
}

int set_limit(__rlimit_resource resource, const rlimit* limit) {
  if (in_program) touch_all(limit);
  const int result = setrlimit(resource, limit);
  if (result == 0) note(Kind::limit, resource, std::string_view(reinterpret_cast<const char*>(limit), sizeof *limit));
  return result;
}

int get_limit(__rlimit_resource resource, rlimit* limit) {
  if (in_program) touch_all(limit);
  return getrlimit(resource, limit);
}

int get_usage(__rusage_who who, rusage* usage) {
  if (in_program) touch_all(usage);
  return getrusage(who, usage);
}

int be_nicer(int by) {
  note(Kind::niceness, by);
  return nice(by);
}

void seed(unsigned value) {
  note(Kind::seed, static_cast<int>(value));
  srandom(value);
}

void seed_48(long value) {
  note(Kind::seed_48, static_cast<int>(value));
  srand48(value);
}

// A key is a number of the process, which others take, too: above those that libraries may have there.
int make_key(pthread_key_t* key, void (*end)(void*)) {
  if (!in_program) return pthread_key_create(key, end);
  const int result = ProcessState::make_key(ProcessState::least_key, end, *key);
  if (result == 0)
    note(Kind::key, static_cast<int>(*key), std::string_view(reinterpret_cast<const char*>(&end), sizeof end));
  return result;
}

int delete_key(pthread_key_t key) {
  note(Kind::no_key, static_cast<int>(key));
  return pthread_key_delete(key);
}

// atexit(), and the destructor of a variable that is static in a function.
int add_exit_handler(void (*function)(void*), void* argument, void* object) {
  if (!in_program || process_memory("atexit").job().rank == 0) return __cxa_atexit(function, argument, object);
  if (instance<ExitHandlers>().add(function, argument)) return 0;
  log_line("atexit() in a region, by another rank than that of main, fails after %d times: call it in main", 255);
  return errno = ENOMEM, -1;
}

// Streams of C++ are those of C, which are ordered: std::cout would have a buffer of its own in rank 0 alone.
bool keep_with_stdio(bool) { return true; }

// ---- programs that it starts ----------------------------------------------------------------------------------------

// The child reads what it is given in the memory of this process, where the kernel, and the child itself, take no page
// fault for this library.
using Texts = char* const*;

void touch_texts(Texts texts) {
  size_t count = 0;
  for (; texts != nullptr && texts[count] != nullptr; ++count)
    touch(texts[count], std::strlen(texts[count]) + 1, false);
  if (texts != nullptr) touch(texts, (count + 1) * sizeof *texts, false);
}

// An action as glibc's spawn_int.h has it, with the names of its files.
struct SpawnAction {
  enum Kind : int { closes, duplicates, opens, enters } kind;
  union {
    struct {
      int fd;
      char* name;
    } open;
    char* folder;
    int64_t other[3];
  };
};

void touch_actions(const posix_spawn_file_actions_t* actions) {
  if (actions == nullptr) return;
  const auto* const all = reinterpret_cast<const SpawnAction*>(actions->__actions);
  for (int i = 0; i < actions->__used; ++i) {
    if (all[i].kind == SpawnAction::opens) touch_all(static_cast<const char*>(all[i].open.name));
    if (all[i].kind == SpawnAction::enters) touch_all(static_cast<const char*>(all[i].folder));
  }
  touch(actions, sizeof *actions, false), touch(all, static_cast<size_t>(actions->__used) * sizeof *all, false);
}

// Calls the function, which starts a program and returns an error number; another thread may have evicted what has been
// touched.
template <auto* function>
int start_program(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                  const posix_spawnattr_t* attributes, Texts words, Texts environment) {
  if (!in_program) return function(child, file, actions, attributes, words, environment);
  constexpr int tries = 100;
  thread_local pid_t started;  // the C library writes it while it blocks all signals
  for (int tried = 0;; ++tried) {
    touch_actions(actions), touch_all(file, attributes), touch_texts(words), touch_texts(environment), touch_stack();
    const int failed = function(&started, file, actions, attributes, words, environment);
    if (failed == 0 && child != nullptr) *child = started;
    if (failed != EFAULT || tried == tries) return failed;
  }
}

int run_command(const char* line) {
  if (in_program) touch_all(line), touch_texts(environ), touch_stack();
  return std::system(line);
}

// The kernel forgets a child before it finds that it cannot write the result, so that goes to memory of the rank's own.
pid_t wait_with_usage(pid_t child, int* status, int options, rusage* usage) {
  if (!in_program) return wait4(child, status, options, usage);
  thread_local int own_status;
  thread_local rusage own_usage;
  const pid_t ended = wait4(child, &own_status, options, &own_usage);
  if (ended > 0 && status != nullptr) *status = own_status;
  if (ended > 0 && usage != nullptr) *usage = own_usage;
  return ended;
}

pid_t wait_for_any_with_usage(int* status, int options, rusage* usage) {
  return wait_with_usage(-1, status, options, usage);
}

pid_t wait_for(pid_t child, int* status, int options) { return wait_with_usage(child, status, options, nullptr); }
pid_t wait_for_any(int* status) { return wait_for(-1, status, 0); }

int wait_for_change(idtype_t kind, id_t which, siginfo_t* change, int options) {
  if (!in_program) return waitid(kind, which, change, options);
  thread_local siginfo_t own;
  const int result = waitid(kind, which, &own, options);
  if (result == 0 && change != nullptr) *change = own;
  return result;
}

// A child of vfork() may become another program: the kernel reads what it is given, as for posix_spawn().
bool may_become_another(const char* call, const char* file, Texts words, Texts environment = nullptr) {
  if (!in_program) return true;
  if (!instance<ProcessState>().may_become_another(call)) return false;
  if (file != nullptr) touch_all(file);
  touch_texts(words), touch_texts(environment), touch_stack();
  return true;
}

int become(const char* file, Texts words) { return may_become_another("execv", file, words) ? execv(file, words) : -1; }

int become_found(const char* file, Texts words) {
  return may_become_another("execvp", file, words) ? execvp(file, words) : -1;
}

int become_with(const char* file, Texts words, Texts environment) {
  return may_become_another("execve", file, words, environment) ? execve(file, words, environment) : -1;
}

int become_found_with(const char* file, Texts words, Texts environment) {
  return may_become_another("execvpe", file, words, environment) ? execvpe(file, words, environment) : -1;
}

int become_opened(int file, Texts words, Texts environment) {
  return may_become_another("fexecve", nullptr, words, environment) ? fexecve(file, words, environment) : -1;
}

// Calls the function with the list as an array, in memory of the caller: a child of vfork() must not allocate.
template <auto* function, char kind>  // 'l', 'p' and 'e' of execl(), execlp() and execle()
int become_by_list(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  size_t count = 1;
  for (const char* word = first; word != nullptr; ++count) word = va_arg(list, const char*);
  va_end(list);
  auto* const words = static_cast<char**>(alloca(count * sizeof(char*)));
  words[0] = const_cast<char*>(first);
  va_start(list, first);
  for (size_t i = 1; i < count; ++i) words[i] = va_arg(list, char*);
  const Texts environment = kind == 'e' ? va_arg(list, Texts) : nullptr;
  va_end(list);
  if (!may_become_another(kind == 'p' ? "execlp" : kind == 'e' ? "execle" : "execl", file, words, environment))
    return -1;
  if constexpr (kind == 'e') return function(file, words, environment);
  else return function(file, words);
}

}  // namespace

void keep_own_environment() {
  auto* const variable = static_cast<char***>(dlsym(RTLD_DEFAULT, "environ"));
  if (!this_program().has(reinterpret_cast<uint64_t>(variable))) return;
  program_environment = variable, own_environment = *variable;
  std::vector<Import> own;
  for (const char* const name : {"environ", "_environ", "__environ"}) own.push_back({name, &own_environment});
  replace_imports(Users::libraries, own);
}

// Other ranks read the list, too.
void show_environment() {
  if (program_environment == nullptr || process_memory("environ").job().rank != 0) return;
  static char** shown_before = nullptr;
  size_t count = 0;
  while (own_environment != nullptr && own_environment[count] != nullptr) ++count;
  char** const list = [count] {
    const InProgram program;
    std::free(shown_before);
    return static_cast<char**>(std::malloc((count + 1) * sizeof(char*)));
  }();
  for (size_t i = 0; i < count; ++i) list[i] = shared_text(own_environment[i]);
  list[count] = nullptr;
  *program_environment = shown_before = list;
}

void add_process_calls(std::vector<Import>& calls) {
  take(calls, "chdir", change_folder), take(calls, "fchdir", change_folder_to), take(calls, "umask", change_mask);
  take(calls, "setenv", set_variable), take(calls, "putenv", put_variable), take(calls, "unsetenv", unset_variable);
  take(calls, "clearenv", clear_variables), take(calls, "setlocale", set_locale), take(calls, "tzset", set_time_zone);
  take(calls, "_ZNSt8ios_base15sync_with_stdioEb", keep_with_stdio);
  take(calls, "_ZNSt6locale6globalERKS_", set_locale_of_cxx);
  take(calls, "sigaction", set_action), take(calls, "signal", set_handler<signal>);
  take(calls, "__sysv_signal", set_handler<__sysv_signal>), take(calls, "nice", be_nicer);
  take(calls, "pthread_sigmask", set_mask), take(calls, "sigprocmask", set_mask_or_errno);
  for (const char* const name : {"setrlimit", "setrlimit64"}) take(calls, name, set_limit);
  for (const char* const name : {"getrlimit", "getrlimit64"}) take(calls, name, get_limit);
  take(calls, "getrusage", get_usage);
  for (const char* const name : {"srand", "srandom"}) take(calls, name, seed);
  take(calls, "pthread_key_create", make_key), take(calls, "pthread_key_delete", delete_key);
  take(calls, "srand48", seed_48), take(calls, "__cxa_atexit", add_exit_handler);
  take(calls, "posix_spawn", start_program<posix_spawn>), take(calls, "posix_spawnp", start_program<posix_spawnp>);
  take(calls, "system", run_command), take(calls, "wait", wait_for_any), take(calls, "waitpid", wait_for);
  take(calls, "wait3", wait_for_any_with_usage), take(calls, "wait4", wait_with_usage);
  take(calls, "waitid", wait_for_change);
  take(calls, "execv", become), take(calls, "execve", become_with), take(calls, "fexecve", become_opened);
  take(calls, "execvp", become_found), take(calls, "execvpe", become_found_with);
  take(calls, "execl", become_by_list<execv, 'l'>), take(calls, "execlp", become_by_list<execvp, 'p'>);
  take(calls, "execle", become_by_list<execve, 'e'>);
}

}  // namespace hiroba::openmp
