// Writes the records of all ranks as the data of a report (docs/report.md). For one thread, when the ranks have ended
// or have nothing more to record; allocates, and reads the executable to find lines.
#pragma once

#include <string>
#include <vector>

#include "base/record/record.hpp"
#include "base/status.hpp"

namespace hiroba {

// Refuses names of no known kind, and folders that cannot be written.
Status check_report_name(const std::string& file);
// Returns the file that has the data: for the name of a page or of a trace another one, beside it.
std::string report_data(const std::string& file);
// `why_incomplete`: the reason that the job has ended by; "": by its end. The file, that of
// report_data(), appears as a whole or not at all.
Status write_records(const std::vector<const RunRecord*>& records, const std::string& why_incomplete,
                     const std::string& file);

}  // namespace hiroba
