// Option stats: lines of text about a rank's record, which has the numbers of option report. For one thread; allocates,
// and reads the executable to find lines.
#pragma once

#include <string>
#include <vector>

#include "base/debug/symbols.hpp"
#include "base/record/record.hpp"

namespace hiroba {

// Returns lines: times; regions of OpenMP; collective operations; arrays. The record is sealed.
std::vector<std::string> describe_record(const RunRecord& record);

// Returns "main (x.c:7)"; "" if nothing is known.
std::string place_of(const SiteRecord& site, const CodeFile& code);

}  // namespace hiroba
