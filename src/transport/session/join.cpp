#include "transport/session/join.hpp"
#include "transport/wire/chaos_wire.hpp"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/machine/host.hpp"
#include "base/machine/host_addresses.hpp"
#include "base/tables/launchers.hpp"
#include "base/tables/phrases.hpp"
#include "base/wait.hpp"
#include "transport/session/board_rendezvous.hpp"
#include "transport/session/unanswered.hpp"
#include "transport/wire/plugin.hpp"

namespace hiroba {

namespace {

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first data that ranks exchange. Old and new versions must understand it: new fields may only use `spare`.
constexpr size_t most_addresses = 8;
struct Hello {
  char magic[8];
  char version[24];
  char build[48];  // identifies the compiled library
  char host[66];
  char space[22];  // option space
  uint64_t node;   // equal for processes that share memory
  JobSecret secret;
  int32_t pid, mailbox;                // a memory file of this process, which will contain this node's Files
  in6_addr addresses[most_addresses];  // of the host; zero: end of list
  char spare[184];
};
static_assert(sizeof(Hello) == 512);
constexpr char magic[8] = "hiroba1";

// The descriptors of the node's memory files at its first rank; written to its mailbox when the files exist.
struct Files {
  int32_t board, memory;
};
constexpr double mailbox_seconds = 60;

// Writes the identifier that the linker gave to the object that contains this code.
void write_build(char (&out)[48]) {
  struct Search {
    uintptr_t here;
    char* out;
  } search = {reinterpret_cast<uintptr_t>(&write_build), out};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& s = *static_cast<Search*>(argument);
        bool inside = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          inside = inside || (part.p_type == PT_LOAD && s.here >= begin && s.here < begin + part.p_memsz);
        }
        for (int i = 0; inside && i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
          for (const char* const end = at + part.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
            const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* const name = at + sizeof note;
            const char* const text = name + (note.n_namesz + 3) / 4 * 4;
            at = text + (note.n_descsz + 3) / 4 * 4;
            if (note.n_type != 3 || note.n_namesz != 4 || std::memcmp(name, "GNU", 4) != 0) continue;
            for (size_t b = 0; b < std::min<size_t>(note.n_descsz, 20); ++b)
              std::snprintf(s.out + 2 * b, 3, "%02x", static_cast<unsigned char>(text[b]));
          }
        }
        return inside ? 1 : 0;
      },
      &search);
}

Status introduce(const Options& options, int mailbox, Hello& hello) {
  hello = {};
  hello.pid = getpid(), hello.mailbox = mailbox;
  std::memcpy(hello.magic, magic, sizeof magic);
  std::snprintf(hello.version, sizeof hello.version, "%s", HIROBA_VERSION);
  write_build(hello.build);
  std::snprintf(hello.host, sizeof hello.host, "%.63s", host_name().c_str());
  std::snprintf(hello.space, sizeof hello.space, "%s", options.text("space").c_str());
  hello.node = machine_key(hello.host);
  const std::vector<in6_addr> addresses = own_addresses(most_addresses);
  std::copy(addresses.begin(), addresses.end(), hello.addresses);
  return draw(hello.secret);
}

// Requires the same library and layout of addresses in all. Every process compares with process 0, so that all give the
// same message.
Status compare(const std::vector<Hello>& hellos) {
  const Hello& first = hellos[0];
  for (size_t r = 1; r < hellos.size(); ++r) {
    const Hello& other = hellos[r];
    if (std::memcmp(other.magic, magic, sizeof magic) != 0)
      return Status::error("process %zu does not run Hiroba, or a version that is too different", r);
    if (std::strcmp(first.version, other.version) != 0 || std::strcmp(first.build, other.build) != 0)
      return Status::error(
          "hosts have different builds of Hiroba: %s has version %s, build %.12s, and %s has version %s, build %.12s; "
          "install the same one everywhere",
          first.host, first.version, first.build, other.host, other.version, other.build);
    if (std::strcmp(first.space, other.space) != 0)
      return Status::error("option space differs: it is %s on %s and %s on %s; set it alike everywhere", first.space,
                           first.host, other.space, other.host);
  }
  return {};
}

