#include "memory/homes/homes.hpp"

#include "memory/homes/placement.hpp"
#include "memory/parts.hpp"

namespace hiroba {

Status Homes::set_policy(void* data, HomePolicy policy, const char* call) {
  HIROBA_TRY(parts_.collective.barriers().all(call));
  Array* array = nullptr;
  HIROBA_TRY(in_call(call, parts_.arrays.find(data, array)));
  HIROBA_TRY(in_call(call, parts_.arrays.check_movable(*array)));
  parts_.home_policies.set(*array, policy);
  return {};
}

Status Homes::explain(const char* call, std::string& out) const {
  if (!recording()) return {};
  const std::vector<ArrayPlacement> placements = placements_of(*run_record);
  std::vector<std::vector<char>> all;
  const std::span<const char> mine = {reinterpret_cast<const char*>(placements.data()),
                                      placements.size() * sizeof placements[0]};
  HIROBA_TRY(parts_.collective.teams().gather(call, mine, all));
  if (parts_.job.rank == 0) out = describe_placements(all);
  return {};
}

}  // namespace hiroba
