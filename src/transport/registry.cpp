#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "transport/chaos/chaos.hpp"
#include "transport/net/join.hpp"
#include "transport/net/net.hpp"
#include "transport/net/plugin.hpp"
#include "transport/shm/shm.hpp"
#include "transport/trace/trace.hpp"
#include "transport/transport.hpp"

namespace hiroba {

namespace {

Status make_shm_in_job(const Options&, Job& job, std::unique_ptr<Transport>& out) {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (!Job::in_environment() && tasks != nullptr && std::atoi(tasks) > 1)
    return Status::error(
        format("srun has started %s tasks that know nothing of each other; add --mpi=pmix (Open MPI) "
               "or --mpi=pmi2 (MPICH) to srun",
               tasks));
  HIROBA_TRY(Job::from_environment(job));
  out = make_shm();
  return {};
}

std::vector<Capability> shm_capabilities() { return make_shm()->capabilities(); }
std::vector<std::string> always() { return {}; }

template <const char* transport>
std::vector<std::string> wires_of() {
  std::vector<std::string> lines;
  for (const WireEntry& wire : known_wires()) {
    if (std::strcmp(wire.transport, transport) != 0) continue;
    const std::string name = wire.flavour[0] == '\0' ? "plug-in" : wire.flavour;
    lines.push_back(name + ": " + (wire.why_not.empty() ? "yes" : "no: " + wire.why_not));
  }
  return lines;
}

template <const char* transport>
std::vector<Capability> capabilities_of() {
  WirePlugin::OneSided one_sided = WirePlugin::never;
  bool accumulates = false;
  for (const WireEntry& wire : known_wires()) {
    if (std::strcmp(wire.transport, transport) != 0) continue;
    one_sided = std::max(one_sided, wire.one_sided);
    accumulates = accumulates || wire.accumulates;
  }
  return net_capabilities(one_sided, accumulates);
}

constexpr char mpi[] = "mpi", ucx[] = "ucx", gasnet[] = "gasnet", armci[] = "armci";
constexpr std::array registry = {
    TransportEntry{"shm", "memory of this machine; virtual nodes", make_shm_in_job, shm_capabilities, always},
    TransportEntry{mpi, "two-sided messages of any MPI", make_net, capabilities_of<mpi>, wires_of<mpi>},
    TransportEntry{ucx, "UCX: TCP, InfiniBand, RoCE", make_net, capabilities_of<ucx>, wires_of<ucx>},
    TransportEntry{gasnet, "GASNet-EX, started by an MPI", make_net, capabilities_of<gasnet>, wires_of<gasnet>},
    TransportEntry{armci, "ARMCI on an MPI", make_net, capabilities_of<armci>, wires_of<armci>},
};

}  // namespace

std::span<const TransportEntry> transport_registry() { return registry; }

Status make_transport(const Options& options, Job& job, std::unique_ptr<Transport>& out) {
  out.reset();
  const std::string chosen = chosen_transport(options);
  for (const TransportEntry& entry : registry)
    if (chosen == entry.name) HIROBA_TRY(entry.make(options, job, out));
  if (const double seed = options.number("chaos"); seed > 0)
    out = make_chaos(std::move(out), static_cast<uint64_t>(seed));
  if (options.flag("trace")) out = make_trace(std::move(out));
  return {};
}

}  // namespace hiroba
