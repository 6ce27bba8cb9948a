#include "launcher/relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/limits.hpp"
#include "base/secure.hpp"
#include "base/tables/launchers.hpp"
#include "base/tables/options.hpp"
#include "base/tables/wires.hpp"
#include "base/thread.hpp"
#include "launcher/execute.hpp"
#include "launcher/input/lent_input.hpp"
#include "launcher/processes.hpp"
#include "launcher/report/report.hpp"
#include "launcher/signals.hpp"

extern char** environ;

namespace hiroba {

namespace {

bool in_path(const std::string& program) { return check_program(program).exit_status == 0; }

// Returns the program's path, the same on every host: from PATH or this folder on this host.
std::string absolute(const std::string& program) {
  std::string found = path_of(program);
  char here[4096];
  if (found[0] != '/' && getcwd(here, sizeof here) != nullptr) return std::string(here) + "/" + found;
  return found;
}

// Finds the MPI by the libraries that the program names; null if it calls no MPI itself, or is a script.
const Mpi* mpi_of_program(const std::string& program) {
  const Mpi* found = nullptr;
  for (const Mpi& mpi : mpis)
    if (names_library(program, std::string(mpi.library) + ".")) found = &mpi;
  return found;
}

std::string transport_of(const Launch& launch) {
  for (const Setting& setting : launch.settings)
    if (setting.variable == "HIROBA_TRANSPORT") return setting.value;
  const char* const given = std::getenv("HIROBA_TRANSPORT");
  return given == nullptr ? "auto" : given;
}

// Returns the command by which this MPI starts a job.
std::string mpirun_of(const Mpi& mpi) { return mpi.launcher[in_path(mpi.launcher[0]) ? 0 : 1]; }

// Chooses the MPI of a transport that uses one, in this installation. `mpi` is the requested one, or null.
Status choose_mpi_below(const WireKind& kind, const Mpi*& mpi) {
  const char* const given = trusted_variable("HIROBA_PLUGINS");
  const std::string folder = given == nullptr ? library_folder() : given;
  const Mpi* found = nullptr;
  for (const char* const name : kind.mpis) {
    const Mpi* const candidate = find_mpi(name);
    if (access((folder + "/" + kind.plugin_file(name)).c_str(), R_OK) != 0) continue;
    if (found == nullptr || (mpi == nullptr ? !in_path(mpirun_of(*found)) : candidate == mpi)) found = candidate;
  }
  if (found == nullptr)
    return Status::error(
        "transport %s is not part of this installation (no %s/wire-%s-...); its library was not there when Hiroba was "
        "built",
        kind.transport, folder.c_str(), kind.transport);
  if (mpi != nullptr && mpi != found)
    return Status::error("transport %s of this installation sits on %s, and the program or --mpi wants %s",
                         kind.transport, found->name, mpi->name);
  mpi = found;
  return {};
}

// Chooses the MPI that was requested, that the program or the transport needs, or that is installed.
Status choose_mpi(const Launch& launch, const Mpi*& mpi) {
  mpi = launch.mpi.empty() ? mpi_of_program(path_of(launch.program[0])) : find_mpi(launch.mpi);
  if (const WireKind* const kind = find_wire(transport_of(launch)); kind != nullptr && kind->sits_on_mpi())
    HIROBA_TRY(choose_mpi_below(*kind, mpi));
  for (const Mpi& candidate : mpis)
    if (mpi == nullptr && in_path(mpirun_of(candidate))) mpi = &candidate;
  if (mpi == nullptr) mpi = std::end(mpis) - 1;
  if (in_path(mpirun_of(*mpi))) return {};
  return Status::error(
      "cannot find %s, which starts the ranks of this job; install %s (Debian: %s), or choose another with --mpi",
      mpirun_of(*mpi).c_str(), mpi->title, mpi->package);
}

// A child executes mpirun. This process passes signals on to it, and ends with the status of the job: mpirun takes a
// repeated signal, as from timeout, for a request to end at once, and MPICH's ends with status 0 when a signal ends it.
class Behind {
 public:
  explicit Behind(double grace) : grace_(grace) {}
  Status start() { return take_signals(signals_); }

  // `local`: the ranks are on this machine, so this process signals them itself: a signal that mpirun does not know
  // ends it.
  void describe(bool local, bool with_hydra) { local_ = local, with_hydra_ = with_hydra; }

  // Lends the input to guard, which runs rank 0 on this machine. Returns false if mpirun has to pass it on.
  bool lends_input() {
    if (!input_.start()) return false;
    setenv("GUARD_INPUT_NAME", input_.name().c_str(), 1);
    return true;
  }

