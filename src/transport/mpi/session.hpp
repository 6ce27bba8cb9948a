// A process's part in an MPI job, shared by all wires whose library uses MPI: starts MPI or joins the program's, makes
// a communicator of its own, and leaves again.
//
// Owner: the wire. As for the wire, one thread calls at a time. join(), allgather(), make_communicator() and leave()
// are collective and block.
// are collective and block.
#pragma once

#define OMPI_SKIP_MPICXX 1  // only the C interface
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <string>
#include <vector>

#include "transport/wire/wire.hpp"

namespace hiroba {

// Returns MPI's text for an error.
std::string explain_mpi(int error);

class MpiSession {
 public:
  Status join(const Wire::Start& start);
  // Requires a barrier of all before it. Finalizes MPI if join() has started it.
  void leave();

  // "Open MPI v4.1.4"
  static std::string describe();
  int rank() const { return rank_; }
  int size() const { return size_; }
  // MPI sends fewer bytes than this eagerly; 0: not known.
  size_t at_once() const { return at_once_; }
  MPI_Comm communicator() const { return ours_only_; }
  Status allgather(const void* mine, void* all, size_t bytes);
  size_t make_communicator(int rank, void* out, size_t room);

 private:
  Status initialise(bool program_uses_mpi);
  void set_up_ucx(bool program_uses_mpi);
  // Closes the ports that MPI has opened, other than `others`, to hosts without part in the job.
  Status keep_others_out(const std::vector<int>& others);
  void watch_for_finalize();
  static bool leave_hydra();

  Wire::Start start_ = {};
  int rank_ = 0, size_ = 1;
#ifdef OPEN_MPI
  size_t at_once_ = 64 << 10;  // its TCP's eager limit
#else
  size_t at_once_ = 0;
#endif
  bool started_by_us_ = false, watched_ = false;
  int watch_ = MPI_KEYVAL_INVALID;
  MPI_Comm ours_only_ = MPI_COMM_NULL, program_ = MPI_COMM_NULL;
};

// A wire between the processes of a session.
class SessionWire : public Wire {
 public:
  int rank() const override { return session_.rank(); }
  int size() const override { return session_.size(); }
  Status allgather(const void* mine, void* all, size_t bytes) override { return session_.allgather(mine, all, bytes); }
  size_t make_communicator(int rank, void* out, size_t room) override {
    return session_.make_communicator(rank, out, room);
  }

 protected:
  MpiSession session_;
};

}  // namespace hiroba
