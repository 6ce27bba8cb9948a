#include "openmp/system/process_state.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/system/descriptors.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

Status ProcessState::begin(Memory& memory) {
  memory_ = &memory, process_ = getpid();
  // Else all ranks had the same random numbers.
  if (memory.job().rank != 0) srandom(1 + static_cast<unsigned>(memory.job().rank)), srand48(memory.job().rank);
  return {};
}

bool ProcessState::may_change(const char* call) const {
  if (memory_ == nullptr || memory_->job().rank == 0) return true;
  log_line("%s() in a region, by a thread that is not in the process of main, fails: call it in main", call);
  return errno = ENOSYS, false;
}

bool ProcessState::may_become_another(const char* call) const {
  if (getpid() != process_) return true;
  log_line(
      "%s() fails in an OpenMP program over ranks, because the job would lose a rank: start programs by "
      "posix_spawn(), system() or popen()",
      call);
  return errno = ENOSYS, false;
}

void ProcessState::note(Kind kind, int number, std::string_view first, std::string_view second) {
  if (memory_ == nullptr || memory_->job().rank != 0) return;
  Change* made = nullptr;
  {
    const InProgram program;
    made = static_cast<Change*>(std::malloc(sizeof(Change) + first.size() + second.size() + 2));
  }
  if (made == nullptr) end_job(1, "no memory for what the program changes of its process");
  *made = {nullptr, kind, number, {first.size(), second.size()}};
  char* to = reinterpret_cast<char*>(made + 1);
  for (const std::string_view text : {first, second}) {
    std::memcpy(to, text.data(), text.size());
    to[text.size()] = '\0';
    to += text.size() + 1;
  }
  const std::lock_guard guard(lock_);
  (last_ == nullptr ? first_ : last_->next) = made;
  last_ = made;
}

void ProcessState::note_variable(char* text) {
  note_variable_of(text);
  const std::lock_guard guard(lock_);
  variables_.push_back({text, text});
}

void ProcessState::note_variable_of(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos) note(Kind::unset_variable, 0, text);
  else note(Kind::set_variable, 0, text.substr(0, equals), text.substr(equals + 1));
}

// Texts that are no variables any more may be gone.
void ProcessState::note_changed_variables() {
  std::vector<std::pair<std::string, std::string>> changed;
  {
    const std::lock_guard guard(lock_);
    std::erase_if(variables_, [](const Variable& variable) {
      char** at = environ;
      while (at != nullptr && *at != nullptr && *at != variable.text) ++at;
      return at == nullptr || *at == nullptr;
    });
    for (Variable& variable : variables_)
      if (variable.noted != variable.text)
        changed.emplace_back(std::exchange(variable.noted, variable.text), variable.text);
  }
  for (const auto& [before, now] : changed) {
    note(Kind::unset_variable, 0, std::string_view(before).substr(0, before.find('=')));
    note_variable_of(now);
  }
}

// A thread begins with the mask of the one that starts it, so those of other ranks shall begin with this thread's.
void ProcessState::note_changed_mask() {
  if (!mask_may_have_changed_.load(std::memory_order_relaxed)) return;
  mask_may_have_changed_.store(false, std::memory_order_relaxed);
  sigset_t mask;
  if (pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0)
    note(Kind::signal_mask, 0, std::string_view(reinterpret_cast<const char*>(&mask), sizeof mask));
}

int ProcessState::make_key(pthread_key_t least, void (*end)(void*), pthread_key_t& key) {
  const InRuntime runtime;
  std::vector<pthread_key_t> lower;
  int result = 0;
  while ((result = pthread_key_create(&key, end)) == 0 && key < least) lower.push_back(key);
  for (const pthread_key_t other : lower) pthread_key_delete(other);
  return result;
}

const ProcessState::Change* ProcessState::give() {
  note_changed_variables();
  note_changed_mask();
  const std::lock_guard guard(lock_);
  given_ = std::exchange(first_, nullptr), last_ = nullptr;
  return given_;
}

void ProcessState::clear() {
  while (given_ != nullptr) {
    const InProgram program;
    std::free(std::exchange(given_, given_->next));
  }
}

void ProcessState::make(const Change* first) const {
  for (const Change* change = first; change != nullptr; change = change->next) make_one(*change);
}

