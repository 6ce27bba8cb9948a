#include "launcher/ranks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/limits.hpp"
#include "base/tables/options.hpp"
#include "base/tables/wires.hpp"
#include "launcher/execute.hpp"

namespace hiroba {

namespace {

// The report of a child that could not execute the program. Smaller than PIPE_BUF, so written whole.
struct StartFailure {
  int rank;
  int error;
  char step[120];
};

Refusal judge_file(const std::string& path, const std::string& program) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return {Status::error("cannot find program '%s' (%s)", program.c_str(), explain_error(errno).c_str()), not_found};
  if (S_ISDIR(info.st_mode))
    return {Status::error("'%s' is a directory, not a program", program.c_str()), not_executable};
  if (access(path.c_str(), X_OK) != 0)
    return {Status::error("'%s' may not be executed (%s); if it is meant to be, chmod +x %s", program.c_str(),
                          explain_error(errno).c_str(), program.c_str()),
            not_executable};
  return {};
}

[[noreturn]] void give_up(int report, int rank, int error, const char* step) {
  StartFailure failure{rank, error, {}};
  std::strncpy(failure.step, step, sizeof failure.step - 1);
  if (write(report, &failure, sizeof failure) < 0) _exit(cannot_start);  // the launcher has ended
  _exit(cannot_start);
}

bool is_python(const std::string& file) {
  char path[PATH_MAX];
  const std::string_view real = realpath(file.c_str(), path) != nullptr ? path : file.c_str();
  if (real.substr(real.rfind('/') + 1).starts_with("python")) return true;
  std::ifstream script(file);
  std::string line(2, '\0');
  if (!script.read(line.data(), 2) || line != "#!" || !std::getline(script, line)) return false;
  return line.find("python") != std::string::npos;
}

// Programs in Python load libhiroba by `import hiroba`: too late to replace functions of the C library (system calls on
// shared memory, signal handlers). So it is preloaded if one of the files, the first that can be executed, is an
// interpreter of Python or a script for one. python/hiroba/library.py does the same where a shell's script starts it.
void preload_for_python(const std::vector<std::string>& files) {
#ifdef __SANITIZE_ADDRESS__
  return;  // the sanitizer's library must come first
#endif
  const auto readable = [](const std::string& file) { return access(file.c_str(), R_OK | X_OK) == 0; };
  size_t i = 0;
  while (i < files.size() && !readable(files[i])) ++i;
  if (i == files.size() || !is_python(files[i])) return;
  const std::string library = (std::filesystem::path(library_folder()).parent_path() / "libhiroba.so").string();
  if (access(library.c_str(), R_OK) != 0) return;  // the program finds it, or says that it is not there
  const char* const before = std::getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", (before == nullptr || *before == '\0' ? library : library + ":" + before).c_str(), 1);
}

// Runs in the child. `launcher` is our parent, unless it has ended already.
[[noreturn]] void become_program(const Launch& launch, const Job& job, const RankPlaces& places, const Signals& signals,
                                 int rank, pid_t launcher, const int (&streams)[2], int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(cannot_start);  // it ended before PR_SET_PDEATHSIG was set
  give_back_signals(signals);
  if (rank != 0) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) give_up(report, rank, errno, "open /dev/null");
  }
  if (dup2(streams[0], STDOUT_FILENO) < 0 || dup2(streams[1], STDERR_FILENO) < 0)
    give_up(report, rank, errno, "redirect its output");
  if (const Cpus cpus = places.cpus(); !cpus.empty()) {
    const Status bound = bind_process(cpus);
    if (!bound.ok()) give_up(report, rank, 0, bound.message().c_str());
    use_places(places);
  }
  job.share_files(true);
  setenv("HIROBA_JOB", job.to_environment(rank).c_str(), 1);
  preload_for_python(files_named(launch.program[0]));
  execute(launch.program);
  give_up(report, rank, errno, "");
}

Status make_pipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) == 0) return {};
  return Status::error("cannot make a pipe (%s)%s", explain_error(errno).c_str(),
                       errno == EMFILE ? "; each rank needs two" : "");
}

Status fork_rank(const Launch& launch, const Job& job, const RankPlaces& places, const Signals& signals, int report,
                 std::vector<Rank>& out) {
  const int rank = static_cast<int>(out.size());
  const pid_t launcher = getpid();
  int output[2], error[2];
  HIROBA_TRY(make_pipe(output));
  HIROBA_TRY(make_pipe(error));
  const pid_t pid = fork();
  if (pid < 0)
    return Status::error("cannot start rank %d of %d (fork: %s)", rank, launch.ranks, explain_error(errno).c_str());
  if (pid == 0) become_program(launch, job, places, signals, rank, launcher, {output[1], error[1]}, report);
  close(output[1]);
  close(error[1]);
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  fcntl(error[0], F_SETFL, O_NONBLOCK);
  out.push_back({pid, output[0], error[0]});
  return {};
}

