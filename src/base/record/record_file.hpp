// Records of ranks that no hirobarun of ours watches, in files beside the data of the report: so what is known of a job
// that fails outlives its ranks, however they end. A rank removes its file at the usual end of the job.
//
// Thread-safe. `data`: the name of the report's data (report_data()).
#pragma once

#include <string>
#include <vector>

#include "base/record/record.hpp"
#include "base/status.hpp"

namespace hiroba {

std::string record_file(const std::string& data, int rank);
// Maps a new file, of zeros; its room on the disk is reserved.
Status create_record_file(const std::string& data, int rank, RunRecord*& out);
// Maps the record in a file, which its rank may go on to fill; null if there is none.
const RunRecord* map_record_file(const std::string& file);
// Maps copies of the records whose files are there, in the order of ranks; of those that came to no end, the times are
// those until the last event. Of several jobs with these files, those of the latest one.
Status read_record_files(const std::string& data, std::vector<const RunRecord*>& out);
void remove_record_files(const std::string& data, const std::vector<const RunRecord*>& records);

}  // namespace hiroba