  // Returns true in the child, or if there is none, and this process has to execute mpirun.
  bool becomes_mpirun() {
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ > 0) return false;
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(cannot_start);
    }
    if (input_.fd() >= 0)
      if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) dup2(nothing, STDIN_FILENO);
    // Open MPI's mpirun is asked later than the ranks, and keys of the terminal would reach it at once.
    for (const int signal : stop_signals)
      if (!with_hydra_ && !signals_.apart && signal != SIGTERM) sigaddset(&signals_.before, signal);
    give_back_signals(signals_);
    return true;
  }

  int wait() {
    for (;;) {
      std::array<pollfd, 2> sources = {pollfd{signals_.fd, POLLIN, 0}, pollfd{input_.fd(), POLLIN, 0}};
      const int ready = poll(sources.data(), sources.size(), milliseconds_left_);
      if (ready == 0) end_mpirun();
      if (ready > 0 && sources[1].revents != 0) input_.lend();
      signalfd_siginfo info;
      if (ready <= 0 || read(signals_.fd, &info, sizeof info) != sizeof info) continue;
      int status = 0;
      if (meaning_of(static_cast<int>(info.ssi_signo)) != SignalMeaning::child_ended) take(info);
      else if (waitpid(child_, &status, WNOHANG) == child_)
        return stops_.signal() != 0 ? 128 + stops_.signal() : exit_status(status);
    }
  }

 private:
  void take(const signalfd_siginfo& info) {
    const int signal = static_cast<int>(info.ssi_signo);
    const SignalMeaning meaning = meaning_of(signal);
    if (meaning == SignalMeaning::stop) {
      const StopRequests::Request request = stops_.take(signal);
      if (request == StopRequests::Request::same) return;
      if (request == StopRequests::Request::first && !with_hydra_ && signal_launched(signal)) {
        milliseconds_left_ = static_cast<int>(std::min(grace_ * 1000, double{INT_MAX}));
        return;
      }
      if (!with_hydra_) return end_mpirun();
    }
    // Open MPI's mpirun reports that it passes SIGCONT on, which timeout sends, too.
    if (signal == SIGCONT && !suspended_) return;
    suspended_ = meaning == SignalMeaning::suspend;
    if (!ranks_have(signals_, info)) {
      if (meaning == SignalMeaning::pass_on && signal != SIGCONT) pass_on(signal);
      else kill(child_, signal);
    }
    if (suspended_) raise(SIGSTOP);
  }
  void pass_on(int signal) {
    if (local_) {
      signal_launched(signal);
      return;
    }
    const bool known = signal == SIGUSR1 || (!with_hydra_ && (signal == SIGUSR2 || signal == SIGALRM));
    if (known) kill(child_, signal);
    else if (signal != SIGWINCH && signal != SIGURG)
      std::fprintf(stderr,
                   "hirobarun: signal %d (%s) is not passed on, because mpirun does not pass it to other hosts\n",
                   signal, strsignal(signal));
  }
  // Open MPI's kills ranks a second after it is asked to end; so it is asked only if the ranks do not end.
  void end_mpirun() {
    kill(child_, SIGTERM);
    milliseconds_left_ = -1;
  }

  Signals signals_;
  StopRequests stops_;
  LentInput input_;
  pid_t child_ = -1;
  const double grace_;  // seconds
  bool local_ = false, with_hydra_ = false, suspended_ = false;
  int milliseconds_left_ = -1;  // for ranks that have been asked to end; -1: no wait
};

using Words = std::vector<std::string>;

std::string host_list(const Launch& launch) {
  std::string list;
  for (const Host& host : launch.hosts)
    list += (list.empty() ? "" : ",") + host.name + ":" + std::to_string(host.ranks);
  return list;
}

// Open MPI's mpirun passes on variables on request: ours, OpenMP's, and those of the wires' libraries (UCX_TLS).
bool reaches_ranks(const std::string& variable) {
  for (const WireKind& kind : wire_kinds)
    if (const size_t end = std::strlen(kind.transport); variable[std::min(end, variable.size())] == '_')
      if (strncasecmp(variable.c_str(), kind.transport, end) == 0) return true;
  return variable.starts_with("HIROBA_") || variable.starts_with("OMP_") || variable == "LD_LIBRARY_PATH";
}

