// The MPIs whose launchers Hiroba can use. The environment variables that a launcher sets tell which one has started
// this process.
#pragma once

#include <string>
#include <string_view>

namespace hiroba {

struct Mpi {
  const char* name;         // the name in option --mpi and in wires
  const char* title;        // for people
  const char* library;      // the beginning of its library's file name
  const char* launcher[2];  // its mpirun: the command, and its name elsewhere
  const char* package;      // Debian's
};
inline constexpr Mpi mpis[] = {
    {"openmpi", "Open MPI", "libmpi.so", {"mpirun.openmpi", "orterun"}, "openmpi-bin"},
    {"mpich", "MPICH", "libmpich.so", {"mpirun.mpich", "mpiexec.hydra"}, "mpich"},
};
inline constexpr char mpi_choices[] = "openmpi|mpich";

// Returns null if no MPI has this name.
const Mpi* find_mpi(std::string_view name);

// Returns the name of the MPI whose messages the processes of this launch can use; "" if no such launcher started us.
std::string launching_mpi();

// Returns this process's rank by that launcher; 0 if there is none.
int launched_number();

// The message (PMI-1) by which Hydra, MPICH's launcher, learns of a process that fails; "%d" is the exit status.
constexpr char hydra_abort[] = "cmd=abort exitcode=%d\n";

}  // namespace hiroba
