#include "launcher/top/running_job.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/backing/node_memory.hpp"
#include "base/limits.hpp"
#include "base/machine/proc.hpp"
#include "base/record/record_file.hpp"
#include "base/record/record_json.hpp"
#include "base/tables/options.hpp"
#include "base/text.hpp"
#include "launcher/report/records.hpp"

namespace hiroba {

namespace {

namespace fs = std::filesystem;

// The descriptors of a process by the memory files that they name: "hiroba-board", "hiroba-node".
std::map<std::string, std::vector<int>> memory_files(pid_t process) {
  std::map<std::string, std::vector<int>> out;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(format("/proc/%d/fd", process), error)) {
    const std::string file = fs::read_symlink(entry.path(), error).string();
    const std::string name = error ? "" : memory_file_name(file);
    if (!name.empty()) out[name].push_back(std::atoi(entry.path().filename().c_str()));
  }
  for (auto& [name, numbers] : out) std::sort(numbers.begin(), numbers.end());
  return out;
}

// A descriptor of a process may be changed into one of anything; the open of a FIFO would wait.
int open_of(pid_t process, int descriptor) {
  return ::open(format("/proc/%d/fd/%d", process, descriptor).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

// The processes that hold a board, by the board's number; of each board the first process.
std::map<ino_t, pid_t> processes_with_boards() {
  std::map<ino_t, pid_t> out;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process <= 0 || process == getpid() || !is_own_process(process)) continue;
    auto files = memory_files(process);
    for (const int descriptor : files["hiroba-board"]) {
      struct stat info;
      if (stat(format("/proc/%d/fd/%d", process, descriptor).c_str(), &info) != 0) continue;
      pid_t& first = out.try_emplace(info.st_ino, process).first->second;
      first = std::min(first, process);
    }
  }
  return out;
}

// The places of records follow from options, which a rank has in its environment. Its number is from the board.
void take_options_of(pid_t process) {
  if (!is_own_process(process)) return;
  std::ifstream file(format("/proc/%d/environ", process), std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');)
    if (const size_t equals = entry.find('='); entry.starts_with("HIROBA_") && equals != std::string::npos)
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
}

// Ranks that mpirun has started keep their records in files.
const RunRecord* record_in_file(int rank, pid_t process) {
  Options options;
  if (!is_own_process(process) || !Options::from_environment(options).ok() || options.text("report").empty())
    return nullptr;
  const std::string file = record_file(report_data(options.text("report")), rank);
  return map_record_file(file.starts_with('/') ? file : format("/proc/%d/cwd/%s", process, file.c_str()));
}

}  // namespace

Status RunningJob::open(pid_t process) {
  if (!is_own_process(process))
    return Status::error("top: process %d is not there, or of another user; a job is shown to its own user alone",
                         process);
  const std::map<std::string, std::vector<int>> files = memory_files(process);
  const auto board = files.find("hiroba-board"), nodes = files.find("hiroba-node");
  if (board == files.end())
    return Status::error(
        "top: process %d is neither hirobarun nor a rank of a job that you may look at; give the "
        "number of such a process, as ps shows it",
        process);
  const int fd = open_of(process, board->second.back());
  if (fd < 0)
    return Status::error("top: cannot look at the job of process %d (%s)", process, explain_error(errno).c_str());
  const Status mapped = map_board_to_read(fd, board_);
  ::close(fd);
  if (!mapped.ok())
    return Status::error("top: cannot look at the job of process %d: %s", process, mapped.message().c_str());
  process_ = process;
  job_ = {};
  // Once, because they may change.
  job_.nranks = std::clamp(board_->nranks, 1, most_ranks_of_job);
  job_.nnodes = std::clamp(board_->nnodes, 1, job_.nranks);
  job_.place_evenly();
  const bool all_nodes = nodes != files.end() && static_cast<int>(nodes->second.size()) == job_.nnodes;
  for (int n = 0; all_nodes && n < job_.nnodes; ++n) {
    job_.node_fds.push_back(open_of(process, nodes->second[static_cast<size_t>(n)]));
    if (!is_node_memory(job_.node_fds.back()))
      return Status::error("top: a memory file of process %d is none that Hiroba has made", process);
  }
  return {};
}

Status RunningJob::find(const std::string& which, RunningJob& out) {
  if (!which.empty()) {
    const int process = std::atoi(which.c_str());
    if (process > 0) return out.open(process);
    return Status::error("top: '%s' is no number of a process", which.c_str());
  }
  const std::map<ino_t, pid_t> jobs = processes_with_boards();
  if (jobs.size() == 1) return out.open(jobs.begin()->second);
  std::string list;
  for (const auto& [board, process] : jobs) list += format("%s%d", list.empty() ? "" : ", ", process);
  if (jobs.empty()) return Status::error("top: no job runs on this machine that you may look at");
  return Status::error("top: %zu jobs run here; give one of these processes: %s", jobs.size(), list.c_str());
}

RunningJob::~RunningJob() {
  for (const RunRecord* record : records_) munmap(const_cast<RunRecord*>(record), sizeof *record);
  for (const int fd : job_.node_fds) close(fd);
  if (board_ != nullptr) munmap(board_, Board::bytes(job_.nranks));
}

// A rank that has just started has none yet.
const RunRecord* RunningJob::record(int r) {
  const pid_t process = rank(r).pid.load();
  if (records_.empty() && process > 0) take_options_of(process);
  if (records_.empty() && !job_.node_fds.empty() && process > 0) {
    if (!map_records(job_, records_).ok() || static_cast<int>(records_.size()) < nranks()) {
      for (const RunRecord* record : records_) munmap(const_cast<RunRecord*>(record), sizeof *record);
      records_.clear();
    }
  }
  for (const RunRecord* record : records_)
    if (record->rank == r) return record;
  const RunRecord* const in_file = process > 0 ? record_in_file(r, process) : nullptr;
  if (in_file != nullptr) records_.push_back(in_file);
  return in_file;
}

bool RunningJob::runs() const {
  if (kill(process_, 0) != 0 && errno == ESRCH) return false;
  int known = 0, alive = 0;
  for (int r = 0; r < nranks(); ++r) {
    const pid_t process = rank(r).pid.load();
    known += process > 0 ? 1 : 0;
    alive += process > 0 && kill(process, 0) == 0 ? 1 : 0;
  }
  return known == 0 || alive > 0;
}

}  // namespace hiroba
