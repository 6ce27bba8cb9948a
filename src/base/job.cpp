#include "base/job.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/backing/node_memory.hpp"
#include "base/limits.hpp"
#include "base/secure.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"

namespace hiroba {

Status memory_file(const char* name, size_t bytes, int& fd) {
  fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return Status::error("cannot create a memory file (%s)", explain_error(errno).c_str());
  return size_file(fd, bytes, "a memory file");
}

Status node_memory(int& fd) {
  fd = create_node_memory();
  return fd >= 0 ? Status() : Status::error("cannot create the node's memory file (%s)", explain_error(errno).c_str());
}

Status create_board(int nranks, int nnodes, int& fd) {
  HIROBA_TRY(memory_file("hiroba-board", Board::bytes(nranks), fd));
  Job job;
  job.nranks = nranks, job.board_fd = fd;
  Board* board = nullptr;
  HIROBA_TRY(map_board(job, board));
  board->nranks = nranks;
  board->nnodes = nnodes;
  board->maker = getpid();
  board->magic = Board::magic_value;
  munmap(board, Board::bytes(nranks));
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
  ranks_on_machine = nranks;
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
  const int mine = allowed_cpus(), bound = mine * ranks_on_machine;
  const int unknown = bound <= machine_cpus() ? bound : mine;
  return spins_for(ranks_on_machine * threads_per_rank, launched ? cpus : unknown);
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

bool Job::in_environment() { return trusted_variable("HIROBA_JOB") != nullptr; }

namespace {

// Reads numbers that colons separate; false if there is anything else.
bool read_numbers(std::string_view text, std::vector<int>& out) {
  for (const char *at = text.data(), *const end = at + text.size();; ++at) {
    const auto [next, failed] = std::from_chars(at, end, out.emplace_back());
    if (failed != std::errc()) return false;
    if (next == end) return true;
    if (*next != ':') return false;
    at = next;
  }
}

bool fits(const Job& job) {
  return job.nranks >= 1 && job.nranks <= most_ranks_of_job && job.rank >= 0 && job.rank < job.nranks &&
         job.nnodes >= 1 && job.nnodes <= job.nranks && job.cpus >= 1 &&
         static_cast<int>(job.node_fds.size()) == job.nnodes;
}

bool has_files(const Job& job) {
  if (!is_memory_file(job.board_fd, Board::bytes(job.nranks))) return false;
  if (!std::all_of(job.node_fds.begin(), job.node_fds.end(), is_node_memory)) return false;
  Board* board = nullptr;
  if (!map_board_to_read(job.board_fd, board).ok()) return false;
  const bool same = board->nranks == job.nranks && board->nnodes == job.nnodes;
  munmap(board, Board::bytes(job.nranks));
  return same;
}

}  // namespace

Status Job::from_environment(Job& out) {
  const char* text = trusted_variable("HIROBA_JOB");
  if (text == nullptr) return create(1, 1, out);
  out = Job{};
  out.launched = true;
  std::vector<int> numbers;
  constexpr size_t head = 5;
  const bool good = read_numbers(text, numbers) && numbers.size() > head;
  if (good) {
    out.rank = numbers[0], out.nranks = numbers[1], out.nnodes = numbers[2], out.cpus = numbers[3];
    out.board_fd = numbers[4];
    out.node_fds.assign(numbers.begin() + head, numbers.end());
  }
  if (!good || !fits(out))
    return Status::error("HIROBA_JOB='%s' is damaged; it is set by hirobarun and must reach the program as it is",
                         printable(text).c_str());
  if (!has_files(out))
    return Status::error(
        "the descriptors of HIROBA_JOB='%s' are no files of this job: does a wrapper script between hirobarun and the "
        "program close them, or was HIROBA_JOB copied from another job? (a program that a rank starts is no rank: "
        "remove HIROBA_JOB from its environment)",
        text);
  out.place_evenly();
  return {};
}

void Job::share_files(bool with_children) const {
  const int flags = with_children ? 0 : FD_CLOEXEC;
  if (board_fd >= 0) fcntl(board_fd, F_SETFD, flags);
  for (const int fd : node_fds)
    if (fd >= 0) fcntl(fd, F_SETFD, flags);
}

bool is_memory_file(int fd, size_t bytes) {
  struct stat info = {};
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
         static_cast<uint64_t>(info.st_size) >= bytes;
}

Status map_board_to_read(int fd, Board*& out) {
  if (!is_memory_file(fd, sizeof(Board))) return Status::error("it is no board of this version of Hiroba");
  struct {
    uint64_t magic;
    int32_t nranks, nnodes;
  } head = {};
  if (pread(fd, &head, sizeof head, 0) != sizeof head || head.magic != Board::magic_value)
    return Status::error("it is of another version of Hiroba");
  if (head.nranks < 1 || head.nranks > most_ranks_of_job || head.nnodes < 1 || head.nnodes > head.nranks)
    return Status::error("its board has %d ranks on %d nodes, and is damaged", head.nranks, head.nnodes);
  if (!is_memory_file(fd, Board::bytes(head.nranks)))
    return Status::error("its board has %d ranks, which do not fit into it: it is damaged", head.nranks);
  void* const at = mmap(nullptr, Board::bytes(head.nranks), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return Status::error("its board cannot be mapped (%s)", explain_error(errno).c_str());
  out = static_cast<Board*>(at);
  return {};
}

Status map_board(const Job& job, Board*& out) {
  void* at = mmap(nullptr, Board::bytes(job.nranks), PROT_READ | PROT_WRITE, MAP_SHARED, job.board_fd, 0);
  if (at == MAP_FAILED) return Status::error("cannot map the job's board (%s)", explain_error(errno).c_str());
  out = static_cast<Board*>(at);
  return {};
}

}  // namespace hiroba
