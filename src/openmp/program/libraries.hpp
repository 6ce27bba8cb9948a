// Shared libraries of the program's own, which hirobacc -fopenmp-nodes has linked: their variables are shared as the
// executable's are, and their regions run on all ranks. Each is linked for addresses of its own in the address range,
// where the dynamic linker then puts it, in all ranks. Their constructors run in rank 0 alone, when their variables are
// shared: a library that is loaded calls note_loaded() first, which keeps the others.
//
// Owner: the process (instance<Libraries>). For the first thread of rank 0, and the thread that serves in others; has()
// is for all threads.
#pragma once

#include <link.h>

#include <optional>
#include <string>
#include <vector>

#include "memory/memory.hpp"
#include "openmp/program/imports.hpp"

namespace hiroba::openmp {

class Libraries {
 public:
  // `inside`: in the library that is loaded.
  void note_loaded(const void* inside);
  // Shares those that the executable is linked with. Collective. The imports are redirected in the executable, and in
  // all libraries of the program.
  Status begin(Memory& memory, std::vector<Import> imports);
  // Shares those that have been loaded since the last call; prepares their code. Collective.
  Status share();
  bool have_new() const { return shared_ < libraries_.size(); }
  // Rank 0: runs the constructors of those that are shared, and at the end, in reverse order, their destructors.
  void run_constructors(int argc, char** argv, char** environment);
  void run_destructors() const;

  // Returns true if it is in one of them: an address of code, or of a variable.
  bool has(uint64_t address) const;
  bool has_variable(uint64_t address) const;
  bool has(const dl_phdr_info& object) const { return has(program_of(object).begin); }
  // Returns the file of the library that dlopen() has loaded and that has this thread-local variable of the thread;
  // empty: there is none.
  std::string loaded_later_with_thread_local(const void* address) const;
  bool have_later_thread_locals() const { return later_thread_locals_; }

 private:
  using Constructor = void (*)(int, char**, char**);
  struct Library {
    std::string file;
    Program at;
    DynamicTable table;
    std::vector<Constructor> constructors;
    bool has_thread_locals;
  };
  Status share_one(const Library& library);

  Memory* memory_ = nullptr;
  std::vector<Import> imports_;
  std::vector<Library> libraries_;  // in the order in which they have been loaded
  bool later_thread_locals_ = false;
  size_t shared_ = 0, constructed_ = 0;  // their numbers
  std::optional<size_t> linked_;         // the number of those that dlopen() has not loaded, when it is known
};

// Makes the variables of the executable, or of a library, shared, with the contents that they have on rank 0.
// Collective.
Status share_variables(Memory& memory, const Program& program, const char* name);

}  // namespace hiroba::openmp
