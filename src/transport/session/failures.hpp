// Detects hosts that are down or cut off, and network libraries that fail, and ends the job with one message.
// README.md, "Hosts out of reach".
//
// Owner: Net. tick() and heard() require the wire; the thread that starts and stops the rank calls the others.
#pragma once

#include <atomic>
#include <string>

#include "transport/session/alive.hpp"
#include "transport/session/join.hpp"
#include "transport/session/unanswered.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Failures {
 public:
  // Called before the job is joined. `watched`: a thread polls while the program computes, so that silence means a
  // failure.
  Status watch_joining(const Options& options, bool watched);
  void start(const Joined* joined, Board* board, Channel* channel);
  // Called before each poll, not after it: threads that wait for its frames continue sooner.
  void tick();
  void heard(int rank) { alive_.heard(rank); }
  void heard_farewell() { farewell_.store(true, std::memory_order_release); }
  // Requires a barrier before it, so only signs of life are under way; waits until they have arrived.
  void leave();
  void stop() { unanswered_.stop(); }
  void end_of_library(const char* what);

 private:
  void watch_hosts();
  [[noreturn]] void lose(const std::string& why);
  void end_host() const;

  double most_silence_ = 0;
  const Joined* joined_ = nullptr;
  Board* board_ = nullptr;
  Channel* channel_ = nullptr;
  Alive alive_;
  Unanswered unanswered_;
  std::atomic<bool> leaving_{false}, farewell_{false}, losing_{false};
};

}  // namespace hiroba
