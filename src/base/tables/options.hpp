// The options of the runtime: one table of name, kind, default and help. `hirobarun --NAME VALUE`, the environment
// variable HIROBA_NAME, `hiroba info` and docs/options.md all come from it. An Options object does not change once it
// is read, so threads may share it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

enum class OptionKind { text, choice, bytes, number, flag };

struct Option {
  const char* name;  // lower case, words joined by '-'
  OptionKind kind;
  const char* fallback;  // value when it is not set
  const char* choices;   // for choice: "a|b|c"; else the placeholder of the value, e.g. "SIZE"
  const char* help;      // one sentence or two
};

std::span<const Option> option_table();

// Returns "HIROBA_" + the name in capitals with '_' for '-'.
std::string environment_name(const Option& option);

// Fails if `value` is not valid for `option`.
Status check_option(const Option& option, std::string_view value);

// Returns "no option 'cahe'; did you mean 'cache'?"
std::string unknown_option(std::string_view name);

// Returns the table as Markdown, for docs/options.md.
std::string options_markdown();

class Options {
 public:
  // Reads HIROBA_* variables over the defaults; fails for unknown HIROBA_ names and bad values.
  static Status from_environment(Options& out);

  const std::string& text(std::string_view name) const;
  uint64_t bytes(std::string_view name) const;  // kind bytes
  double number(std::string_view name) const;   // kind number
  bool flag(std::string_view name) const;       // kind flag

 private:
  std::vector<std::string> values_;  // in the order of the table
};

}  // namespace hiroba
