#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

Status Status::error(std::string message) {
  Status failure;
  failure.message_ = std::make_unique<const std::string>(std::move(message));
  return failure;
}

const std::string& Status::message() const {
  static const std::string none;
  return ok() ? none : *message_;
}

namespace {

std::string format_list(const char* pattern, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

}  // namespace

std::string format(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  std::string text = format_list(pattern, arguments);
  va_end(arguments);
  return text;
}

Status Status::error(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  std::string text = format_list(pattern, arguments);
  va_end(arguments);
  return error(std::move(text));
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string unit;
  for (; *end != '\0'; ++end) unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*end)));
  if (unit.size() >= 2 && unit.ends_with("IB")) unit.resize(unit.size() - 2);
  else if (unit.ends_with("B")) unit.pop_back();
  const std::string_view units = "KMGTP";
  double scale = 1;
  if (!unit.empty()) {
    const size_t index = units.find(unit[0]);
    if (unit.size() != 1 || index == std::string_view::npos) return std::nullopt;
    scale = std::pow(1024.0, static_cast<double>(index + 1));
  }
  if (number * scale >= 9.2e18) return std::nullopt;
  return static_cast<uint64_t>(number * scale);
}

std::optional<std::vector<int>> parse_numbers(std::string_view text) {
  constexpr int most = 65535;
  std::vector<int> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int& value) {
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > most) return false;
    at = after;
    return true;
  };
  for (;; ++at) {
    int first = 0;
    if (!number(first)) return std::nullopt;
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return std::nullopt;
    }
    for (int i = first; i <= last; ++i) out.push_back(i);
    if (at == end) return out;
    if (*at != ',') return std::nullopt;
  }
}

std::string show_numbers(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) out += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string show_bytes(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 5) value /= 1024, ++unit;
  const bool whole = value == std::floor(value);
  return format(whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 2) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

namespace {

// Returns the bytes of the character that begins the text; 0 if it is no character, or one that controls a terminal.
size_t shown_bytes(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return first == 0xc2 && byte(1) < 0xa0 ? 0 : bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (size_t bytes; !text.empty(); text.remove_prefix(std::max<size_t>(1, bytes))) {
    bytes = shown_bytes(text);
    if (bytes == 0) out += '?';
    else out += text.substr(0, bytes);
  }
  return out;
}

}  // namespace hiroba
