// The records of a job's ranks (option report), from the memory files of its nodes.
#pragma once

#include <vector>

#include "base/job.hpp"
#include "base/record/record.hpp"

namespace hiroba {

// Maps the records of the ranks that have started; they stay mapped. `job` has the descriptors, this process's
// environment the options of the job.
Status map_records(const Job& job, std::vector<const RunRecord*>& out);

}  // namespace hiroba