// A rank that is bound to cores gets as many as it has threads.
Words openmpi_words(const Launch& launch) {
  const bool cores = launch.bind.kind == Binding::Kind::core;
  const std::string slot = cores ? format("slot:PE=%d", threads_per_rank()) : "slot";
  Words words = {"--bind-to", launch.bind.text, "--map-by", slot, "--oversubscribe"};
  if (launch.report_bindings) words.push_back("--report-bindings");
  // A lost host is detected within seconds, not after the five minutes of Open MPI's default.
  for (const char* setting : {"time 2", "intvl 1", "probes 3"}) {
    const std::string text = setting;
    const size_t space = text.find(' ');
    words.insert(words.end(), {"--mca", "oob_tcp_keepalive_" + text.substr(0, space), text.substr(space + 1)});
  }
  if (!launch.hosts.empty()) words.insert(words.end(), {"--host", host_list(launch)});
  if (launch.tag) words.push_back("--tag-output");
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (reaches_ranks(name)) words.insert(words.end(), {"-x", name});
  }
  return words;
}

Words mpich_words(const Launch& launch) {
  const bool cores = launch.bind.kind == Binding::Kind::core;
  Words words = {"-bind-to", cores ? format("core:%d", threads_per_rank()) : launch.bind.text};
  if (launch.report_bindings) setenv("HYDRA_TOPO_DEBUG", "1", 1);  // Hydra's way to print them
  if (!launch.hosts.empty()) words.insert(words.end(), {"-hosts", host_list(launch)});
  if (launch.tag) words.push_back("-prepend-rank");
  return words;
}

Refusal become(const Words& words) {
  execute(words);
  return {Status::error("cannot execute '%s' (%s)", words[0].c_str(), explain_error(errno).c_str()),
          errno == ENOENT ? not_found : cannot_start};
}

// Returns the path of guard (guard.cpp), which runs programs under MPICH's launcher; "" if the installation is
// incomplete.
std::string guard() {
  const std::string path = library_folder() + "/guard";
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

// Hydra ends a job whose rank 0 reads its input slowly, and leaves the other ranks' input open. So on this machine
// guard gives rank 0 this process's own input, and Hydra has none.
void hand_input_to_guard() {
  constexpr int above_others = 64;
  const int input = fcntl(STDIN_FILENO, F_DUPFD, above_others), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || nothing < 0) return;
  setenv("GUARD_INPUT", std::to_string(input).c_str(), 1);
  dup2(nothing, STDIN_FILENO);
}

// Replaces ssh, or the user's replacement, by our agent (reach.cpp).
void reach_by_agent(const Launch& launch, bool with_hydra, const Options& options) {
  const std::string agent = library_folder() + "/reach";
  if (access(agent.c_str(), X_OK) != 0) return;  // an incomplete installation: mpirun runs without it
  const char* const name = with_hydra ? "HYDRA_LAUNCHER_EXEC" : "OMPI_MCA_plm_rsh_agent";
  const char* const users = std::getenv(name);
  setenv("REACH_AGENT", users == nullptr ? "" : users, 1);
  setenv("REACH_PROGRAM", launch.program[0].c_str(), 1);
  setenv("REACH_GUARD", guard().c_str(), 1);
  setenv("REACH_SILENCE", format("%g", options.number("silence")).c_str(), 1);
  setenv(name, agent.c_str(), 1);
}

}  // namespace

Refusal start_with_mpi(const Launch& launch) {
  const Mpi* const mpi = !needs_mpirun(launch) ? mpi_of_program(path_of(launch.program[0])) : nullptr;
  const std::string transport = transport_of(launch);
  if (mpi == nullptr || (launch.ranks == 1 && transport != "auto")) return {};
  if (transport != "auto")
    return {Status::error("%s is linked with %s, which would see %d worlds of one rank with transport %s; leave out "
                          "--transport, or give --transport mpi",
                          launch.program[0].c_str(), mpi->title, launch.ranks, transport.c_str()),
            cannot_start};
  std::fprintf(stderr, "hirobarun: %s is linked with %s, whose mpirun starts it, with transport mpi\n",
               launch.program[0].c_str(), mpi->title);
  setenv("HIROBA_TRANSPORT", "mpi", 1);
  return {};
}

bool needs_mpirun(const Launch& launch) {
  const WireKind* const kind = find_wire(transport_of(launch));
  return !launch.hosts.empty() || (kind != nullptr && kind->sits_on_mpi());
}

