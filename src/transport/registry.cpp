#include <algorithm>
#include <cstdlib>

#include "base/tables/launchers.hpp"
#include "transport/chaos/chaos.hpp"
#include "transport/net/net.hpp"
#include "transport/shm/shm.hpp"
#include "transport/trace/trace.hpp"
#include "transport/transport.hpp"
#include "transport/wire/plugin.hpp"

namespace hiroba {

namespace {

Status make_shm_in_job(Job& job, std::unique_ptr<Transport>& out) {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (!Job::in_environment() && tasks != nullptr && std::atoi(tasks) > 1)
    return Status::error(
        "srun has started %s tasks that know nothing of each other; add --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH) to "
        "srun",
        tasks);
  HIROBA_TRY(Job::from_environment(job));
  out = make_shm();
  return {};
}

TransportEntry describe(const WireKind& kind) {
  TransportEntry entry = {kind.transport, kind.summary, {}, {}};
  WirePlugin::OneSided one_sided = WirePlugin::never;
  bool accumulates = false;
  for (const std::string mpi : kind.mpis) {
    WirePlugin plugin = {};
    const std::string why_not = look_at_plugin(kind, mpi, plugin);
    entry.found.push_back((mpi.empty() ? "plug-in" : mpi) + ": " + (why_not.empty() ? "yes" : "no: " + why_not));
    one_sided = std::max(one_sided, plugin.one_sided);
    accumulates = accumulates || plugin.accumulates;
  }
  entry.capabilities = net_capabilities(one_sided, accumulates);
  return entry;
}

}  // namespace

std::vector<TransportEntry> describe_transports() {
  std::vector<TransportEntry> entries = {
      {shm_name, "memory of this machine; virtual nodes", {}, make_shm()->capabilities()}};
  for (const WireKind& kind : wire_kinds) entries.push_back(describe(kind));
  return entries;
}

Status make_transport(const Options& options, Job& job, std::unique_ptr<Transport>& out) {
  out.reset();
  std::string name = options.text("transport");
  if (name == "auto") name = Job::in_environment() || launching_mpi().empty() ? shm_name : "mpi";
  if (name == shm_name) HIROBA_TRY(make_shm_in_job(job, out));
  else HIROBA_TRY(make_net(name, options, job, out));
  if (const double seed = options.number("chaos"); seed > 0)
    out = make_chaos(std::move(out), static_cast<uint64_t>(seed));
  if (options.flag("trace")) out = make_trace(std::move(out));
  return {};
}

}  // namespace hiroba
