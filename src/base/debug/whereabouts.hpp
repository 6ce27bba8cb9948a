// Describes the state of the ranks of a job from its board, as text for people. Ranks may change that state during the
// reading, so parts of a text may be from different times; nothing blocks.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/job.hpp"

namespace hiroba {

// Returns "ranks 0-2 wait in sms_barrier; rank 3 computes after sms_alloc(...)" for these ranks, grouped by place, with
// at most `most` places; "" if none has started.
std::string whereabouts(Board& board, const std::vector<int>& ranks, size_t most = 8);

// Says that a rank has not arrived, and its state if this board has it.
std::string not_come(Board& board, int rank);

// Returns " at main (x.c:7)", where the program has called.
std::string own_call_place();
// Returns " at heat.py:12 (step)", the line of an interpreted program that the calling thread executes; "" in other
// programs, of which it takes longer to find the line: for waits that are long, but may be no mistake.
std::string interpreted_place();
void show_interpreted_place(RankBoard& self);
// When the collective calls of ranks differ, each rank adds the source location of its call to its board, and waits up
// to a second for the locations of others. It calls `ask` from time to time during the wait.
void show_call_place(RankBoard& self);
void await_call_place(const RankBoard& other, const std::function<void()>& ask);
// Returns the added text, for calls that have names of their own: " at main (x.c:7)"; "" if there is none in time.
std::string call_place(Board& board, int rank, bool is_self);

// Returns "lock 3" or "locks 3, 5" if a rank holds some, else "".
std::string held_locks(const RankBoard& board);

// Returns "rank 2" or "ranks 0-2, 5".
std::string list_ranks(const std::vector<int>& ranks);

// Detects that some of the ranks wait and none advances. The caller calls look() every second or more often. Not
// thread-safe.
class Stillness {
 public:
  explicit Stillness(double seconds) : limit_(seconds) {}  // option still; 0: never
  // Returns the seconds without progress when a message is due, after `seconds` and once more after ten times as long;
  // else 0.
  double look(Board& board, const std::vector<int>& ranks);

 private:
  double limit_;
  uint64_t steps_ = 0;  // of all ranks, at the last call
  double since_ = 0;
  int told_ = 0;
};

// Ends the message to the user.
inline constexpr const char* still_advice =
    "(--timeout SECONDS ends a job that waits longer; --still 0 suppresses this line)";

// A thread in the first rank of a node that watches the node's ranks if hirobarun does not. It reports on stderr for
// node 0, and for nodes where a rank does not wait.
class StillWatch {
 public:
  Status start(Board& board, const Job& job, double seconds);
  ~StillWatch() { stop(); }
  void stop();

 private:
  void run();

  Board* board_ = nullptr;
  std::vector<int> ranks_;
  double seconds_ = 0;
  bool always_ = false, running_ = false;
  std::atomic<bool> stopping_{false};
  pthread_t thread_ = {};
};

}  // namespace hiroba
