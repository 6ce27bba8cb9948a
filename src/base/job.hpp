// What a rank knows of its job, and the board on which ranks and launcher see each other's state.
//
// The launcher (src/launcher) creates two kinds of anonymous memory files and hands them to the ranks as inherited
// descriptors, named in the variable HIROBA_JOB: the board, and one memory file per node, which holds all memory
// whose home is on that node. Nothing has a name in a file system, so nothing survives the job.
//
// Board fields are written by the rank they belong to and read by anyone; all are atomics or plain text that is only
// ever used in messages.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

enum class Phase : uint32_t { launched = 0, started = 1, finished = 2 };

struct alignas(128) RankBoard {
  std::atomic<Phase> phase;
  std::atomic<int32_t> pid;       // set at start
  std::atomic<uint64_t> calls;    // collective calls entered so far
  char where[176];                // the last collective call or lock: "sms_barrier", "sms_lock(3)"
  std::atomic<uint32_t> waiting;  // 1 while blocked in `where`
};

struct Board {
  static constexpr uint64_t magic_value = 0x3161626f72696821;  // changes with the layout
  std::atomic<uint64_t> magic;
  int32_t nranks, nnodes;
  // Set by the rank that reports the error which ends the job: reported | the job's exit status.
  static constexpr uint32_t reported = 0x100;
  std::atomic<uint32_t> aborting;
  // RankBoard[nranks], then the transport's part, page-aligned

  RankBoard& rank(int r) { return reinterpret_cast<RankBoard*>(reinterpret_cast<char*>(this) + 4096)[r]; }
  static size_t transport_offset(int nranks) {
    return 4096 + (sizeof(RankBoard) * static_cast<size_t>(nranks) + 4095) / 4096 * 4096;
  }
};

struct Job {
  int rank = 0, nranks = 1, node = 0, nnodes = 1;
  int board_fd = -1;
  std::vector<int> node_fds;
  bool launched = false;  // by hirobarun; else a job of one rank made by itself

  int node_of(int r) const { return static_cast<int>(static_cast<int64_t>(r) * nnodes / nranks); }
  int first_rank_of(int n) const { return static_cast<int>((static_cast<int64_t>(n) * nranks + nnodes - 1) / nnodes); }
  int ranks_on(int n) const { return first_rank_of(n + 1) - first_rank_of(n); }

  // Creates the memory files for a job (fills board_fd and node_fds; the descriptors are inherited by children) and
  // writes the head of the board.
  static Status create(int nranks, int nnodes, Job& out);

  // The value of HIROBA_JOB for one rank.
  std::string to_environment(int rank) const;

  // Reads HIROBA_JOB; without it, creates a job of one rank.
  static Status from_environment(Job& out);
};

// The whole board mapped; never unmapped while the process lives.
Status map_board(const Job& job, Board*& out);

}  // namespace hiroba
