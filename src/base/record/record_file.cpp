#include "base/record/record_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/files/own_file.hpp"
#include "base/limits.hpp"
#include "base/record/sound_record.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

namespace fs = std::filesystem;

Status failed(const std::string& file, int error) {
  return Status::error("option report: cannot keep a record in %s (%s)", file.c_str(), explain_error(error).c_str());
}

double last_event(const Timeline& timeline) {
  double last = 0;
  for (const auto& events : timeline.events)
    for (const EventRecord& event : events)
      if (event.thread != 0) last = std::max(last, event.begin + static_cast<double>(event.seconds));
  return last;
}

// `written`: when the file was last changed. Null if it has no record.
RunRecord* map_file(const std::string& file, int how, time_t& written) {
  int fd = -1;
  struct stat info = {};
  void* mapped = MAP_FAILED;
  if (open_own_file(file, O_RDONLY, fd).ok() && fstat(fd, &info) == 0 &&
      info.st_size == static_cast<off_t>(sizeof(RunRecord)))
    mapped = mmap(nullptr, sizeof(RunRecord), how == MAP_SHARED ? PROT_READ : PROT_READ | PROT_WRITE, how, fd, 0);
  if (fd >= 0) ::close(fd);
  if (mapped == MAP_FAILED) return nullptr;
  written = info.st_ctime;
  auto* const record = static_cast<RunRecord*>(mapped);
  if (how == MAP_SHARED ? record->magic == RunRecord::magic_value : make_sound(*record)) return record;
  munmap(mapped, sizeof(RunRecord));
  return nullptr;
}

}  // namespace

std::string record_file(const std::string& data, int rank) { return format("%s.rank-%d", data.c_str(), rank); }

// Another job with the same name keeps its mapping of the file that this one unlinks.
Status create_record_file(const std::string& data, int rank, RunRecord*& out) {
  const std::string file = record_file(data, rank);
  int fd = -1;
  const Status created = create_own_file(file, private_mode, fd);
  if (!created.ok()) return Status::error("option report: %s", created.message().c_str());
  int error = posix_fallocate(fd, 0, sizeof(RunRecord));
  void* mapped = MAP_FAILED;
  if (error == 0) {
    mapped = mmap(nullptr, sizeof(RunRecord), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) error = errno;
  }
  ::close(fd);
  if (error != 0) return unlink(file.c_str()), failed(file, error);
  out = static_cast<RunRecord*>(mapped);
  return {};
}

const RunRecord* map_record_file(const std::string& file) {
  time_t written = 0;
  return map_file(file, MAP_SHARED, written);
}

Status read_record_files(const std::string& data, std::vector<const RunRecord*>& out) {
  const fs::path path(data);
  const std::string begin = path.filename().string() + ".rank-";
  std::error_code error;
  time_t newest = 0;
  int nranks = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(path.has_parent_path() ? path.parent_path() : fs::path("."), error)) {
    if (!entry.path().filename().string().starts_with(begin)) continue;
    time_t written = 0;
    RunRecord* const record = map_file(entry.path().string(), MAP_PRIVATE, written);
    if (record == nullptr) continue;
    if (record->seconds == 0)
      record->seconds = std::max(0.0, last_event(record->timeline) - record->began),
      record->collective = seconds_spent(*record, TimeKind::collective);
    if (written > newest) newest = written, nranks = record->nranks;
    out.push_back(record);
  }
  std::erase_if(out, [nranks](const RunRecord* record) { return record->nranks != nranks; });
  std::sort(out.begin(), out.end(), [](const RunRecord* a, const RunRecord* b) { return a->rank < b->rank; });
  return error ? failed(data, error.value()) : Status();
}

void remove_record_files(const std::string& data, const std::vector<const RunRecord*>& records) {
  for (const RunRecord* record : records) unlink(record_file(data, record->rank).c_str());
}

}  // namespace hiroba
