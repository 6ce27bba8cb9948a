// A job that runs on this machine, seen from outside: its board and the records of its ranks, from the memory files
// that its processes hold open. Nothing of the job changes. Only processes of this user are looked at, and no file that
// another process names is opened unless it is one of this user; what a board says is checked against its size.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/job.hpp"
#include "base/record/record.hpp"
#include "base/status.hpp"

namespace hiroba {

class RunningJob {
 public:
  RunningJob() = default;
  RunningJob(const RunningJob&) = delete;
  ~RunningJob();
  // `which`: the process of hirobarun or of a rank; "": the only job of this user. A job that has just been started
  // may have no ranks yet.
  static Status find(const std::string& which, RunningJob& out);

  pid_t process() const { return process_; }
  int nranks() const { return job_.nranks; }
  int nnodes() const { return job_.nnodes; }
  const RankBoard& rank(int r) const { return board_->rank(r); }
  // The job has nodes whose memory is not on this host.
  bool spreads() const { return job_.node_fds.empty(); }
  // Null: it has none that is known here, because neither option report nor stats is on; over hosts, without report.
  const RunRecord* record(int r);
  // Returns false when no rank on this host runs any more.
  bool runs() const;

 private:
  Status open(pid_t process);

  pid_t process_ = 0;
  Board* board_ = nullptr;
  Job job_;
  std::vector<const RunRecord*> records_;
};

}  // namespace hiroba
