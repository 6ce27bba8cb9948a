// hirobarun: starts a program as the ranks of a job, on this machine by itself, on hosts through mpirun. `hirobarun
// --help` describes the rest.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/secure.hpp"
#include "base/thread.hpp"
#include "launcher/capacity.hpp"
#include "launcher/command_line.hpp"
#include "launcher/execute.hpp"
#include "launcher/ranks.hpp"
#include "launcher/relay.hpp"
#include "launcher/report/report.hpp"
#include "launcher/supervise.hpp"

namespace hiroba {
namespace {

int refuse_with(const Refusal& refusal) { return refuse(refusal.why, refusal.exit_status); }

// Binds each rank of this machine; reports the bindings if requested.
Status place_ranks(const Launch& wish, const Machine& machine, std::vector<RankPlaces>& out) {
  HIROBA_TRY(bind_ranks(machine.core_list(), wish.bind, wish.ranks, threads_per_rank(), out));
  for (int r = 0; wish.report_bindings && r < wish.ranks; ++r)
    std::fprintf(stderr, "hirobarun: %s\n", describe_binding(machine.all_cores(), r, out[r]).c_str());
  if (machine.is_described()) out.assign(out.size(), {});
  return {};
}

// Returns whether users start many copies of the program to look at hosts: one of the system, or an interpreter.
bool is_of_system(const std::string& program) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(program, error);
  const std::string where = error ? program : real.string();
  return where.starts_with("/usr/") || where.starts_with("/bin/") || where.starts_with("/sbin/") ||
         real.filename().string().starts_with("python");
}

// Returns what a program is that knows nothing of ranks; null for one of the system, or a script.
const char* lone_kind(const std::string& given) {
  const std::string program = path_of(given);
  if (names_library(program, "libhiroba")) return nullptr;
  for (const char* const library : {"libgomp.so", "libomp.so", "libiomp5.so"})
    if (names_library(program, library)) return "an OpenMP program that does not use Hiroba";
  if (is_of_system(program) || !names_library(program, "libc.so")) return nullptr;
  return "a program that uses neither Hiroba nor OpenMP";
}

// A program that was not built for ranks runs whole in each of them, which its user does not expect.
void explain_lone_program(const Launch& wish, Board& board) {
  bool started = false;
  for (int r = 0; r < wish.ranks; ++r) started |= board.rank(r).phase != Phase::launched;
  if (started || wish.ranks == 1) return;
  const char* const kind = lone_kind(wish.program[0]);
  if (kind == nullptr) return;
  std::fprintf(stderr,
               "hirobarun: each rank has run %s whole, %s; for one team of the threads of all ranks compile its "
               "OpenMP code by hirobacc -fopenmp-nodes\n",
               wish.program[0].c_str(), kind);
}

int launch(Launch wish) {
  wish.program[0] = prefer_here(wish.program[0]);
  const Refusal bad_program = check_program(wish.program[0]);
  if (!bad_program.why.ok()) return refuse(bad_program.why, bad_program.exit_status);
  Machine machine;
  const Status seen = machine.load();
  if (!seen.ok()) return refuse(seen, cannot_start);
  const Status set = set_environment(wish, machine);
  if (!set.ok()) return refuse(set, cannot_start);
  std::string report;
  const Status reports = report_wanted(report);
  if (!reports.ok()) return refuse(reports, cannot_start);
  if (wish.ranks == 0) return refuse_with(become_program(wish, machine));
  const Refusal no_mpi = start_with_mpi(wish);
  if (!no_mpi.why.ok()) return refuse_with(no_mpi);
  const bool by_mpirun = needs_mpirun(wish);
  const Status can_start = wish.hosts.empty() ? check_capacity(wish.ranks, wish.nodes, by_mpirun ? 0 : 2) : Status();
  if (!can_start.ok()) return refuse(can_start, cannot_start);
  if (by_mpirun) return refuse_with(become_mpirun(wish, report));
  std::vector<RankPlaces> places;
  const Status placed = place_ranks(wish, machine, places);
  if (!placed.ok()) return refuse(placed, cannot_start);

  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of ranks become children of this process, which ends them
  Signals signals;
  const Status taken = take_signals(signals);
  if (!taken.ok()) return refuse(taken, cannot_start);
  Job job;
  Board* board = nullptr;
  const Status made = Job::create(wish.ranks, wish.nodes, job);
  if (!made.ok()) return refuse(made, cannot_start);
  const Status mapped = map_board(job, board);
  if (!mapped.ok()) return refuse(mapped, cannot_start);
  std::vector<Rank> ranks;
  const Refusal not_started = start_ranks(wish, job, places, signals, ranks);
  if (!not_started.why.ok()) return refuse(not_started.why, not_started.exit_status);
  const int ended = Supervisor(ranks, signals, *board, wish).run();
  if (ended == 0) explain_lone_program(wish, *board);
  return report.empty() ? ended : write_report(report, job, ended);
}

}  // namespace
}  // namespace hiroba

int main(int argc, char** argv) {
  hiroba::open_standard_descriptors(O_RDWR);
  if (const hiroba::Status refused = hiroba::refuse_more_rights(); !refused.ok())
    return std::fprintf(stderr, "hirobarun: %s\n", refused.message().c_str()), hiroba::cannot_start;
  hiroba::Launch wish;
  const std::optional<int> end = hiroba::parse_command_line(argc, argv, wish);
  return end ? *end : hiroba::launch(wish);
}