// Numbers the ranks of a node consecutively; nodes in the order of their first process.
void number(const std::vector<Hello>& hellos, int self, int virtual_nodes, Joined& out) {
  const size_t n = hellos.size();
  std::vector<uint64_t> keys(n);
  std::vector<uint64_t> nodes;  // in order of appearance
  for (size_t w = 0; w < n; ++w) {
    const uint64_t part = virtual_nodes > 0 ? w * static_cast<size_t>(virtual_nodes) / n : 0;
    keys[w] = hash_bytes(hellos[w].node, &part, sizeof part);
    if (std::find(nodes.begin(), nodes.end(), keys[w]) == nodes.end()) nodes.push_back(keys[w]);
  }
  std::vector<int> ranks_per_node;
  for (const uint64_t node : nodes) {
    int ranks = 0;
    for (size_t w = 0; w < n; ++w) {
      if (keys[w] != node) continue;
      if (static_cast<int>(w) == self) out.job.rank = static_cast<int>(out.wire_ranks.size());
      out.wire_ranks.push_back(static_cast<int>(w));
      ++ranks;
    }
    ranks_per_node.push_back(ranks);
  }
  out.job.nranks = static_cast<int>(n);
  out.job.place(ranks_per_node);
  out.job.ranks_on_machine = static_cast<int>(
      std::count_if(hellos.begin(), hellos.end(), [&](const Hello& h) { return h.node == hellos[self].node; }));
}

Status take_over(int pid, int number, const char* what, int& fd) {
  const std::string path = format("/proc/%d/fd/%d", pid, number);
  fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd >= 0) return {};
  return Status::error(
      "cannot share %s with the first rank on this host (%s: %s); are the ranks in different containers, or run by "
      "different users?",
      what, path.c_str(), explain_error(errno).c_str());
}

Status make_files(int mailbox, Job& job, int& memory) {
  HIROBA_TRY(create_board(job.nranks, job.nnodes, job.board_fd));
  HIROBA_TRY(node_memory(memory));
  const Files files = {job.board_fd, memory};
  if (pwrite(mailbox, &files, sizeof files, 0) == sizeof files) return {};
  return Status::error("cannot write to a memory file (%s)", explain_error(errno).c_str());
}

Status find_files(const Hello& first, Job& job, int& memory) {
  int mailbox = -1;
  HIROBA_TRY(take_over(first.pid, first.mailbox, "a mailbox", mailbox));
  Files files = {-1, -1};
  const double deadline = seconds_now() + mailbox_seconds;
  for (Backoff backoff(100); pread(mailbox, &files, sizeof files, 0) != sizeof files && seconds_now() < deadline;)
    if (!backoff.step()) usleep(500);
  close(mailbox);
  if (files.board < 0)
    return Status::error("waited %.0f s for the first rank on this host (process %d)", mailbox_seconds, first.pid);
  HIROBA_TRY(take_over(first.pid, files.board, "the job's board", job.board_fd));
  return take_over(first.pid, files.memory, "memory", memory);
}

