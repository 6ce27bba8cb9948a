// Finds the place of a process in a job over a wire: the ranks, those that share its node, and the memory files of that
// node. Under hirobarun on one machine the launcher has arranged nodes and files; under mpirun or srun the ranks do it.
// Collective, called once at start.
#pragma once

#include <netinet/in.h>

#include <memory>
#include <vector>

#include "base/job.hpp"
#include "base/tables/options.hpp"
#include "transport/wire/keys.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

struct Joined {
  Job job;
  std::unique_ptr<Wire> wire;
  std::vector<int> wire_ranks;     // of each rank
  std::vector<std::string> hosts;  // of each node
  struct Address {
    in6_addr address;
    int node;
  };
  std::vector<Address> addresses;  // of all nodes
  JobSecret secret = {};           // of this job
  bool program_uses_library = false;
};

// By the wire with this name.
Status join_job(const std::string& transport, const Options& options, const Wire::Hooks& hooks, Joined& out);

}  // namespace hiroba
