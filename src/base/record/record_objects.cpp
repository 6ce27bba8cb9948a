#include "base/record/record_objects.hpp"

#include <iterator>

namespace hiroba {

ObjectNames::ObjectNames(const std::vector<const RunRecord*>& records) {
  for (const RunRecord* record : records)
    for (const ObjectRecord& object : record->objects)
      if (const uint64_t begin = object.begin; begin != 0) objects_[begin] = {begin + object.bytes, object.code};
}

std::string ObjectNames::name(const SiteRecord& site, const CodeFile& code) const {
  const uint64_t low = site.low, high = site.high;
  if (low == 0) return "";
  const auto after = objects_.upper_bound(low);
  if (after != objects_.begin() && high < std::prev(after)->second.end) {
    const uint64_t caller = std::prev(after)->second.code;
    return caller == 0 ? "" : code.location(caller - 1);
  }
  std::string variable = code.variable(low);
  return code.variable(high) == variable ? variable : "";
}

}  // namespace hiroba