void kill_ranks(std::vector<Rank>& ranks) {
  for (const Rank& rank : ranks) kill(rank.pid, SIGKILL);
  for (const Rank& rank : ranks) waitpid(rank.pid, nullptr, 0);
  ranks.clear();
}

}  // namespace

std::string prefer_here(const std::string& program) {
  struct stat info;
  const bool here = program.find('/') == std::string::npos && stat(program.c_str(), &info) == 0 &&
                    S_ISREG(info.st_mode) && access(program.c_str(), X_OK) == 0;
  return here ? "./" + program : program;
}

std::vector<std::string> files_named(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* const variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::string> files;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    files.push_back((folder.empty() ? "." : folder) + "/" + program);
    at = end + 1;
  }
  return files;
}

Refusal check_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return judge_file(program, program);
  Refusal refusal{Status::error("cannot find program '%s' in PATH%s", program.c_str(),
                                access(program.c_str(), F_OK) == 0
                                    ? format("; did you mean ./%s?", program.c_str()).c_str()
                                    : ""),
                  not_found};
  for (const std::string& file : files_named(program)) {
    const Refusal judged = judge_file(file, program);
    if (judged.exit_status == 0) return {};
    if (judged.exit_status == not_executable) refusal = judged;
  }
  return refusal;
}

std::string path_of(const std::string& program) {
  for (const std::string& file : files_named(program))
    if (access(file.c_str(), X_OK) == 0) return file;
  return program;
}

bool names_library(const std::string& path, const std::string& library) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info;
  const size_t size = fstat(fd, &info) == 0 ? static_cast<size_t>(info.st_size) : 0;
  void* const bytes = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (bytes == MAP_FAILED) return false;
  const bool named = memmem(bytes, size, library.data(), library.size()) != nullptr;
  munmap(bytes, size);
  return named;
}

Status set_environment(const Launch& launch, const Machine& machine) {
  for (const Setting& setting : launch.settings) setenv(setting.variable.c_str(), setting.value.c_str(), 1);
  Options options;
  HIROBA_TRY(Options::from_environment(options));
  const char* given = std::getenv("OMP_NUM_THREADS");
  const bool keep = launch.threads == 0 && given != nullptr;
  int ranks_here = std::max(1, launch.ranks);  // on the host with most ranks
  if (!launch.hosts.empty()) ranks_here = 1;
  for (const Host& host : launch.hosts) ranks_here = std::max(ranks_here, host.ranks);
  // With option progress=spare a rank leaves one of its cores to its progress thread.
  const int spare = options.text("progress") == "spare" ? 1 : 0;
  const int shared_out = std::max(1, machine.cores() / ranks_here - spare);
  const long threads = keep ? std::strtol(given, nullptr, 10) : launch.threads != 0 ? launch.threads : shared_out;
  if (!keep) setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  // Threads that spin at a barrier while others need their core cost milliseconds each time.
  if (threads * ranks_here > machine.cores()) setenv("OMP_WAIT_POLICY", "passive", 0);
  // A program may load libhiroba by dlopen, as Python's ctypes does: its thread-local variables need more than glibc
  // reserves for such libraries (docs/dependencies.md, jemalloc).
  setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=4096", 0);
  return {};
}

Refusal start_ranks(const Launch& launch, const Job& job, const std::vector<RankPlaces>& places, const Signals& signals,
                    std::vector<Rank>& out) {
  int report[2];
  const Status piped = make_pipe(report);
  if (!piped.ok()) return {piped, cannot_start};
  Refusal refusal;
  while (refusal.exit_status == 0 && static_cast<int>(out.size()) < launch.ranks) {
    const Status forked = fork_rank(launch, job, places[out.size()], signals, report[1], out);
    if (!forked.ok()) refusal = {forked, cannot_start};
  }
  close(report[1]);
  // The pipe is at its end when every child has executed the program, which closes its copy.
  StartFailure failure;
  if (refusal.exit_status == 0 && read(report[0], &failure, sizeof failure) == sizeof failure) {
    const std::string reason = failure.error != 0 ? format(" (%s)", explain_error(failure.error).c_str()) : "";
    if (failure.step[0] == '\0')
      refusal = {Status::error("cannot execute '%s'%s%s", launch.program[0].c_str(), reason.c_str(),
                               failure.error == ENOENT ? "; is the interpreter in its first line there?" : ""),
                 failure.error == ENOENT ? not_found : not_executable};
    else
      refusal = {Status::error("cannot start rank %d: %s%s", failure.rank, failure.step, reason.c_str()), cannot_start};
  }
  close(report[0]);
  if (refusal.exit_status != 0) kill_ranks(out);
  return refusal;
}

}  // namespace hiroba
