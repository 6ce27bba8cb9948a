// The MPIs whose launchers Hiroba can use, and which launcher has started this process, by what it leaves in the
// environment.
#pragma once

#include <string>
#include <string_view>

namespace hiroba {

struct Mpi {
  const char* name;         // as option --mpi and wires have it
  const char* title;        // for people
  const char* library;      // how the file name of its library begins
  const char* launcher[2];  // its mpirun: the command, and what it is called elsewhere
  const char* package;      // Debian's
};
inline constexpr Mpi mpis[] = {
    {"openmpi", "Open MPI", "libmpi.so", {"mpirun.openmpi", "orterun"}, "openmpi-bin"},
    {"mpich", "MPICH", "libmpich.so", {"mpirun.mpich", "mpiexec.hydra"}, "mpich"},
};
inline constexpr char mpi_choices[] = "openmpi|mpich";

// Null if there is none of this name.
const Mpi* find_mpi(std::string_view name);

// The name of the MPI whose messages the processes of this launch can use; "" if no such launcher started us.
std::string launching_mpi();

// This process's rank by that launcher; 0 if there is none.
int launched_number();

// The message (PMI-1) by which Hydra, MPICH's launcher, learns of a process that fails; "%d" is the exit status.
constexpr char hydra_abort[] = "cmd=abort exitcode=%d\n";

}  // namespace hiroba
