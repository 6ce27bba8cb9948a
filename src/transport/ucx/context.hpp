// Opening UCX: what Hiroba sets otherwise than UCX does by itself, where the user has not set it (UCX_... variables).
//
//   setting            value  why
//   TLS                ^posix  shared memory without files: /dev/shm is tiny in many containers; sysv is as fast
//   MM_ERROR_HANDLING  y       else connections that tell of a dead peer cannot use shared memory
//   MEMORY_INVALIDATE  y       likewise for copies from process to process (cma). UCX does not stop such a copy when the
//                              peer is lost; that does no harm where a lost peer ends the job
//   KEEPALIVE_INTERVAL 2s      a dead peer is noticed within seconds, not within a minute
//   KEEPIDLE, ...      2s, ... the same for a host that has vanished from the network
//
// Called at start, by one thread; does not block.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

#include "base/status.hpp"

namespace hiroba {

struct UcxContext {
  ucp_context_h handle = nullptr;
  std::string transports;  // "self, tcp, sysv, cma"
  bool has(const char* transport) const;
};

Status open_ucx(UcxContext& out);

// When UCX is loaded, it takes over signals (and the stack on which they are handled) for reports of crashes; Hiroba,
// which lives on such signals, and the program want their own back.
void return_signals();

}  // namespace hiroba
