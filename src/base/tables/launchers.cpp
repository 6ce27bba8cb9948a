#include "base/tables/launchers.hpp"

#include <cstdlib>

namespace hiroba {

const Mpi* find_mpi(std::string_view name) {
  for (const Mpi& mpi : mpis)
    if (name == mpi.name) return &mpi;
  return nullptr;
}

std::string launching_mpi() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (is_set("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (is_set("PMI_SIZE") || is_set("PMI_FD")) return "mpich";  // Hydra, and srun --mpi=pmi2
  if (is_set("PMIX_RANK")) return "openmpi";                   // srun --mpi=pmix
  return "";
}

int launched_number() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* const number = std::getenv(name)) return std::atoi(number);
  return 0;
}

}  // namespace hiroba
