#include "openmp/program/libraries.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "openmp/program/code.hpp"
#include "openmp/program/runtime.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

constexpr const char* call = "the start of an OpenMP program";

struct ObjectSearch {
  const void* inside;
  dl_phdr_info found;
};

int find_object(dl_phdr_info* object, size_t, void* argument) {
  ObjectSearch& search = *static_cast<ObjectSearch*>(argument);
  if (!program_of(*object).has(reinterpret_cast<uint64_t>(search.inside))) return 0;
  search.found = *object;
  return 1;
}

dl_phdr_info object_with(const void* inside) {
  ObjectSearch search = {inside, {}};
  dl_iterate_phdr(find_object, &search);
  return search.found;
}

bool has_thread_locals(const dl_phdr_info& object) {
  return std::any_of(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum,
                     [](const ElfW(Phdr) & header) { return header.p_type == PT_TLS; });
}

void do_nothing(int, char**, char**) {}

}  // namespace

Status share_variables(Memory& memory, const Program& program, const char* name) {
  if (program.data >= program.end) return {};
  if (!fill_gaps(program)) return Status::error("%s: no memory between its variables", name);
  Arrays::Request variables;
  variables.element_bytes = 1, variables.dim = {static_cast<int64_t>(program.end - program.data)}, variables.div = {1};
  variables.call = call, variables.place = name;
  variables.adopts = reinterpret_cast<const void*>(program.data);
  variables.sparse = variables.closable = true;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(variables, at));
  return memory.homes().set_policy(at, HomePolicy::migrating, variables.call);
}

// Called from the first of the library's constructors; the dynamic linker takes the next ones from the same table,
// which it has made read-only.
void Libraries::note_loaded(const void* inside) {
  if (!launched_with_others()) return;
  const InRuntime runtime;
  const dl_phdr_info object = object_with(inside);
  if (this_program().begin != shared_base) {
    log_line(
        "%s was linked by hirobacc -fopenmp-nodes, but the program was not: the library's variables are each rank's "
        "own, and its regions run on one rank; link the program by hirobacc -fopenmp-nodes, too",
        object.dlpi_name);
    return;
  }
  Library library = {object.dlpi_name, program_of(object), table_of(object), {}, has_thread_locals(object)};
  const std::span<void*> all = library.table.functions(DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
  auto* const page = reinterpret_cast<char*>(reinterpret_cast<uint64_t>(all.data()) / page_bytes * page_bytes);
  const auto bytes = static_cast<size_t>(reinterpret_cast<char*>(all.data() + all.size()) - page);
  if (mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0)
    end_job(1, "%s: the system does not let its constructors wait until its variables are shared", object.dlpi_name);
  for (void*& constructor : all.subspan(1)) {
    library.constructors.push_back(reinterpret_cast<Constructor>(constructor));
    constructor = reinterpret_cast<void*>(do_nothing);
  }
  mprotect(page, bytes, PROT_READ);
  libraries_.push_back(std::move(library));
}

Status Libraries::begin(Memory& memory, std::vector<Import> imports) {
  memory_ = &memory, imports_ = std::move(imports);
  replace_imports(Users::program, imports_);
  HIROBA_TRY(share());
  linked_ = shared_;
  return {};
}

Status Libraries::share() {
  if (!have_new()) return {};
  const InRuntime runtime;
  for (; have_new(); ++shared_) {
    HIROBA_TRY(share_one(libraries_[shared_]));
    later_thread_locals_ = later_thread_locals_ || (linked_.has_value() && libraries_[shared_].has_thread_locals);
  }
  replace_imports(Users::program, imports_);
  return {};
}

Status Libraries::share_one(const Library& library) {
  if (library.table.base != 0)
    return Status::error(
        "%s lies at %#lx, and not where it was linked for, at %#lx, so that all ranks share its variables: another "
        "library, or a tool, has these addresses; link one of them for others, as by "
        "-Wl,-Ttext-segment=%#lx (between %#lx and %#lx)",
        library.file.c_str(), library.at.begin, library.at.begin - library.table.base,
        library.at.begin - library.table.base + (uint64_t{256} << 20), libraries_begin, libraries_end);
  HIROBA_TRY(share_variables(*memory_, library.at, library.file.c_str()));
  const bool is_prepared = memory_->job().nnodes > 1 || memory_->checking();
  return is_prepared ? prepare_code(library.at) : Status();
}

void Libraries::run_constructors(int argc, char** argv, char** environment) {
  while (constructed_ < shared_) {
    const Library& library = libraries_[constructed_++];
    for (const Constructor constructor : library.constructors) constructor(argc, argv, environment);
  }
}

void Libraries::run_destructors() const {
  for (size_t i = constructed_; i-- > 0;) libraries_[i].table.run_destructors();
}

bool Libraries::has(uint64_t address) const {
  if (address < libraries_begin || address >= libraries_end) return false;
  return std::ranges::any_of(libraries_, [address](const Library& library) { return library.at.has(address); });
}

bool Libraries::has_variable(uint64_t address) const {
  if (address < libraries_begin || address >= libraries_end) return false;
  return std::ranges::any_of(libraries_, [address](const Library& library) {
    return library.at.has(address) && address >= library.at.data;
  });
}

std::string Libraries::loaded_later_with_thread_local(const void* address) const {
  for (size_t i = linked_.value_or(shared_); i < shared_; ++i) {
    if (!libraries_[i].has_thread_locals) continue;
    const dl_phdr_info object = object_with(reinterpret_cast<const void*>(libraries_[i].at.begin));
    for (int p = 0; p < object.dlpi_phnum; ++p) {
      const auto* const begin = static_cast<const char*>(object.dlpi_tls_data);
      if (object.dlpi_phdr[p].p_type == PT_TLS && begin != nullptr && address >= begin &&
          address < begin + object.dlpi_phdr[p].p_memsz)
        return libraries_[i].file;
    }
  }
  return "";
}

}  // namespace hiroba::openmp

// Each library of the program calls it first (openmp/library/first_constructor.c).
extern "C" __attribute__((visibility("default"))) void hiroba_openmp_library_loaded(const void* inside) {
  hiroba::instance<hiroba::openmp::Libraries>().note_loaded(inside);
}
