#include "base/record/sound_record.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/job.hpp"

namespace hiroba {

namespace {

template <size_t size>
void end(char (&text)[size]) {
  text[size - 1] = '\0';
}

// Seconds, joules and watts are finite, and small enough for arithmetic in integers.
template <typename Number>
void bound(Number& value) {
  constexpr Number most = 1e12;
  if (!std::isfinite(value)) value = 0;
  value = std::clamp(value, -most, most);
}

void bound_times(RunRecord& record) {
  for (double* const value : {&record.began, &record.seconds, &record.collective, &record.processor, &record.queued,
                              &record.barrier_came, &record.barrier_wait, &record.machine_seconds, &record.idle_watts})
    bound(*value);
  for (double& value : record.waited_for) bound(value);
  for (auto& events : record.timeline.events)
    for (EventRecord& event : events) bound(event.begin), bound(event.seconds);
}

void bound_energy(RunRecord& record) {
  end(record.energy_unknown);
  record.energies = std::min(record.energies, RunRecord::most_energies);
  for (EnergyRecord& energy : record.energy) end(energy.name), bound(energy.seconds);
}

void bound_arrays(RunRecord& record) {
  constexpr int policies = 3;
  for (ArrayRecord& array : record.arrays) {
    end(array.name);
    array.ndims = std::clamp(array.ndims, 0, static_cast<int>(std::size(array.dims)));
    if (array.policy < 0 || array.policy >= policies) array.policy = 0;
  }
}

void bound_sites(RunRecord& record) {
  for (SiteRecord& site : record.sites) {
    end(site.call), end(site.way), end(site.text);
    if (site.kind >= site_kinds) site.kind = 0, site.key = 0;
  }
}

}  // namespace

bool make_sound(RunRecord& record) {
  if (record.magic != RunRecord::magic_value || record.nranks < 1 || record.nranks > most_ranks_of_job ||
      record.rank < 0 || record.rank >= record.nranks || record.nnodes < 1 || record.nnodes > record.nranks ||
      record.node < 0 || record.node >= record.nnodes)
    return false;
  end(record.host), end(record.executable), end(record.cpus), end(record.machine);
  bound_times(record);
  bound_energy(record);
  bound_arrays(record);
  bound_sites(record);
  return true;
}

}  // namespace hiroba
