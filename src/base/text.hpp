// Text for people: sizes with units, and the nearest known word to a misspelt one. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hiroba {

// "64M", "1.5G", "4096", "2T" (powers of 1024, case ignored, optional "B" or "iB") to bytes; nothing if malformed.
std::optional<uint64_t> parse_bytes(std::string_view text);

// Numbers from 0 on, such as CPUs: "0-3,8" to 0,1,2,3,8, in this order; nothing if malformed or larger than 65535.
std::optional<std::vector<int>> parse_numbers(std::string_view text);

// Sorted and with ranges: {8, 0, 1, 2} -> "0-2,8".
std::string show_numbers(std::vector<int> numbers);

// 1536 -> "1.5 KiB".
std::string show_bytes(uint64_t bytes);

// The word in `known` with the smallest edit distance to `word`, or "" if none is near enough to be meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace hiroba