namespace {

// Refuses briefly; Open MPI's mpirun does so at length.
Status check_root(const Mpi& mpi) {
  constexpr const char* allow[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"};
  const bool refuses = mpi.name == std::string_view("openmpi") && geteuid() == 0 &&
                       (std::getenv(allow[0]) == nullptr || std::getenv(allow[1]) == nullptr);
  if (!refuses) return {};
  return Status::error(
      "Open MPI's %s starts no job for root by itself; run as another user, or set %s=1 and %s=1 in the environment",
      mpirun_of(mpi).c_str(), allow[0], allow[1]);
}

// Refuses a lone colon, because mpirun begins another program there.
Status check_arguments(const Launch& launch, const Mpi& mpi) {
  for (size_t i = 1; i < launch.program.size(); ++i)
    if (launch.program[i] == ":")
      return Status::error(
          "argument %zu of %s is a lone `:`, where %s begins another program, so it would not reach this one; "
          "hirobarun "
          "starts one program on all ranks: leave the colon out",
          i, launch.program[0].c_str(), mpirun_of(mpi).c_str());
  return {};
}

}  // namespace

Refusal become_mpirun(const Launch& wish, const std::string& report) {
  Options options;
  const Status read = Options::from_environment(options);
  if (!read.ok()) return {read, cannot_start};
  Launch launch = wish;
  launch.program[0] = absolute(wish.program[0]);
  const Mpi* mpi = nullptr;
  const Status chosen = choose_mpi(launch, mpi);
  if (!chosen.ok()) return {chosen, not_found};
  for (const Status& allowed : {check_arguments(wish, *mpi), check_root(*mpi)})
    if (!allowed.ok()) return {allowed, cannot_start};
  const bool with_hydra = mpi == find_mpi("mpich");
  if (const std::string transport = transport_of(launch); transport != "auto" && find_wire(transport) == nullptr)
    return {Status::error("option transport=%s reaches the ranks of one machine only; with --hosts use another",
                          transport.c_str()),
            cannot_start};
  if (launch.bind.kind == Binding::Kind::list)
    return {Status::error("option --bind %s: a list of CPUs is for ranks that hirobarun starts itself, on one machine; "
                          "for ranks that mpirun starts give core, numa or socket",
                          launch.bind.text.c_str()),
            cannot_start};
  // Each rank has cores of its own, so its threads may be bound to them; a NUMA domain may have several ranks.
  if (launch.bind.kind == Binding::Kind::core && std::getenv("OMP_PROC_BIND") == nullptr)
    setenv("OMP_PLACES", "cores", 0), setenv("OMP_PROC_BIND", "close", 0);
  if (launch.nodes > 1) setenv("HIROBA_NODES", std::to_string(launch.nodes).c_str(), 1);
  if (!launch.hosts.empty()) reach_by_agent(launch, with_hydra, options);
  if (!report.empty()) expect_report(report);
  Behind behind(launch.grace);
  const Status started = behind.start();
  if (!started.ok()) return {started, cannot_start};
  behind.describe(launch.hosts.empty(), with_hydra);
  Words words = with_hydra ? mpich_words(launch) : openmpi_words(launch);
  words.insert(words.begin(), mpirun_of(*mpi));
  words.insert(words.end(), {"-n", std::to_string(launch.ranks)});
  const bool lends = !with_hydra && !guard().empty() && launch.hosts.empty() && behind.lends_input();
  if (lends || (with_hydra && !guard().empty())) words.push_back(guard());
  words.insert(words.end(), launch.program.begin(), launch.program.end());
  if (with_hydra && !guard().empty() && launch.hosts.empty()) hand_input_to_guard();
  if (!behind.becomes_mpirun()) _exit(finish_report(report, behind.wait()));
  return become(words);
}

Refusal become_program(const Launch& launch, const Machine& machine) {
  if (launch.bind.kind != Binding::Kind::none)
    return {
        Status::error("option --bind %s: mpirun or srun has started this process, and binds it; give that launcher its "
                      "own option (Open MPI: --bind-to, MPICH: -bind-to, Slurm: --cpu-bind), and leave out --bind",
                      launch.bind.text.c_str()),
        cannot_start};
  const RankPlaces places = machine.is_restricted() ? places_on(machine.core_list(), threads_per_rank()) : RankPlaces();
  if (!places.places.empty()) use_places(places);
  if (launch.report_bindings)
    std::fprintf(stderr, "hirobarun: %s\n", describe_binding(machine.all_cores(), launched_number(), places).c_str());
  Words words = launch.program;
  const bool under_hydra = std::getenv("PMI_FD") != nullptr && std::getenv("SLURM_MPI_TYPE") == nullptr;
  if (under_hydra && !guard().empty()) words.insert(words.begin(), guard());
  return become(words);
}

}  // namespace hiroba
