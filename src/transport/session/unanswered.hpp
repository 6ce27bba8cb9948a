// Detects TCP connections of this process without an answer. A firewall that drops packets, a route that leads nowhere
// or a host that is gone leave a network library waiting inside its own calls, for minutes or without end: in
// connect(), or for sent data. The kernel knows, since it sends again and again.
//
// A separate thread examines the sockets of this process once a second, by system calls only; it takes none of the
// engine's locks, whose holder may be the thread that waits. Networks without TCP sockets (InfiniBand) have their own
// limits. One thread calls start(), know() and stop().
#pragma once

#include <netinet/in.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/machine/host_addresses.hpp"
#include "base/status.hpp"
#include "base/wait.hpp"

namespace hiroba {

class Unanswered {
 public:
  // The thread that watches reports it, at most once.
  struct Found {
    in6_addr peer;
    int port;
    double seconds;  // without an answer
    bool of_daemon;
  };
  using Report = std::function<void(const Found&)>;

  Unanswered() = default;
  Unanswered(const Unanswered&) = delete;
  Unanswered& operator=(const Unanswered&) = delete;
  ~Unanswered() { stop(); }

  // Reports connections without an answer for `limit` seconds, give or take one period. Ignores sockets that are open
  // now: they are the program's own. Watches the sockets of the launcher's daemon (0: none): while this process starts,
  // it waits for data from the daemon, and gets none if the host is cut off. So if the start has taken `limit` seconds,
  // and the daemon has had no answer for half of that, this is reported, too.
  Status start(double limit, Report report, pid_t daemon = 0);
  // Restricts reports to connections of this process to these addresses; others may be the program's own. They go to
  // `report` from now on.
  void know(std::vector<in6_addr> peers, Report report);
  void stop();

 private:
  struct Attempt {
    uint64_t socket;        // inode
    uint64_t acknowledged;  // bytes
    double since;
  };
  void watch();
  bool look();
  void note(uint64_t socket, uint64_t acknowledged, double now, std::vector<Attempt>& still) const;
  bool look_at_own(double now, std::vector<Attempt>& still);
  bool look_at_daemon(double now, std::vector<Attempt>& still);
  bool report_if_known(const Found& found) const;

  double limit_ = 0, period_ = 0, started_ = 0, looked_ = 0;
  pid_t daemon_ = 0;
  std::vector<uint64_t> before_;  // inodes of sockets that were open at the start
  std::vector<Attempt> attempts_;
  mutable SignalSafeLock lock_;  // guards the next members
  Report report_;
  bool knows_ = false;
  std::vector<in6_addr> peers_;
  pthread_t thread_ = {};
  bool watching_ = false;
  std::atomic<uint32_t> stopping_{0};
};

}  // namespace hiroba
