// A transfer that this rank makes alone, while the ranks with the other side take no part: gmove in and out. Memory of
// ranks that this process reaches is copied; the transport moves the rest, through buffers.
//
// Owner: the caller, which keeps it until finish(). Neither side may be used before. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "coarray/coarray.hpp"
#include "template/sides.hpp"

namespace hiroba {

class LoneTransfer {
 public:
  enum class Direction { in, out };
  // Finds the part of the array on the other side, at a rank, as an offset.
  using Finder = std::function<Status(int rank, uint64_t& offset)>;
  // Starts to bring memory that all ranks have in common, before it is used.
  using Fetcher = std::function<void(const Section& section)>;

  // in: reads what this rank owns of `to`, from any ranks. out: writes what this rank has of `from`, to any ranks; if
  // several ranks of `executing` have the same elements, one of them does. Fails if a rank that does not execute this
  // has elements of the side here.
  Status start(const World& world, const Team& executing, Direction direction, const TransferSide& to,
               const TransferSide& from, size_t element, const Finder& find, const Fetcher& fetch);
  bool done() const { return under_way_.left.load(std::memory_order_acquire) == 0; }
  // Waits; then what it has read is in its place, and what it has written has arrived.
  void finish();

 private:
  // Elements that go through a buffer.
  struct Kept {
    Section mine, theirs;
    RemoteAddress other;  // of theirs
    std::unique_ptr<char[]> buffer;
  };

  Status check(const Team& team, int executing, const SideOfTeam& here, const std::vector<bool>& may_give);
  void move(const Box& to, const Box& from, int rank, bool own, bool apart);

  const World* world_ = nullptr;
  Mover mover_;
  Direction direction_ = Direction::in;
  size_t element_ = 1;
  std::vector<Kept> kept_;
  Completion under_way_;
};

}  // namespace hiroba
