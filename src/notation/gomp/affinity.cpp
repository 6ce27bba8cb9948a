// The functions on affinity formats tell where threads run, in C and in Fortran. libgomp knows the threads of
// a rank, and writes all that does not depend on the team.
#include "notation/gomp/affinity.hpp"

#include <strings.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

extern "C" int omp_get_ancestor_thread_num(int);

namespace {

// Returns the number for which a field of a format stands, by its letter or its name, if it is one of the team's.
std::optional<int> number_of(std::string_view field) {
  if (field == "n" || field == "thread_num") return member.thread;
  if (field == "N" || field == "num_threads") return member.threads;
  if (field == "a" || field == "ancestor_tnum") return omp_get_ancestor_thread_num(0);
  if (field == "t" || field == "team_num") return instance<Regions>().settings().team;
  if (field == "T" || field == "num_teams") return instance<Regions>().settings().teams;
  return {};
}

// A field is %[[0].size]letter or %[[0].size]{name}; the dot puts the number to the right.
std::string number_in(std::string_view flags, int number) {
  const bool zeros = flags.substr(0, 1) == "0", right = flags.find('.') != std::string_view::npos;
  const size_t digits = std::min(flags.find_first_not_of("0."), flags.size());
  const std::string size(flags.substr(digits));
  const std::string text = std::to_string(number);
  const size_t width = size.empty() ? 0 : std::min<size_t>(std::stoul(size), 4096);
  const size_t more = width > text.size() ? width - text.size() : 0;
  if (zeros) return std::string(more, '0') + text;
  return right ? std::string(more, ' ') + text : text + std::string(more, ' ');
}

// Returns the format with the numbers of the team of all ranks in their places.
std::string with_numbers(std::string_view format) {
  std::string out;
  while (!format.empty()) {
    const size_t at = std::min(format.find('%'), format.size());
    out += format.substr(0, at);
    format.remove_prefix(at);
    if (format.empty()) break;
    const size_t flags = std::min(format.find_first_not_of("0123456789.", 1), format.size());
    size_t end = std::min(flags + 1, format.size());
    std::string_view field = format.substr(flags, end - flags);
    if (field == "{") {
      const size_t close = std::min(format.find('}', end), format.size());
      field = format.substr(end, close - end), end = std::min(close + 1, format.size());
    }
    const std::optional<int> number = number_of(field);
    if (number) out += number_in(format.substr(1, std::min<size_t>(flags - 1, 16)), *number);
    else out += format.substr(0, end);
    format.remove_prefix(end);
  }
  return out;
}

std::string affinity_format() {
  std::string format(omp_get_affinity_format(nullptr, 0), ' ');
  omp_get_affinity_format(format.data(), format.size() + 1);
  return format;
}

std::string this_format(const char* format) {
  return with_numbers(format != nullptr && *format != 0 ? format : affinity_format());
}

std::string without_spaces(const char* text, size_t bytes) {
  const std::string_view all(text, bytes);
  return std::string(all.substr(0, all.find_last_not_of(' ') + 1));
}

}  // namespace

// libgomp displays threads by itself at the start of a region (OMP_DISPLAY_AFFINITY), with their numbers in the rank.
void hiroba::openmp::name_rank_in_displays(int rank) {
  const char* const displays = std::getenv("OMP_DISPLAY_AFFINITY");
  if (displays == nullptr || strcasecmp(displays, "true") != 0) return;
  omp_set_affinity_format(("rank " + std::to_string(rank) + " " + affinity_format()).c_str());
}

EXPORT size_t omp_capture_affinity(char* buffer, size_t bytes, const char* format) {
  if (!member.spans) return HIROBA_REAL(omp_capture_affinity)(buffer, bytes, format);
  return HIROBA_REAL(omp_capture_affinity)(buffer, bytes, this_format(format).c_str());
}
EXPORT void omp_display_affinity(const char* format) {
  if (!member.spans) return HIROBA_REAL(omp_display_affinity)(format);
  HIROBA_REAL(omp_display_affinity)(this_format(format).c_str());
}

EXPORT void omp_display_affinity_(const char* format, size_t bytes) {
  omp_display_affinity(without_spaces(format, bytes).c_str());
}
EXPORT int32_t omp_capture_affinity_(char* buffer, const char* format, size_t buffer_bytes, size_t bytes) {
  const std::string in_c = without_spaces(format, bytes);
  std::string text(omp_capture_affinity(nullptr, 0, in_c.c_str()), ' ');
  const auto needed = static_cast<int32_t>(text.size());
  omp_capture_affinity(text.data(), text.size() + 1, in_c.c_str());
  text.resize(std::max(text.size(), buffer_bytes), ' ');
  std::memcpy(buffer, text.data(), buffer_bytes);
  return needed;
}
