// The rendezvous of a cluster's launcher (mpirun of Open MPI, srun --mpi=pmix): PMIx, a shared table of keys and
// values. Used at start only; the connection to the launcher stays open until the job ends, because a process that ends
// without leaving PMIx first ends the job.
//
// Owner: the UCX wire. One thread calls at a time; PMIx has a thread of its own, which sleeps. allgather() blocks until
// all have called it.
#pragma once

#include <memory>

#include "transport/wire/wire.hpp"

namespace hiroba {

class PmixRendezvous : public Rendezvous {
 public:
  // Tells the launcher that this process ends orderly.
  virtual void leave() = 0;
};

Status join_pmix(std::unique_ptr<PmixRendezvous>& out);

}  // namespace hiroba
