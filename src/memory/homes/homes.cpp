#include "memory/homes/homes.hpp"

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

}  // namespace hiroba
