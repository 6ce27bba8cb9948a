// The records of a job's ranks (option report), from the memory files of its nodes.
#pragma once

#include <string>
#include <vector>

#include "base/job.hpp"
#include "base/record/record.hpp"

namespace hiroba {

// Maps the records of the ranks that have started; they stay mapped. `job` has the descriptors, this process's
// environment the options of the job. map_records() shows what the ranks go on to write, and as they write it;
// map_final_records() maps sound copies (sound_record.hpp).
Status map_records(const Job& job, std::vector<const RunRecord*>& out);
Status map_final_records(const Job& job, std::vector<const RunRecord*>& out);

// Returns the reason, for a report; 0: the status is not known.
std::string why_failed(int status);
// Writes the data of a job that has failed with `status` (0: it is not known) from the files of its ranks
// (record_file.hpp), and removes these. `any` is false if there are none.
Status write_data_of_failed(const std::string& data, int status, bool& any);

}  // namespace hiroba
