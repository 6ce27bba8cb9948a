#include "transport/session/board_rendezvous.hpp"

#include <unistd.h>

#include <cstring>

#include "base/wait.hpp"

namespace hiroba {

namespace {

// Each rank has a megabyte of the transport's part of the board, with its data of this round.
struct Stand {
  std::atomic<uint32_t> offered, taken;  // rounds
  alignas(64) char bytes[(1 << 20) - 64];
};
static_assert(sizeof(Stand) == 1 << 20);

class BoardRendezvous final : public Rendezvous {
 public:
  BoardRendezvous(const Job& job, Board& board)
      : rank_(job.rank),
        size_(job.nranks),
        stands_(reinterpret_cast<Stand*>(reinterpret_cast<char*>(&board) + Board::transport_offset(job.nranks) +
                                         (size_t{2} << 20))) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Status allgather(const void* mine, void* all, size_t bytes) override {
    if (bytes > sizeof(Stand::bytes)) return Status::error("the launcher's board has no room for so much");
    ++round_;
    Stand& own = stands_[rank_];
    std::memcpy(own.bytes, mine, bytes);
    own.offered.store(round_);
    HIROBA_TRY(await(&Stand::offered));
    for (int r = 0; r < size_; ++r)
      std::memcpy(static_cast<char*>(all) + static_cast<size_t>(r) * bytes, stands_[r].bytes, bytes);
    own.taken.store(round_);
    return await(&Stand::taken);
  }

 private:
  Status await(std::atomic<uint32_t> Stand::* counter) {
    const double deadline = seconds_now() + join_seconds;
    for (int r = 0; r < size_; ++r)
      for (Backoff backoff(100); (stands_[r].*counter).load() < round_;) {
        if (backoff.step()) continue;
        usleep(500);
        if (seconds_now() > deadline) return Status::error("rank %d has not started within %.0f s", r, join_seconds);
      }
    return {};
  }

  static constexpr double join_seconds = 60;
  const int rank_, size_;
  Stand* const stands_;
  uint32_t round_ = 0;
};

}  // namespace

std::unique_ptr<Rendezvous> make_board_rendezvous(const Job& job, Board& board) {
  return std::make_unique<BoardRendezvous>(job, board);
}

}  // namespace hiroba
