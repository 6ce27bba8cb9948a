#include "launcher/report/records.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/limits.hpp"
#include "base/tables/options.hpp"
#include "memory/memory.hpp"

namespace hiroba {

// The records lie at the places that the ranks compute from the same numbers. A rank that has not started has none.
Status map_records(const Job& job, std::vector<const RunRecord*>& out) {
  Options options;
  HIROBA_TRY(Options::from_environment(options));
  Layout layout;
  layout.space = used_space(options.bytes("space")), layout.nranks = job.nranks, layout.nnodes = job.nnodes;
  for (int rank = 0; rank < job.nranks; ++rank) {
    const int fd = job.node_fds[static_cast<size_t>(job.node_of(rank))];
    const auto at = static_cast<off_t>(layout.run_record(rank));
    const off_t end = lseek(fd, 0, SEEK_END);
    if (end < at + static_cast<off_t>(sizeof(RunRecord))) continue;
    void* const mapped = mmap(nullptr, sizeof(RunRecord), PROT_READ, MAP_SHARED, fd, at);
    if (mapped == MAP_FAILED)
      return Status::error("option report: cannot map a record (%s)", explain_error(errno).c_str());
    const auto* const record = static_cast<const RunRecord*>(mapped);
    if (record->magic == RunRecord::magic_value) out.push_back(record);
  }
  return {};
}

}  // namespace hiroba
