// Names the objects of a program that faults were on, in arrays that have many: variables of the executable by its
// symbols, allocated objects by the place of the allocation. For one thread; reads the executable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/debug/symbols.hpp"
#include "base/record/record.hpp"

namespace hiroba {

class ObjectNames {
 public:
  // An object may be used by other ranks than the one that has allocated it.
  explicit ObjectNames(const std::vector<const RunRecord*>& records);

  // Returns "u", or "main (heat.c:12)" of an allocated object; "": faults at the site were on several, or on none.
  std::string name(const SiteRecord& site, const CodeFile& code) const;

 private:
  struct Object {
    uint64_t end, code;
  };
  std::map<uint64_t, Object> objects_;  // by begin
};

}  // namespace hiroba