namespace {

// A std::locale of libstdc++ points to this (locale::_Impl).
struct Facets {
  int references;
  const void** facets;
  size_t count;
  const void** caches;
  char** names;
};

// Counts and caches of a locale are changed by the C++ library, which knows nothing of ranks: so each rank has a copy
// of the list of facets, which itself is never freed.
void use_facets(const Facets& shared) {
  const InRuntime runtime;
  constexpr int categories = 12;
  constexpr int forever = 1 << 30;
  auto* const own = new Facets{forever, new const void*[shared.count], shared.count, new const void* [shared.count] {},
                               new char* [categories] {}};
  std::copy_n(shared.facets, shared.count, own->facets);
  alignas(std::locale) std::byte locale[sizeof own];
  static_assert(sizeof own == sizeof(std::locale));
  std::memcpy(locale, &own, sizeof own);
  std::locale::global(*reinterpret_cast<const std::locale*>(locale));
}

// A call of a function that is only there in rank 0 is an access to an address that nothing is at here.
void name_in_message(const char* library) {
  const InRuntime runtime;
  static std::string message;
  message = format(
      ", and may be in another rank alone: functions and variables of %s, which main has opened by dlopen() (link it "
      "by hirobacc -fopenmp-nodes -fPIC -shared, then all ranks open it), what libraries allocate, and threads that "
      "the "
      "program starts by itself, or mmap() with MAP_STACK",
      library);
  phrases().stray = message.c_str();
}

}  // namespace

void ProcessState::make_one(const Change& change) const {
  const char *const first = change.text(0), *const second = change.text(1);
  const std::string_view bytes(first, change.bytes[0]);
  const unsigned seed = static_cast<unsigned>(change.number) + 0x9e3779b9U * static_cast<unsigned>(memory_->job().rank);
  bool made = true;
  char folder[4096];
  switch (change.kind) {
    case Kind::folder: std::strncpy(folder, first, sizeof folder - 1), made = chdir(folder) == 0; break;
    case Kind::file_mask: umask(static_cast<mode_t>(change.number)); break;
    case Kind::set_variable: made = setenv(first, second, 1) == 0; break;
    case Kind::unset_variable: unsetenv(first); break;
    case Kind::no_variables: clearenv(); break;
    case Kind::locale: made = std::setlocale(change.number, first) != nullptr; break;
    case Kind::locale_of_cxx:
      made = std::setlocale(LC_ALL, first) != nullptr;
      if (made) std::locale::global(std::locale(first));
      break;
    case Kind::facets_of_cxx: {
      const Facets* shared = nullptr;
      std::memcpy(&shared, first, sizeof shared);
      use_facets(*shared);
      break;
    }
    case Kind::opened_alone: name_in_message(first); break;
    case Kind::time_zone: tzset(); break;
    case Kind::signal: {
      struct sigaction action;
      std::memcpy(&action, bytes.data(), sizeof action);
      sigaction(change.number, &action, nullptr);
      break;
    }
    case Kind::signal_mask: {
      sigset_t mask;
      std::memcpy(&mask, bytes.data(), sizeof mask);
      pthread_sigmask(SIG_SETMASK, &mask, nullptr);
      break;
    }
    case Kind::limit: {
      rlimit limit;
      std::memcpy(&limit, bytes.data(), sizeof limit);
      setrlimit(static_cast<__rlimit_resource>(change.number), &limit);
      break;
    }
    case Kind::niceness: static_cast<void>(nice(change.number)); break;
    case Kind::seed: srandom(seed); break;
    case Kind::seed_48: srand48(static_cast<long>(seed)); break;
    case Kind::key: {
      void (*end)(void*) = nullptr;
      std::memcpy(&end, first, sizeof end);
      const auto wanted = static_cast<pthread_key_t>(change.number);
      pthread_key_t key = 0;
      if (make_key(wanted, end, key) != 0 || key != wanted)
        end_job(1, "key %d, which main has got of pthread_key_create(), is another one's here: use thread_local",
                change.number);
      break;
    }
    case Kind::no_key: pthread_key_delete(static_cast<pthread_key_t>(change.number)); break;
    case Kind::standard: instance<Descriptors>().take_standard(change.number); break;
  }
  if (!made)
    log_line("what main has changed of its process cannot be changed here: %s (%s)", first, std::strerror(errno));
}

}  // namespace hiroba::openmp
