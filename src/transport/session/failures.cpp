#include "transport/session/failures.hpp"

#include <signal.h>
#include <unistd.h>

#include "base/ending.hpp"
#include "base/log.hpp"
#include "base/machine/host.hpp"
#include "base/tables/launchers.hpp"
#include "transport/session/daemon.hpp"

namespace hiroba {

namespace {
// Before this rank knows the others, only the address that does not answer is known.
[[noreturn]] void cannot_join(const Unanswered::Found& found) {
  if (launched_number() != 0) sleep(1);  // one message is enough, if process 0 has one
  const std::string here = host_name(), peer = to_text(found.peer);
  if (found.of_daemon) {
    log_line(
        "host %s has had no answer from the launcher's host, %s, for %.3g s (option silence): it is cut off, or down",
        here.c_str(), peer.c_str(), found.seconds);
    end_daemon(find_daemon());
    _exit(1);
  }
  end_job(1,
          "process %d on host %s tries to reach %s, port %d, and has had no answer for %.3g s (option silence): a "
          "firewall drops what it sends, no route leads there, or this is not the network that connects the hosts; "
          "which networks are used can be set, by UCX_NET_DEVICES, or with Open MPI OMPI_MCA_btl_tcp_if_include",
          launched_number(), here.c_str(), peer.c_str(), found.port, found.seconds);
}
}  // namespace

Status Failures::watch_joining(const Options& options, bool watched) {
  most_silence_ = watched ? options.number("silence") : 0;
  // Earlier than the limit of silence, because launchers take seconds to end a job.
  const double limit = options.number("silence") * 3 / 4;
  if (limit <= 0 || Job::in_environment()) return {};
  return unanswered_.start(limit, cannot_join, find_daemon().pid);
}

void Failures::start(const Joined* joined, Board* board, Channel* channel) {
  joined_ = joined, board_ = board, channel_ = channel;
  alive_.start(joined->job, joined->hosts, most_silence_);
  watch_hosts();
}

void Failures::tick() {
  switch (alive_.tick()) {
    case Alive::Due::nothing: return;
    case Alive::Due::tell_next: return channel_->push(alive_.next(), head_of(Frame::alive), nullptr, 0);
    case Alive::Due::previous_is_lost: break;
  }
  const int rank = alive_.previous(), node = joined_->job.node_of(rank);
  lose(
      format("nothing has been heard of node %d (rank %d, host %s) for %.3g s (option silence): the host is down, the "
             "network to it is cut, or its ranks are stopped; this is host %s",
             node, rank, joined_->hosts[node].c_str(), most_silence_, joined_->hosts[joined_->job.node].c_str()));
}

// Watches also hosts other than this one's neighbours in the ring.
void Failures::watch_hosts() {
  if (most_silence_ == 0) return unanswered_.stop();
  const auto host = [this](int node) -> const std::string& { return joined_->hosts[node]; };
  const std::string& here = host(joined_->job.node);
  std::vector<in6_addr> others;
  for (const Joined::Address& known : joined_->addresses)
    if (host(known.node) != here) others.push_back(known.address);
  unanswered_.know(std::move(others), [this, host, here](const Unanswered::Found& found) {
    for (const Joined::Address& known : joined_->addresses)
      if (host(known.node) != here && IN6_ARE_ADDR_EQUAL(&known.address, &found.peer)) {
        lose(
            format("node %d (host %s, %s) has not answered host %s for %.3g s (option silence): it is down, or the "
                   "network between the two is cut",
                   known.node, host(known.node).c_str(), to_text(found.peer).c_str(), here.c_str(), found.seconds));
      }
  });
}

void Failures::lose(const std::string& why) {
  if (losing_.exchange(true)) ::sleep(60);  // another thread reports, and then ends this process
  const bool first = first_to_report(1);
  if (first) log_line("%s", why.c_str());
  {
    const EndWithin limit(1, 1);
    flush_program_output();
  }
  tell_launcher(1);
  if (first) end_host();
  _exit(1);
}

// The launcher may be beyond the cut and unable to end processes of this host: this rank ends them, and the daemon that
// has started the ranks here.
void Failures::end_host() const {
  const Job& job = joined_->job;
  const Daemon daemon = find_daemon();
  usleep(500000);  // a launcher on our side ends us in its own way
  for (int r = job.first_rank_of(job.node); r < job.first_rank_of(job.node + 1); ++r)
    if (r != job.rank && board_->rank(r).pid > 0) kill(board_->rank(r).pid, SIGKILL);
  end_daemon(daemon);
}

// Network libraries may fail at their end if messages were never received.
void Failures::leave() {
  Alive::Farewell leaving;
  channel_->engine().with_wire([&] { leaving = alive_.leave(); });
  if (leaving.tell) channel_->send(alive_.next(), head_of(Frame::farewell), nullptr, 0);
  if (leaving.tell || leaving.hear) {
    const auto heard = [&] { return !leaving.hear || farewell_.load(std::memory_order_acquire); };
    channel_->engine().wait([&] { return heard() && channel_->outbox().queued() == 0; }, 5);
  }
  leaving_.store(true);
}

void Failures::end_of_library(const char* what) {
  if (leaving_.load()) return;
  ::sleep(5);  // if another rank's end is the cause, the launcher ends us before this
  if (losing_.load()) ::sleep(60);
  end_job(1, "%s", what);
}

}  // namespace hiroba
