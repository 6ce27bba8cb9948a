// Hosts that are down or cut off, and network libraries that give up: what is noticed ends the job with one message.
// README.md, "Hosts out of reach".
//
// Owner: Net. tick() and heard() are called with the wire; the others by the thread that starts and stops the rank.
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
  // Before the job is joined. `watched`: somebody polls while the program computes, so that silence means something.
  Status watch_joining(const Options& options, bool watched);
  void start(const Joined* joined, Board* board, Channel* channel);
  // Before each poll, not after it: whoever waits for what it has brought goes on sooner.
  void tick();
  void heard(int rank) { alive_.heard(rank); }
  void heard_farewell() { farewell_.store(true, std::memory_order_release); }
  // All ranks have met, so nothing is under way any more but signs of life; waits until they are through.
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
