// Directories that the program reads: opendir() and its kin. The system writes entries to memory of the rank's own, and
// the program gets them in shared memory. A directory is read in the rank that has opened it.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

// The program has the address of one, in its memory, as a DIR*.
struct Directory {
  DIR* here;
  int rank;
  dirent entry;
};

int this_rank() { return process_memory("opendir").job().rank; }

DIR* made(DIR* here) {
  if (here == nullptr) return nullptr;
  auto* const directory = static_cast<Directory*>(std::malloc(sizeof(Directory)));
  directory->here = here, directory->rank = this_rank();
  return reinterpret_cast<DIR*>(directory);
}

Directory& directory_of(DIR* given, const char* call) {
  auto& directory = *reinterpret_cast<Directory*>(given);
  if (directory.rank != this_rank())
    end_job(1,
            "%s() of a directory that rank %d has opened; a directory is read and closed in the rank that has opened "
            "it: do this in main, or open it in the region",
            call, directory.rank);
  return directory;
}

DIR* open_by_number(int descriptor) {
  if (!in_program) return fdopendir(descriptor);
  DIR* here = nullptr;
  {
    const InRuntime runtime;
    here = fdopendir(descriptor);
  }
  return made(here);
}

DIR* open_directory(const char* name) {
  if (!in_program) return opendir(name);
  int number = -1;
  {
    const InRuntime runtime;
    const std::string own = name;
    const int opened = open(own.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    if (opened >= 0) number = instance<Descriptors>().adopt(opened);
  }
  return number < 0 ? nullptr : open_by_number(number);
}

dirent* read_entry(DIR* given) {
  if (!in_program) return readdir(given);
  Directory& directory = directory_of(given, "readdir");
  const dirent* const entry = readdir(directory.here);
  if (entry == nullptr) return nullptr;
  std::memcpy(&directory.entry, entry, std::min<size_t>(entry->d_reclen, sizeof directory.entry));
  return &directory.entry;
}

int close_directory(DIR* given) {
  if (!in_program) return closedir(given);
  Directory& directory = directory_of(given, "closedir");
  const int result = closedir(directory.here);
  std::free(&directory);
  return result;
}

int number_of(DIR* given) { return dirfd(in_program ? directory_of(given, "dirfd").here : given); }
void rewind_directory(DIR* given) { rewinddir(in_program ? directory_of(given, "rewinddir").here : given); }
long tell_directory(DIR* given) { return telldir(in_program ? directory_of(given, "telldir").here : given); }
void seek_directory(DIR* given, long at) { seekdir(in_program ? directory_of(given, "seekdir").here : given, at); }

using Filter = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);

int scan_directory(const char* name, dirent*** out, Filter filter, Compare compare) {
  DIR* const directory = open_directory(name);
  if (directory == nullptr) return -1;
  dirent** entries = nullptr;
  size_t count = 0;
  while (const dirent* const entry = read_entry(directory)) {
    if (filter != nullptr && filter(entry) == 0) continue;
    if ((count & (count - 1)) == 0)
      entries = static_cast<dirent**>(std::realloc(entries, sizeof *entries * std::max<size_t>(1, 2 * count)));
    entries[count] = static_cast<dirent*>(std::malloc(entry->d_reclen));
    std::memcpy(entries[count++], entry, entry->d_reclen);
  }
  close_directory(directory);
  using Order = int (*)(const void*, const void*);
  if (compare != nullptr && count > 0) std::qsort(entries, count, sizeof *entries, reinterpret_cast<Order>(compare));
  *out = entries;
  return static_cast<int>(count);
}

int scan(const char* name, dirent*** out, Filter filter, Compare compare) {
  return in_program ? scan_directory(name, out, filter, compare) : scandir(name, out, filter, compare);
}

// nftw() reads directories by functions of the C library's own.
thread_local __nftw_func_t visit_of_program __attribute__((tls_model("initial-exec"))) = nullptr;

int visit(const char* name, const struct stat* about, int kind, FTW* place) {
  const InProgram program;
  return visit_of_program(name, about, kind, place);
}

int walk_tree(const char* name, __nftw_func_t function, int most, int flags) {
  if (!in_program) return nftw(name, function, most, flags);
  const InRuntime runtime;
  const std::string own = name;
  const __nftw_func_t before = std::exchange(visit_of_program, function);
  const int result = nftw(own.c_str(), visit, most, flags);
  visit_of_program = before;
  return result;
}

// glob() does, too; what it finds is copied.
int match_files(const char* pattern, int flags, int (*error)(const char*, int), glob_t* out) {
  if (!in_program || error != nullptr || (flags & (GLOB_APPEND | GLOB_DOOFFS | GLOB_ALTDIRFUNC)) != 0)
    return glob(pattern, flags, error, out);
  glob_t found = {};
  {
    const InRuntime runtime;
    const std::string own = pattern;
    if (const int status = glob(own.c_str(), flags, nullptr, &found); status != 0) return status;
  }
  *out = found;
  out->gl_pathv = static_cast<char**>(std::malloc(sizeof(char*) * (found.gl_pathc + 1)));
  for (size_t i = 0; i < found.gl_pathc; ++i) out->gl_pathv[i] = strdup(found.gl_pathv[i]);
  out->gl_pathv[found.gl_pathc] = nullptr;
  globfree(&found);
  return 0;
}

}  // namespace

void add_directory_calls(std::vector<Import>& calls) {
  take(calls, "opendir", open_directory), take(calls, "fdopendir", open_by_number);
  for (const char* const name : {"readdir", "readdir64"}) take(calls, name, read_entry);
  take(calls, "closedir", close_directory), take(calls, "dirfd", number_of);
  take(calls, "rewinddir", rewind_directory), take(calls, "telldir", tell_directory);
  take(calls, "seekdir", seek_directory);
  for (const char* const name : {"scandir", "scandir64"}) take(calls, name, scan);
  for (const char* const name : {"glob", "glob64"}) take(calls, name, match_files);
  for (const char* const name : {"nftw", "nftw64"}) take(calls, name, walk_tree);
}

}  // namespace hiroba::openmp
