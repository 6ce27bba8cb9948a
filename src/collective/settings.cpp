#include "collective/settings.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

constexpr std::array entries = {std::pair{"lane_copied", &Tuning::lane_copied},
                                std::pair{"lane_combined", &Tuning::lane_combined},
                                std::pair{"sliced", &Tuning::sliced}, std::pair{"tree_ranks", &Tuning::tree_ranks}};

Status set(const char* line, const std::string& where, Tuning& out) {
  char name[32];
  unsigned long long value = 0;
  if (line[0] == '#' || line[0] == '\n') return {};
  if (std::sscanf(line, "%31s %llu", name, &value) == 2)
    for (const auto& [known, member] : entries)
      if (std::strcmp(name, known) == 0) return out.*member = value, Status();
  std::string names;
  for (const auto& [known, member] : entries) names += names.empty() ? known : std::string(", ") + known;
  return Status::error("%s: \"%.*s\" is no setting; write NAME NUMBER, with %s", where.c_str(),
                       static_cast<int>(std::strcspn(line, "\n")), line, names.c_str());
}

}  // namespace

Status Tuning::read(const std::string& file, Tuning& out) {
  if (file.empty()) return {};
  FILE* const in = std::fopen(file.c_str(), "re");
  if (in == nullptr)
    return Status::error("option tuning=%s: %s; `hiroba tune` writes such a file", file.c_str(),
                         explain_error(errno).c_str());
  char line[256];
  Status status;
  for (int number = 1; status.ok() && std::fgets(line, sizeof line, in) != nullptr; ++number)
    status = set(line, format("option tuning: %s:%d", file.c_str(), number), out);
  std::fclose(in);
  return status;
}

}  // namespace hiroba
