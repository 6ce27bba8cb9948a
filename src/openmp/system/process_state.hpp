// Changes that main makes of its process, and by that of all ranks: of folder, mask of new files, environment,
// locale, signal handlers and masks, limits, seeds, and the standard descriptors. Rank 0 notes the changes, and the
// other ranks make them before they run the next region.
//
// Owner: the process (instance<ProcessState>). Thread-safe, but give(), make() and clear(), which are for the thread
// that starts regions, or serves them.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class ProcessState {
 public:
  enum class Kind : uint32_t {
    folder,
    file_mask,
    set_variable,
    unset_variable,
    no_variables,
    locale,
    locale_of_cxx,
    facets_of_cxx,
    opened_alone,  // a library, by dlopen()
    time_zone,
    signal,
    signal_mask,
    limit,
    niceness,
    seed,
    seed_48,
    key,  // of variables of threads
    no_key,
    standard
  };
  struct Change {  // in shared memory, followed by two texts, each with its 0
    Change* next;
    Kind kind;
    int number;
    size_t bytes[2];
    const char* text(int which) const {
      return reinterpret_cast<const char*>(this + 1) + (which == 0 ? 0 : bytes[0] + 1);
    }
  };

  Status begin(Memory& memory);  // collective
  // Returns true if this rank may make a change; else it has told why, and set errno.
  bool may_change(const char* call) const;
  // Returns false if the process is a rank, which the job would lose if it became another program, and has told so, and
  // set errno. A child of vfork() may.
  bool may_become_another(const char* call) const;
  void note(Kind kind, int number, std::string_view first = {}, std::string_view second = {});
  // The text is a variable of the environment from now on, as by putenv(): changes of it are noted, too.
  void note_variable(char* text);
  // To be called when a thread may have changed its mask of signals, also in a handler of signals.
  void mask_may_have_changed() { mask_may_have_changed_.store(true, std::memory_order_relaxed); }
  static constexpr pthread_key_t least_key = 20;  // the C library allocates memory for those from 32 on
  // Makes a key of this number, or a greater one; returns what pthread_key_create() returns.
  static int make_key(pthread_key_t least, void (*end)(void*), pthread_key_t& key);
  void standard_has_changed(int descriptor) { note(Kind::standard, descriptor); }

  // Rank 0: returns the changes since the last call, for the others.
  const Change* give();
  // The other ranks.
  void make(const Change* first) const;
  // Rank 0, when all have made what it has given.
  void clear();

 private:
  void make_one(const Change& change) const;
  void note_variable_of(std::string_view text);
  void note_changed_variables();
  void note_changed_mask();

  Memory* memory_ = nullptr;
  pid_t process_ = 0;
  std::atomic<bool> mask_may_have_changed_ = false;
  std::mutex lock_;
  Change *first_ = nullptr, *last_ = nullptr, *given_ = nullptr;
  struct Variable {
    const char* text;  // of the program
    std::string noted;
  };
  std::vector<Variable> variables_;
};

}  // namespace hiroba::openmp
