// A rank's data about its job, and the board on which ranks and launcher read each other's state.
//
// There are two kinds of anonymous memory files: the board, and one memory file per node, which holds all memory whose
// home is on that node. On one machine the launcher (src/launcher) creates them and the ranks inherit the descriptors,
// which the variable HIROBA_JOB names. On several hosts the first rank of each node creates the file of its node and a
// board for the host, and the other ranks there receive the descriptors (src/transport/session/join.hpp). No file has a
// name in a file system, so none survives the job.
//
// The rank that owns a field of the board writes it and all ranks read it. Each field is an atomic, or text that only
// messages use.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

// leaving: the program has called exit, or returned from main, before its end, and its exit handlers run.
enum class Phase : uint32_t { launched = 0, started = 1, finished = 2, leaving = 3 };
// Limits the time of exit handlers.
inline constexpr int leaving_seconds = 30;

struct alignas(128) RankBoard {
  std::atomic<Phase> phase;
  std::atomic<int32_t> pid;       // set at start
  std::atomic<uint64_t> calls;    // collective calls entered
  std::atomic<uint64_t> ended;    // waits that have ended, and locks that were taken without one
  char where[176];                // the last collective call or lock: "sms_barrier", "sms_lock(3)"
  char end[40];                   // the call that ends the job: "sms_shutdown"
  std::atomic<uint32_t> waiting;  // number of threads that are blocked; the latest one in `where`
  std::atomic<int32_t> domain;    // 1 + the NUMA domain that has all its CPUs; 0: several have
  std::atomic<double> came[2];    // option stats: times of its latest two collective calls, seconds_now()
  std::atomic<int32_t> locks[4];  // 1 + the numbers of locks that it holds; 0: none
  // Option power: what this machine has used so far, by the first rank of a node; not a number: it is not known.
  std::atomic<double> joules;
  // The status with which the program ended, if it is not 0 but the system would have kept 0 of it (the rank then ends
  // with 1); else 0.
  std::atomic<int32_t> exit_status;

  // From here on the launcher counts on this rank.
  void start(const char* end_call) {
    std::strncpy(end, end_call, sizeof end - 1);
    phase = Phase::started;
  }
  void show(const char* text) { std::strncpy(where, text, sizeof where - 1); }
};

// Shows on the board that this rank is blocked, while the object lives.
class BlockedOnBoard {
 public:
  // Shows `what` as the place; null keeps the place that is shown.
  explicit BlockedOnBoard(RankBoard& board, const char* what = nullptr) : board_(board) {
    if (what != nullptr) board_.show(what);
    board_.waiting.fetch_add(1, std::memory_order_relaxed);
  }
  BlockedOnBoard(const BlockedOnBoard&) = delete;
  ~BlockedOnBoard() {
    board_.ended.fetch_add(1, std::memory_order_relaxed);
    board_.waiting.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  RankBoard& board_;
};

struct Board {
  static constexpr uint64_t magic_value = 0x3861626f72696822;  // changes with the layout
  std::atomic<uint64_t> magic;
  int32_t nranks, nnodes;
  // The rank that reports the error which ends the job sets it: reported | the job's exit status.
  static constexpr uint32_t reported = 0x100;
  std::atomic<uint32_t> aborting;
  int32_t maker;  // the process that has made the board: hirobarun, or a rank
  // RankBoard[nranks], then the transport's part, page-aligned

  RankBoard& rank(int r) { return reinterpret_cast<RankBoard*>(reinterpret_cast<char*>(this) + 4096)[r]; }
  static size_t transport_offset(int nranks) {
    return 4096 + (sizeof(RankBoard) * static_cast<size_t>(nranks) + 4095) / 4096 * 4096;
  }
  // The transport has 2 MiB for the job and 1 MiB per rank; the file is sparse.
  static size_t bytes(int nranks) {
    return transport_offset(nranks) + (size_t{2 + static_cast<unsigned>(nranks)} << 20);
  }
};

struct Job {
  int rank = 0, nranks = 1, node = 0, nnodes = 1;
  int board_fd = -1;
  std::vector<int> node_fds;  // -1: memory of a node that cannot be mapped here
  int cpus = 1;               // shared by the ranks of a launched job
  int ranks_on_machine = 1;   // of all its nodes: virtual nodes share a machine
  bool launched = false;      // by hirobarun; else this process made a job of one rank, or another launcher started it

  // Nodes hold consecutive ranks.
  int node_of(int r) const { return node_of_rank_[r]; }
  bool is_here(int r) const { return node_of(r) == node; }
  int first_rank_of(int n) const { return first_ranks_[n]; }
  bool leads() const { return rank == first_rank_of(node); }  // the first rank of its node
  int ranks_on(int n) const { return first_rank_of(n + 1) - first_rank_of(n); }
  // Returns the number of ranks whose memory this machine holds: all, or those of this node.
  int ranks_here() const { return node_fds.back() >= 0 && node_fds.front() >= 0 ? nranks : ranks_on(node); }
  // Returns how often a waiting rank polls before it yields its CPU: seldom if ranks compete for CPUs.
  [[HIROBA_SHOWN]] int spins(int threads_per_rank = 1) const;
  // Distributes the ranks over the nodes evenly, or by the given number of ranks of each node.
  void place_evenly();
  void place(const std::vector<int>& ranks_per_node);

  // Creates the memory files for a job (fills board_fd and node_fds) and writes the head of the board.
  static Status create(int nranks, int nnodes, Job& out);

  // Returns the value of HIROBA_JOB for one rank.
  std::string to_environment(int rank) const;

  // Lets the program inherit the descriptors that this process executes as a rank, or no child at all.
  void share_files(bool with_children) const;

  // Returns whether HIROBA_JOB is set.
  static bool in_environment();
  // Reads HIROBA_JOB, and refuses what is none: numbers that do not fit together, and descriptors that are no memory
  // files of a job of this size; without it, creates a job of one rank.
  static Status from_environment(Job& out);

 private:
  std::vector<int> node_of_rank_ = {0}, first_ranks_ = {0, 1};
};

// The most ranks of a job.
inline constexpr int most_ranks_of_job = 65536;

// Creates an anonymous memory file, which programs that this process executes do not inherit, and which nobody can make
// smaller: so who has mapped it, and has seen its size, may read it whatever others do.
Status memory_file(const char* name, size_t bytes, int& fd);
// Creates the memory file of a node, without bytes.
Status node_memory(int& fd);

// Creates a board's memory file and writes the head of the board.
Status create_board(int nranks, int nnodes, int& fd);
// Returns whether a descriptor is a memory file that memory_file() may have made, with this many bytes.
bool is_memory_file(int fd, size_t bytes);
// Maps a board to read, of a process that may be anybody's: its numbers fit together, and into the file.
Status map_board_to_read(int fd, Board*& out);
// Maps the whole board; it stays mapped while the process lives.
Status map_board(const Job& job, Board*& out);

}  // namespace hiroba
