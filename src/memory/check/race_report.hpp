// Part of the contract of this floor, for option check: how messages describe an access of the program, and two
// accesses that nothing orders. Values; for one thread.
#pragma once

#include <set>
#include <string>

namespace hiroba {

// "rank 1 writes a[3] in update (main.c:12)"
struct AccessReport {
  std::string who;
  const char* verb;
  std::string what, where;

  std::string text() const;
};

// Returns where something is in the code: `relation` is "in", "near" or "at"; an empty place is not known.
std::string in_code(const char* relation, const std::string& place);

// Returns "check: race on a: rank 1 writes a[3] in main.c:12, and rank 2 reads it in main.c:20, with no barrier
// between" for kind "race"; `missing` is the end of that, and what to do.
std::string race_text(const char* kind, const std::string& on, const AccessReport& a, const AccessReport& b,
                      const std::string& missing);

// The pairs of accesses that have been reported.
class RaceReports {
 public:
  // Returns true, once for each pair: of places in the program, in any order, that access what `on` names.
  bool add(const char* on, const std::string& a, const std::string& b);

 private:
  std::set<std::string> reported_;
};

}  // namespace hiroba
