#include "base/job.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/limits.hpp"
#include "base/machine/node_memory.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

// The transport has 2 MiB for the job and 1 MiB per rank after the rank slots; the file is sparse.
size_t board_bytes(int nranks) {
  return Board::transport_offset(nranks) + (size_t{2 + static_cast<unsigned>(nranks)} << 20);
}

}  // namespace

Status memory_file(const char* name, size_t bytes, int& fd) {
  fd = memfd_create(name, 0);
  if (fd < 0) return Status::error("cannot create a memory file (%s)", explain_error(errno).c_str());
  return size_file(fd, bytes, "a memory file");
}

Status node_memory(int& fd) {
  fd = create_node_memory();
  return fd >= 0 ? Status() : Status::error("cannot create the node's memory file (%s)", explain_error(errno).c_str());
}

Status create_board(int nranks, int nnodes, int& fd) {
  HIROBA_TRY(memory_file("hiroba-board", board_bytes(nranks), fd));
  Job job;
  job.nranks = nranks, job.board_fd = fd;
  Board* board = nullptr;
  HIROBA_TRY(map_board(job, board));
  board->nranks = nranks;
  board->nnodes = nnodes;
  board->magic = Board::magic_value;
  munmap(board, board_bytes(nranks));
  return {};
}

void Job::place(const std::vector<int>& ranks_per_node) {
  node_of_rank_.clear();
  first_ranks_.assign(1, 0);
  for (const int ranks : ranks_per_node) {
    node_of_rank_.insert(node_of_rank_.end(), static_cast<size_t>(ranks), static_cast<int>(first_ranks_.size()) - 1);
    first_ranks_.push_back(static_cast<int>(node_of_rank_.size()));
  }
  nnodes = static_cast<int>(ranks_per_node.size());
  node = node_of(rank);
}

namespace {

int machine_cpus() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

// Returns how many CPUs this process may use.
int allowed_cpus() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : machine_cpus();
}

}  // namespace

// An MPI launcher may bind each rank to CPUs of its own; then the ranks share the sum of these.
int Job::spins(int threads_per_rank) const {
  const int ranks = launched ? nranks : ranks_here(), mine = allowed_cpus();
  const int unknown = mine * ranks <= machine_cpus() ? mine * ranks : mine;
  return spins_for(ranks * threads_per_rank, launched ? cpus : unknown);
}

void Job::place_evenly() {
  std::vector<int> ranks(static_cast<size_t>(nnodes), 0);
  for (int r = 0; r < nranks; ++r) ++ranks[static_cast<int64_t>(r) * nnodes / nranks];
  place(ranks);
}

Status Job::create(int nranks, int nnodes, Job& out) {
  out = Job{};
  out.nranks = nranks;
  out.nnodes = nnodes;
  out.cpus = allowed_cpus();
  out.place_evenly();
  HIROBA_TRY(create_board(nranks, nnodes, out.board_fd));
  for (int n = 0; n < nnodes; ++n) {
    int fd = -1;
    HIROBA_TRY(node_memory(fd));  // ranks set its size, which depends on options
    out.node_fds.push_back(fd);
  }
  return {};
}

std::string Job::to_environment(int r) const {
  std::string text = format("%d:%d:%d:%d:%d", r, nranks, nnodes, cpus, board_fd);
  for (const int fd : node_fds) text += format(":%d", fd);
  return text;
}

bool Job::in_environment() { return std::getenv("HIROBA_JOB") != nullptr; }

Status Job::from_environment(Job& out) {
  const char* text = std::getenv("HIROBA_JOB");
  if (text == nullptr) return create(1, 1, out);
  out = Job{};
  out.launched = true;
  int used = 0;
  const bool head =
      std::sscanf(text, "%d:%d:%d:%d:%d%n", &out.rank, &out.nranks, &out.nnodes, &out.cpus, &out.board_fd, &used) == 5;
  for (const char* rest = text + used; head && *rest == ':';) {
    char* end = nullptr;
    out.node_fds.push_back(static_cast<int>(std::strtol(rest + 1, &end, 10)));
    rest = end;
  }
  if (!head || static_cast<int>(out.node_fds.size()) != out.nnodes)
    return Status::error("HIROBA_JOB='%s' is damaged; it is set by hirobarun and must reach the program as it is",
                         text);
  struct stat info;
  if (fstat(out.board_fd, &info) != 0)
    return Status::error(
        "the descriptors that hirobarun opened are closed: does a wrapper script between hirobarun and the program "
        "close them, or was HIROBA_JOB copied from another job?");
  out.place_evenly();
  return {};
}

Status map_board(const Job& job, Board*& out) {
  void* at = mmap(nullptr, board_bytes(job.nranks), PROT_READ | PROT_WRITE, MAP_SHARED, job.board_fd, 0);
  if (at == MAP_FAILED) return Status::error("cannot map the job's board (%s)", explain_error(errno).c_str());
  out = static_cast<Board*>(at);
  return {};
}

}  // namespace hiroba
