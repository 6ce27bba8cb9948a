// Where the ranks of a job are, as text for people, from the job's board. Reads state that ranks may be changing, so
// parts of a text may be from different times; nothing blocks.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/job.hpp"

namespace hiroba {

// "ranks 0-2 wait in sms_barrier; rank 3 computes after sms_alloc(...)", of these ranks, those at the same place
// together; of at most `most` places. "" if none has started.
std::string whereabouts(Board& board, const std::vector<int>& ranks, size_t most = 8);

// That a rank has not arrived, and where it is instead, if its state is on this board.
std::string not_come(Board& board, int rank);

// Ranks whose collective calls differ: each adds to what its board shows the place in the program of its call, and
// waits up to a second for the places of others. `ask` is called from time to time meanwhile.
void show_call_place(RankBoard& self);
void await_call_place(const RankBoard& other, const std::function<void()>& ask);
// The text that this adds, for calls that have names of their own: " at main (x.c:7)"; "" if it does not come.
std::string call_place(Board& board, int rank, bool is_self);

// "lock 3" or "locks 3, 5" if a rank holds some, else "".
std::string held_locks(const RankBoard& board);

// "rank 2", "ranks 0-2, 5".
std::string list_ranks(const std::vector<int>& ranks);

// Detects that some of the ranks wait and none advances, by calls of look(), which should be made every second or more
// often. Not thread-safe.
class Stillness {
 public:
  explicit Stillness(double seconds) : limit_(seconds) {}  // option still; 0: never
  // The number of seconds, when a message is due: after `seconds`, and once more after ten times as long. Else 0.
  double look(Board& board, const std::vector<int>& ranks);

 private:
  double limit_;
  uint64_t calls_ = 0;  // of all ranks, at the last call
  double since_ = 0;
  int told_ = 0;
};

// The end of the message to the user.
inline constexpr const char* still_advice =
    "(--timeout SECONDS ends a job that waits longer; --still 0 suppresses this line)";

// A thread that watches the ranks of this rank's node where hirobarun does not, and reports on stderr: for node 0, and
// for nodes where a rank does not wait. It runs in the first rank of a node.
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
