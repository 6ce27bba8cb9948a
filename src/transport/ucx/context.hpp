// Opens UCX with Hiroba's defaults, unless the user has set them (UCX_... variables).
//
//   setting             value    why
//   TLS                          sysv never: UCX lets the user's group into its segments. Between the ranks of one
//                                machine no tcp, so that nobody can connect to them, but posix, whose files are the
//                                user's alone and have no name when they are in use, if /dev/shm has room for it (it is
//                                tiny in many containers); else tcp, over the loopback device
//   MM_ERROR_HANDLING   y        else connections that report a dead peer cannot use shared memory
//   MEMORY_INVALIDATE   y        likewise for copies from process to process (cma). UCX does not stop such a copy when
//                                the peer is lost; harmless, because a lost peer ends the job
//   MM_FIFO_ELEM_SIZE   8256     a whole frame fits into an element of the queue in shared memory: a copy less
//   RNDV_THRESH         128k     without RDMA, rendezvous costs more than a copy: 64 KiB over tcp
//                                takes 21 us instead of 47, 16 KiB 8 instead of 40
//   RX_SEG_SIZE         128k     over tcp: fewer calls for a plane that has arrived
//   KEEPALIVE_INTERVAL  1s       a dead peer is detected within seconds, not within a minute
//   KEEPIDLE and so on  2s, ...  the same for a host that is cut off from the network
//
// Called at start, by one thread; does not block.
#pragma once

#include <signal.h>
#include <ucp/api/ucp.h>

#include <string>

#include "base/status.hpp"

namespace hiroba {

struct UcxContext {
  ucp_context_h handle = nullptr;
  std::string transports;  // "self, tcp, sysv, cma"
  bool has(const char* transport) const;
  // Returns true if the network moves data without the other side's processor.
  bool has_rdma() const { return has("rc_verbs") || has("rc_mlx5") || has("dc_mlx5"); }
  // Returns true if ranks may access each other's memory by UCX itself. With it on, UCX serves such requests of
  // every process that can connect: over tcp, one that knows an address, which no key protects there.
  bool has_remote_access() const { return has_rdma() || !has("tcp"); }
};

// `ranks`: of this machine, if the job has no others; else 0.
Status open_ucx(int ranks, UcxContext& out);

// Restores signals that UCX takes over, with their stack, at its load for crash reports; Hiroba, which depends on them,
// and the program need them.
void return_signals();

// Blocks signals during its lifetime, so that threads started in it leave the program's signals to the program's
// threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace hiroba
