#include "launcher/report/report.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/limits.hpp"
#include "base/record/record_json.hpp"
#include "base/tables/options.hpp"
#include "launcher/report/python.hpp"
#include "launcher/report/records.hpp"

extern char** environ;

namespace hiroba {

namespace {

// Runs a program with the signals unblocked that this one reads from a descriptor. Sets `status` as shells do.
Status run(const std::vector<std::string>& words, int& status) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  int reported = 0;
  if (error != 0 || waitpid(child, &reported, 0) != child)
    return Status::error("option report: cannot run %s (%s)", arguments[0], explain_error(error).c_str());
  status = WIFEXITED(reported) ? WEXITSTATUS(reported) : 128 + WTERMSIG(reported);
  return {};
}

// Returns the name of the data of this job alone, of which the file is made.
std::string own_data(const std::string& file) { return format("%s.%d.json", file.c_str(), getpid()); }

// The page, or the advice in the data, is made by a Python program.
Status finish(const std::string& data, const std::string& file) {
  std::vector<std::string> command;
  HIROBA_TRY(python_program("report", command));
  for (const std::string& word : {std::string("finish"), data, file}) command.push_back(word);
  int status = 0;
  HIROBA_TRY(run(command, status));
  if (status == 0) return {};
  return Status::error("option report: the page was not written; `hiroba report %s %s` makes it", data.c_str(),
                       file.c_str());
}

Status write(const std::string& file, const Job& job, int ended_with) {
  std::vector<const RunRecord*> records;
  HIROBA_TRY(map_final_records(job, records));
  if (records.empty()) return Status::error("option report: no rank has started Hiroba, so there is nothing to report");
  std::string why;
  if (ended_with != 0) why = why_failed(ended_with);
  else if (static_cast<int>(records.size()) < job.nranks) why = "not all ranks have started Hiroba";
  HIROBA_TRY(write_records(records, why, own_data(file)));
  return finish(own_data(file), file);
}

}  // namespace

Status report_wanted(std::string& file) {
  Options options;
  HIROBA_TRY(Options::from_environment(options));
  file = options.text("report");
  if (file.starts_with('-')) file = "./" + file;  // else the program that makes the page takes it for an option
  return file.empty() ? Status() : check_report_name(file);
}

namespace {
int report_failure(const Status& written, int exit_status) {
  if (written.ok()) return exit_status;
  std::fprintf(stderr, "hirobarun: %s\n", written.message().c_str());
  return exit_status == 0 ? 1 : exit_status;
}
}  // namespace

int write_report(const std::string& file, const Job& job, int exit_status) {
  return report_failure(write(file, job, exit_status), exit_status);
}

void expect_report(const std::string& file) { setenv("HIROBA_REPORT", own_data(file).c_str(), 1); }

int finish_report(const std::string& file, int exit_status) {
  if (file.empty()) return exit_status;
  const std::string data = own_data(file);
  bool is_there = access(data.c_str(), R_OK) == 0;
  if (!is_there && exit_status != 0) {
    const Status failed = write_data_of_failed(data, exit_status, is_there);
    if (!failed.ok()) return report_failure(failed, exit_status);
  }
  if (is_there) return report_failure(finish(data, file), exit_status);
  return report_failure(Status::error("option report: there is no %s: the job has failed, or its rank 0 has written it "
                                      "on another host, and `hiroba "
                                      "report %s %s` makes the page there",
                                      data.c_str(), data.c_str(), file.c_str()),
                        exit_status);
}

}  // namespace hiroba
