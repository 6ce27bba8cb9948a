#include "openmp/system/fortran_units.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "openmp/program/runtime.hpp"
#include "openmp/system/descriptors.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

Status FortranUnits::begin(Memory& memory) {
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "units of Fortran", sizeof(Unit), most), at));
  units_ = static_cast<Unit*>(at);
  memory_ = &memory;
  return {};
}

const FortranUnits::Unit* FortranUnits::find(int unit, int& rank) const {
  const InRuntime runtime;
  if (memory_ == nullptr) return nullptr;
  for (rank = 0; rank < memory_->job().nranks; ++rank)
    for (const Unit* at = units_ + most * rank; at < units_ + most * (rank + 1) && at->number != 0; ++at)
      if (at->is_open && at->number == unit) return at;
  return nullptr;
}

void FortranUnits::open(int unit, bool sequential) {
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  if (memory_ == nullptr) return;
  Unit* const first = units_ + most * memory_->job().rank;
  for (Unit* at = first; at < first + most; ++at) {
    if (at->is_open && at->number != unit) continue;
    *at = {unit, true, sequential};
    return;
  }
}

void FortranUnits::close(int unit) {
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  if (memory_ == nullptr) return;
  Unit* const first = units_ + most * memory_->job().rank;
  for (Unit* at = first; at < first + most; ++at)
    if (at->number == unit) at->is_open = false;
}

bool FortranUnits::is_open_here(int unit) {
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  if (memory_ == nullptr) return true;
  const Unit* const first = units_ + most * memory_->job().rank;
  for (const Unit* at = first; at < first + most && at->number != 0; ++at)
    if (at->is_open && at->number == unit) return true;
  return false;
}

int FortranUnits::owner(int unit) const {
  int rank = 0;
  return find(unit, rank) != nullptr ? rank : -1;
}

bool FortranUnits::is_sequential(int unit) const {
  int rank = 0;
  const Unit* const found = find(unit, rank);
  return found != nullptr && found->sequential;
}

int FortranUnits::unit_of(const char* name) {
  constexpr int first = 1 << 20;
  const int unit = std::strncmp(name, "fort.", 5) == 0 ? std::atoi(name + 5) : 0;
  return unit >= first ? unit : 0;
}

int FortranUnits::open_file_in_memory(int unit) {
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  return files_[unit] = instance<Descriptors>().adopt(memfd_create("unit of Fortran", MFD_CLOEXEC));
}

int FortranUnits::file_in_memory(int unit) {
  const std::lock_guard guard(lock_);
  const auto found = files_.find(unit);
  return found == files_.end() ? -1 : found->second;
}

}  // namespace hiroba::openmp
