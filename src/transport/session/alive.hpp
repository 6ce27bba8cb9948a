// Heartbeats between nodes. The first rank of each node sends a sign of life to the next node in a ring, and listens
// for the node before it; any frame from there counts. A cut network or a dead host shows as silence. Virtual nodes of
// one host do not watch each other: there is no network to cut, the launcher sees exits, and a silent rank only waits
// for a core.
//
// Owner: the network transport. tick() and heard() require the engine's lock; the progress thread ensures that tick()
// runs often enough while the program computes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/job.hpp"
#include "base/wait.hpp"

namespace hiroba {

class Alive {
 public:
  // More than `limit` seconds of silence mean a loss; 0: never.
  void start(const Job& job, const std::vector<std::string>& host_of_node, double limit) {
    if (limit <= 0 || !job.leads()) return;
    const int nodes = job.nnodes, next = (job.node + 1) % nodes, previous = (job.node + nodes - 1) % nodes;
    const std::string& here = host_of_node[job.node];
    telling_ = host_of_node[next] != here;
    listening_ = host_of_node[previous] != here;
    limit_ = limit;
    next_ = job.first_rank_of(next);
    previous_ = job.first_rank_of(previous);
    told_ = heard_ = looked_ = seconds_about_now();
  }

  void heard(int rank) { fresh_ = fresh_ || rank == previous_; }

  enum class Due { nothing, tell_next, previous_is_lost };
  Due tick() {
    if (!telling_ && !listening_) return Due::nothing;
    const double now = seconds_about_now();
    // A process that did not run could not listen: after a suspension the time starts anew.
    if (fresh_ || now - looked_ > limit_ / 4) heard_ = now;
    fresh_ = false;
    looked_ = now;
    if (listening_ && now - heard_ > limit_) return listening_ = false, Due::previous_is_lost;
    if (!telling_ || now - told_ < 1) return Due::nothing;
    told_ = now;
    return Due::tell_next;
  }

  // Returns the farewells to send to the next node and to expect from the previous one. No tick() sends after it.
  struct Farewell {
    bool tell = false, hear = false;
  };
  Farewell leave() { return {std::exchange(telling_, false), std::exchange(listening_, false)}; }

  int next() const { return next_; }
  int previous() const { return previous_; }

 private:
  bool telling_ = false, listening_ = false, fresh_ = false;
  double limit_ = 0, told_ = 0, heard_ = 0, looked_ = 0;
  int next_ = 0, previous_ = 0;
};

}  // namespace hiroba
