// dlopen() by the program: what it opens of libraries of the program's own is opened in all ranks.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

// The dynamic linker looks for names without a folder in the folders of the caller's RUNPATH, too.
std::vector<std::string> files_for(const char* name, const void* caller) {
  std::vector<std::string> files;
  Dl_info from = {};
  Dl_serinfo size = {};
  if (std::string(name).find('/') != std::string::npos || dladdr(caller, &from) == 0) return files;
  const bool is_library = instance<Libraries>().has(reinterpret_cast<uint64_t>(caller));
  void* const handle = dlopen(is_library ? from.dli_fname : nullptr, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr || dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) return files;
  std::vector<char> memory(size.dls_size);
  auto* const folders = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, folders) != 0 || dlinfo(handle, RTLD_DI_SERINFO, folders) != 0) return files;
  for (unsigned i = 0; i < folders->dls_cnt; ++i) {
    std::string file = std::string(folders->dls_serpath[i].dls_name) + "/" + name;
    if (access(file.c_str(), R_OK) == 0) files.push_back(std::move(file));
  }
  return files;
}

void* open_here(const char* name, int flags, const void* caller) {
  void* handle = dlopen(name, flags);
  if (handle != nullptr || name == nullptr) return handle;
  std::vector<std::string> files;
  {
    const InRuntime runtime;
    files = files_for(name, caller);
  }
  if (files.empty()) return dlopen(name, flags);  // for dlerror()
  for (const std::string& file : files)
    if (handle = dlopen(file.c_str(), flags); handle != nullptr) break;
  return handle;
}

bool is_open(const char* name) {
  const InRuntime runtime;
  void* const handle = name == nullptr ? nullptr : dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

void* open_library(const char* name, int flags) {
  if (!in_program) return dlopen(name, flags);
  const bool was_open = name == nullptr || is_open(name);
  void* const handle = open_here(name, flags, __builtin_return_address(0));
  Libraries& libraries = instance<Libraries>();
  link_map* map = nullptr;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return handle;
  if (!libraries.have_new()) {
    if (!was_open) instance<ProcessState>().note(ProcessState::Kind::opened_alone, 0, map->l_name);
    return handle;
  }
  if (!instance<Regions>().may_span())
    end_job(1,
            "dlopen() of %s, a library of the program, in a parallel region or in a thread of the program's own: all "
            "ranks share its variables, so let main open it, outside of regions",
            map->l_name);
  check_functions();
  char* const file = realpath(map->l_name, nullptr);
  instance<Regions>().share_library(file, flags);
  std::free(file);
  libraries.run_constructors(0, nullptr, environ);
  return handle;
}

}  // namespace

void check_functions() {
  const auto is_refused = [](std::string_view name) { return !why_not(name).empty(); };
  if (const auto function = libgomp_function(is_refused); !function.empty())
    end_job(1, "this program calls %s, %s", function.data(), why_not(function).data());
}

void add_library_calls(std::vector<Import>& calls) { take(calls, "dlopen", open_library); }

}  // namespace hiroba::openmp
