// A halo exchange of two ranks without geometry: each block of a rank sends its words to the block with the same number
// of the other rank, in each step, and is updated when it has got that one's. What contestants share: the blocks, the
// options, and the check of the answer.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../spin.h"

struct Block {
  std::vector<uint64_t> own, halo;
};

class Halo {
 public:
  // BLOCKS BYTES STEPS MICROSECONDS
  Halo(int argc, char** argv) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5 || size != 2) fail("give blocks, bytes, steps and microseconds of work, to 2 ranks");
    blocks_.resize(static_cast<size_t>(std::atoi(argv[1])));
    const auto words = static_cast<size_t>(std::atoi(argv[2])) / sizeof(uint64_t);
    steps_ = std::atoi(argv[3]), work_ = static_cast<int64_t>(1e3 * std::atof(argv[4]) * spin_rate());
    for (size_t b = 0; b < blocks_.size(); ++b) blocks_[b] = {initial(rank_, b, words), std::vector<uint64_t>(words)};
  }
  int steps() const { return steps_; }
  int blocks() const { return static_cast<int>(blocks_.size()); }
  Block& block(int b) { return blocks_[static_cast<size_t>(b)]; }

  // Messages of a block follow each other, so its number is enough of a tag.
  void start(int b, MPI_Request requests[2]) {
    Block& block = blocks_[static_cast<size_t>(b)];
    const auto words = static_cast<int>(block.own.size());
    MPI_Irecv(block.halo.data(), words, MPI_UINT64_T, 1 - rank_, b, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(block.own.data(), words, MPI_UINT64_T, 1 - rank_, b, MPI_COMM_WORLD, &requests[1]);
  }
  void update(int b) {
    Block& block = blocks_[static_cast<size_t>(b)];
    update(block.own, block.halo);
    spin(work_);
  }

  // After the steps, in both ranks: ends the program if a word is wrong; the first rank prints the seconds.
  void end(double seconds) const {
    for (size_t b = 0; b < blocks_.size(); ++b) {
      std::vector<uint64_t> ours = initial(rank_, b, blocks_[b].own.size());
      std::vector<uint64_t> theirs = initial(1 - rank_, b, blocks_[b].own.size());
      for (int s = 0; s < steps_; ++s) {
        const std::vector<uint64_t> before = ours;
        update(ours, theirs), update(theirs, before);
      }
      if (ours != blocks_[b].own) fail("a block has wrong words after the last step");
    }
    double slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double messages = 1.0 * steps_ * static_cast<double>(blocks_.size());
    if (rank_ == 0) std::printf("{\"seconds\": %.9f, \"per_message\": %.12f}\n", slowest, slowest / messages);
  }

 private:
  static std::vector<uint64_t> initial(int rank, size_t block, size_t words) {
    std::vector<uint64_t> out(words);
    for (size_t i = 0; i < words; ++i) out[i] = 1000003 * (block + 1) + 1009 * static_cast<uint64_t>(rank) + i;
    return out;
  }
  static void update(std::vector<uint64_t>& own, const std::vector<uint64_t>& other) {
    for (size_t i = 0; i < own.size(); ++i) own[i] = 3 * own[i] + other[i] + 1;
  }
  static void fail(const char* text) {
    std::fprintf(stderr, "halo: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank_ = 0, steps_ = 0;
  int64_t work_ = 0;  // rounds of spin()
  std::vector<Block> blocks_;
};
