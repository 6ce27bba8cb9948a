// Text for people: sizes with units, and the nearest known word to a misspelt one. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shown.hpp"

namespace hiroba {

// Parses "64M", "1.5G", "4096", "2T" (powers of 1024, case ignored, optional "B" or "iB"); nullopt if malformed.
std::optional<uint64_t> parse_bytes(std::string_view text);

// Parses numbers from 0 on, such as CPUs: "0-3,8" gives 0,1,2,3,8, in this order; nullopt if malformed or above 65535.
std::optional<std::vector<int>> parse_numbers(std::string_view text);

// Formats numbers, sorted and with ranges: {8, 0, 1, 2} gives "0-2,8".
std::string show_numbers(std::vector<int> numbers);

// Formats a size: 1536 gives "1.5 KiB".
std::string show_bytes(uint64_t bytes);

// Returns the word in `known` with the smallest edit distance to `word`, or "" if none is near enough to be meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// Returns text of files and of other processes for a terminal: characters that control it, and bytes that are no UTF-8,
// become '?'.
[[HIROBA_SHOWN]] std::string printable(std::string_view text);

}  // namespace hiroba
