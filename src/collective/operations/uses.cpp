#include "collective/operations/uses.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/limits.hpp"
#include "base/wait.hpp"

namespace hiroba {

void Uses::start(const std::string& file) { file_ = file, last_ = seconds_now(); }

void Uses::begin(const char* name, size_t bytes) {
  if (file_.empty()) return;
  std::string operation(name, std::strcspn(name, "("));
  constexpr const char prefix[] = "hiroba_";
  if (operation.starts_with(prefix)) operation.erase(0, sizeof prefix - 1);
  if (operation.starts_with("i")) operation.erase(0, 1);
  Use& use = uses_[{operation, bytes}];
  ++use.calls;
  use.computed += seconds_now() - last_;
}

void Uses::end() {
  if (!file_.empty()) last_ = seconds_now();
}

Status Uses::write() const {
  if (file_.empty()) return {};
  std::FILE* const out = std::fopen(file_.c_str(), "we");
  if (out == nullptr)
    return Status::error("option trace-collectives=%s: %s", file_.c_str(), explain_error(errno).c_str());
  std::fprintf(out, "[");
  const char* before = "\n";
  for (const auto& [what, use] : uses_) {
    std::fprintf(out, "%s  {\"collective\": \"%s\", \"bytes\": %zu, \"calls\": %lu, \"compute_seconds_between\": %.3g}",
                 before, what.first.c_str(), what.second, use.calls, use.computed / static_cast<double>(use.calls));
    before = ",\n";
  }
  std::fprintf(out, "\n]\n");
  const bool written = std::fclose(out) == 0;
  return written ? Status()
                 : Status::error("option trace-collectives=%s: %s", file_.c_str(), explain_error(errno).c_str());
}

}  // namespace hiroba