// The first rank of each node creates its files. It stays at least until the first barrier, before which the others
// open them. They use a mailbox, because an allgather takes many ranks on few cores a quarter of a second.
Status share_files(const std::vector<Hello>& hellos, int mailbox, Joined& out) {
  Job& job = out.job;
  int memory = -1;
  const int first = job.first_rank_of(job.node);
  const Hello& keeper = hellos[out.wire_ranks[first]];
  HIROBA_TRY(job.rank == first ? make_files(mailbox, job, memory) : find_files(keeper, job, memory));
  for (const int fd : {job.board_fd, memory}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  job.node_fds.assign(static_cast<size_t>(job.nnodes), -1);
  job.node_fds[job.node] = memory;
  return {};
}

Status choose_wire(const std::string& transport, Joined& out) {
  const WireKind& kind = *find_wire(transport);
  if (!kind.sits_on_mpi()) return load_wire(kind, "", out.wire);
  const std::string launcher = launching_mpi(), program = loaded_mpi();
  if (!launcher.empty() && !program.empty() && launcher != program)
    return Status::error(
        "the program is linked with %s, but was started by the launcher of %s; use the mpirun of %s, or link the "
        "program with the other one",
        program.c_str(), launcher.c_str(), program.c_str());
  out.program_uses_library = !program.empty();
  const std::string mpi = !launcher.empty() ? launcher : program;
  Status status;
  for (const char* const other : kind.mpis) {
    if (mpi.empty()) status = load_wire(kind, other, out.wire);
    else if (!has_plugin(kind, mpi) && has_plugin(kind, other))
      return Status::error(
          "transport %s of this installation sits on %s, and the program was %s %s; use the mpirun of %s, or hirobarun",
          transport.c_str(), other, launcher.empty() ? "linked with" : "started by the launcher of", mpi.c_str(),
          other);
    if (out.wire != nullptr) return {};
  }
  return mpi.empty() ? status : load_wire(kind, mpi, out.wire);
}

// Process 0 reports an error that all processes find; its end ends the others.
Status refuse_once(Status status) {
  if (!status.ok() && launched_number() != 0) sleep(3);
  return status;
}

// Restores the program's signal stack, because network libraries set up their own.
class KeepSignalStack {
 public:
  KeepSignalStack() { sigaltstack(nullptr, &before_); }
  ~KeepSignalStack() { sigaltstack(&before_, nullptr); }

 private:
  stack_t before_;
};

}  // namespace

Status join_job(const std::string& transport, const Options& options, const Wire::Hooks& hooks, Joined& out) {
  const KeepSignalStack keep;
  // Hydra ignores the exit status of a process, but PMI-1 has a command for failure.
  if (const char* const pmi = std::getenv("PMI_FD"); pmi != nullptr && std::getenv("SLURM_MPI_TYPE") == nullptr)
    set_launcher_word(std::atoi(pmi), hydra_abort);
  HIROBA_TRY(refuse_once(choose_wire(transport, out)));
  if (const double seed = options.number("chaos"); seed > 0)
    out.wire = make_chaos_wire(std::move(out.wire), static_cast<uint64_t>(seed));
  Wire::Start start = {hooks, nullptr, out.program_uses_library, phrases().end};
  std::unique_ptr<Rendezvous> rendezvous;
  Job given;
  if (Job::in_environment()) {
    HIROBA_TRY(Job::from_environment(given));
    Board* board = nullptr;
    HIROBA_TRY(map_board(given, board));
    rendezvous = make_board_rendezvous(given, *board);
    start.rendezvous = rendezvous.get();
  }
  HIROBA_TRY(refuse_once(out.wire->open(start)));
  if (!out.wire->warning.empty() && out.wire->rank() == 0) log_line("%s", out.wire->warning.c_str());
  int mailbox = -1;
  if (rendezvous == nullptr) HIROBA_TRY(memory_file("hiroba-mailbox", 0, mailbox));
  Hello hello;
  HIROBA_TRY(introduce(options, mailbox, hello));
  std::vector<Hello> hellos(static_cast<size_t>(out.wire->size()));
  HIROBA_TRY(out.wire->allgather(&hello, hellos.data(), sizeof hello));
  HIROBA_TRY(refuse_once(compare(hellos)));
  out.secret = hellos[0].secret;
  const auto name_hosts = [&] {
    for (int n = 0; n < out.job.nnodes; ++n) {
      const int first = out.wire_ranks[out.job.first_rank_of(n)];
      const Hello& hello = hellos[first];
      out.hosts.push_back(hello.host);
      for (const in6_addr& address : hello.addresses)
        if (!IN6_IS_ADDR_UNSPECIFIED(&address)) out.addresses.push_back({address, n});
    }
  };
  if (start.rendezvous != nullptr) {  // the launcher has made nodes and files
    out.job = given;
    for (int r = 0; r < given.nranks; ++r) out.wire_ranks.push_back(r);
    name_hosts();
    return {};
  }
  fcntl(mailbox, F_SETFD, FD_CLOEXEC);
  number(hellos, out.wire->rank(), std::atoi(variable("HIROBA_NODES")), out);
  name_hosts();
  return share_files(hellos, mailbox, out);
}

}  // namespace hiroba
