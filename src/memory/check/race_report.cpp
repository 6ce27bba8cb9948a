#include "memory/check/race_report.hpp"

#include "base/status.hpp"

namespace hiroba {

std::string AccessReport::text() const { return format("%s %s %s %s", who.c_str(), verb, what.c_str(), where.c_str()); }

std::string in_code(const char* relation, const std::string& place) {
  return format("%s %s", relation, place.empty() ? "a place that is not known" : place.c_str());
}

std::string race_text(const char* kind, const std::string& on, const AccessReport& a, const AccessReport& b,
                      const std::string& missing) {
  return format("check: %s on %s: %s, and %s, %s", kind, on.c_str(), a.text().c_str(), b.text().c_str(),
                missing.c_str());
}

bool RaceReports::add(const char* on, const std::string& a, const std::string& b) {
  const auto pair = [on](const std::string& one, const std::string& other) {
    return format("%s %s %s", on, one.c_str(), other.c_str());
  };
  return reported_.count(pair(b, a)) == 0 && reported_.insert(pair(a, b)).second;
}

}  // namespace hiroba
