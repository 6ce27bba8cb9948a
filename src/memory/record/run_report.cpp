#include "memory/record/run_report.hpp"

#include <algorithm>
#include <vector>

#include "base/log.hpp"
#include "base/record/record_file.hpp"
#include "base/record/record_json.hpp"
#include "base/wait.hpp"
#include "memory/parts.hpp"
#include "memory/record/array_record.hpp"
#include "memory/record/placement.hpp"

namespace hiroba {

static_assert(sizeof(RunRecord) <= Layout::run_record_bytes);

// Without hirobarun nobody else has the node's memory after the end of the ranks. A rank that cannot write the file has
// no record if the job fails, and the report says so.
void RunReport::begin(const std::string& file) {
  const MemoryParts& parts = parts_;
  file_ = file;
  auto* record = reinterpret_cast<RunRecord*>(parts.space.base() + parts.layout.run_record(parts.job.rank));
  if (!file.empty() && !parts.job.launched && check_report_name(file).ok())
    (void)create_record_file(report_data(file), parts.job.rank, record);
  record->rank = parts.job.rank, record->nranks = parts.job.nranks;
  record->node = parts.job.node, record->nnodes = parts.job.nnodes;
  record->began = parts.times.began;
  start_record(*record);
}

void RunReport::array_ends(Array& array) const {
  if (recording()) end_array_record(array, parts_.home_policies.pages_alone(array));
}

void RunReport::seal() const {
  if (!recording()) return;
  const MemoryParts& parts = parts_;
  RunRecord& record = *run_record;
  parts.table.for_each_live([&parts](Array& array) {
    if (!array.is_heap || array.record.load() != 0) describe_array(array, parts.home_policies.pages_alone(array));
  });
  const Barriers::Waits& waits = parts.collective.barriers().waits();
  record.seconds = seconds_now() - parts.times.began;
  record.collective = std::max(waits.seconds, seconds_spent(record, TimeKind::collective));
  for (size_t r = 0; r < std::min<size_t>(waits.for_rank.size(), RunRecord::most_ranks); ++r)
    record.waited_for[r] = waits.for_rank[r];
  const Transport::Traffic traffic = parts.transport->traffic();
  record.messages = traffic.messages, record.message_bytes = traffic.bytes;
  seal_record(record);
  record.complete = parts.board->rank(parts.job.rank).phase.load() == Phase::leaving ? 0 : 1;
}

Status RunReport::explain_placement(const char* call, std::string& out) const {
  if (!recording()) return {};
  const std::vector<ArrayPlacement> placements = placements_of(*run_record);
  std::vector<std::vector<char>> all;
  const std::span<const char> mine = {reinterpret_cast<const char*>(placements.data()),
                                      placements.size() * sizeof placements[0]};
  HIROBA_TRY(parts_.collective.teams().gather(call, mine, all));
  if (parts_.job.rank == 0) out = describe_placements(all, HomePolicies::most_exceptions);
  return {};
}

Status RunReport::write(const char* call) const {
  if (!recording() || file_.empty() || parts_.job.launched) return {};
  std::vector<std::vector<char>> all;
  const std::span<const char> mine = {reinterpret_cast<const char*>(run_record), sizeof *run_record};
  HIROBA_TRY(parts_.collective.teams().gather(call, mine, all));
  remove_record_files(report_data(file_), {run_record});
  if (parts_.job.rank != 0) return {};
  std::vector<const RunRecord*> records;
  for (const std::vector<char>& record : all) records.push_back(reinterpret_cast<const RunRecord*>(record.data()));
  HIROBA_TRY(write_records(records, "", file_));
  if (report_data(file_) != file_)
    log_line("option report: %s has the data; `hiroba report %s %s` makes the page", report_data(file_).c_str(),
             report_data(file_).c_str(), file_.c_str());
  return {};
}

}  // namespace hiroba
