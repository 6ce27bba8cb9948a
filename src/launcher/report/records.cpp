#include "launcher/report/records.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/limits.hpp"
#include "base/record/record_file.hpp"
#include "base/record/record_json.hpp"
#include "base/record/sound_record.hpp"
#include "base/tables/options.hpp"
#include "base/text.hpp"
#include "memory/memory.hpp"

namespace hiroba {

namespace {

// The records lie at the places that the ranks compute from the same numbers. A rank that has not started has none.
Status map_records(const Job& job, bool final, std::vector<const RunRecord*>& out) {
  Options options;
  HIROBA_TRY(Options::from_environment(options));
  Layout layout;
  layout.space = used_space(options.bytes("space")), layout.nranks = job.nranks, layout.nnodes = job.nnodes;
  for (int rank = 0; rank < job.nranks; ++rank) {
    const int fd = job.node_fds[static_cast<size_t>(job.node_of(rank))];
    const auto at = static_cast<off_t>(layout.run_record(rank));
    const off_t end = lseek(fd, 0, SEEK_END);
    if (at < 0 || end < at + static_cast<off_t>(sizeof(RunRecord))) continue;
    void* const mapped = mmap(nullptr, sizeof(RunRecord), final ? PROT_READ | PROT_WRITE : PROT_READ,
                              final ? MAP_PRIVATE : MAP_SHARED, fd, at);
    if (mapped == MAP_FAILED)
      return Status::error("option report: cannot map a record (%s)", explain_error(errno).c_str());
    auto* const record = static_cast<RunRecord*>(mapped);
    if (final ? make_sound(*record) : record->magic == RunRecord::magic_value) out.push_back(record);
    else munmap(mapped, sizeof(RunRecord));
  }
  return {};
}

}  // namespace

Status map_records(const Job& job, std::vector<const RunRecord*>& out) { return map_records(job, false, out); }
Status map_final_records(const Job& job, std::vector<const RunRecord*>& out) { return map_records(job, true, out); }

std::string why_failed(int status) {
  if (status == 0) return "the job has failed";
  std::string out = format("the job has failed with status %d", status);
  if (status > 128) out += format(": signal %d (%s)", status - 128, strsignal(status - 128));
  return out;
}

Status write_data_of_failed(const std::string& data, int status, bool& any) {
  std::vector<const RunRecord*> records;
  HIROBA_TRY(read_record_files(data, records));
  any = !records.empty();
  if (!any) return {};
  std::string why = why_failed(status);
  const RunRecord& first = *records.front();
  std::vector<int> missing;
  for (int rank = 0; rank < first.nranks; ++rank)
    if (std::none_of(records.begin(), records.end(), [rank](const RunRecord* r) { return r->rank == rank; }))
      missing.push_back(rank);
  if (!missing.empty())
    why += format("; nothing is known here of ranks %s: on their hosts, file %s.rank-NUMBER has it",
                  show_numbers(missing).c_str(), data.c_str());
  HIROBA_TRY(write_records(records, why, data));
  remove_record_files(data, records);
  return {};
}

}  // namespace hiroba
