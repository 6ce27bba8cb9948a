#include "transport/session/unanswered.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/thread.hpp"

namespace hiroba {

namespace {

// States of a socket, from the kernel's tcp_states.h; netinet/tcp.h has them, too, but not all of tcp_info.
constexpr uint8_t established = 1, asking = 2, closed_by_peer = 8;

// Avoids getpeername(), which knows only peers that have answered; SO_PEERNAME fails if the size is too large.
bool peer_of(int fd, in6_addr& out, int& port) {
  sockaddr_storage name = {};
  int domain = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return false;
  size = domain == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  return getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &name, &size) == 0 &&
         address_of(reinterpret_cast<const sockaddr*>(&name), out, port);
}

uint64_t inode(int fd) {
  struct stat file;
  return fstat(fd, &file) == 0 ? file.st_ino : 0;
}

// Visits the TCP sockets of this process, until visit(fd, tcp_info) returns true.
template <typename Visit>
bool any_socket(Visit&& visit) {
  DIR* const files = opendir("/proc/self/fd");
  if (files == nullptr) return false;
  bool found = false;
  for (const dirent* file; !found && (file = readdir(files)) != nullptr;) {
    char* end = nullptr;
    const int fd = static_cast<int>(std::strtol(file->d_name, &end, 10));
    tcp_info info = {};
    socklen_t size = sizeof info;
    if (end != file->d_name && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) found = visit(fd, info);
  }
  closedir(files);
  return found;
}

// Returns inodes of the sockets that a process has open; empty if access is denied.
std::vector<uint64_t> sockets_of(pid_t pid) {
  std::vector<uint64_t> found;
  const std::string folder = format("/proc/%d/fd", pid);
  DIR* const files = opendir(folder.c_str());
  if (files == nullptr) return found;
  while (const dirent* file = readdir(files)) {
    char target[64] = "";
    unsigned long long number = 0;
    if (readlinkat(dirfd(files), file->d_name, target, sizeof target - 1) > 0 &&
        std::sscanf(target, "socket:[%llu]", &number) == 1)
      found.push_back(number);
  }
  closedir(files);
  return found;
}

// A TCP socket of this host that sends the same bytes again.
struct Resent {
  uint64_t socket;  // inode
  in6_addr peer;
  int port;
};

// Parses "0100007F", or four of these, as in /proc/net/tcp and tcp6.
in6_addr parse_address(const char* digits) {
  uint32_t words[4] = {};
  size_t count = 0;
  for (; count < 4 && std::sscanf(digits + 8 * count, "%8x", &words[count]) == 1;) ++count;
  in_addr four = {words[0]};
  in6_addr six;
  std::memcpy(&six, words, sizeof six);
  return count == 1 ? as_ipv6(four) : six;
}

std::vector<Resent> all_resent() {
  std::vector<Resent> found;
  for (const char* const path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    FILE* const file = std::fopen(path, "re");
    if (file == nullptr) continue;
    for (char line[512]; std::fgets(line, sizeof line, file) != nullptr;) {
      char peer[40] = "";
      unsigned port = 0, state = 0, unacknowledged = 0, resent = 0;
      unsigned long long socket = 0;
      if (std::sscanf(line, "%*d: %*[0-9A-F]:%*x %32[0-9A-F]:%x %x %x:%*x %*x:%*x %x %*u %*u %llu", peer, &port, &state,
                      &unacknowledged, &resent, &socket) == 6 &&
          unacknowledged > 0 && resent > 0 && (state == asking || state == established || state == closed_by_peer))
        found.push_back({socket, parse_address(peer), static_cast<int>(port)});
    }
    std::fclose(file);
  }
  return found;
}

bool is_unanswered(const tcp_info& info) {
  if (info.tcpi_state == asking) return true;
  return (info.tcpi_state == established || info.tcpi_state == closed_by_peer) && info.tcpi_unacked > 0 &&
         info.tcpi_retransmits > 0;
}

}  // namespace

Status Unanswered::start(double limit, Report report, pid_t daemon) {
  daemon_ = daemon, limit_ = limit, period_ = std::min(1.0, limit / 4), started_ = looked_ = seconds_now();
  report_ = std::move(report);
  before_ = sockets_of(getpid());
  const auto run = [](void* self) -> void* { return static_cast<Unanswered*>(self)->watch(), nullptr; };
  HIROBA_TRY(start_thread(thread_, "hiroba-watch", run, this));
  watching_ = true;
  return {};
}

void Unanswered::know(std::vector<in6_addr> peers, Report report) {
  lock_.lock();
  peers_ = std::move(peers), report_ = std::move(report), knows_ = true;
  lock_.unlock();
}

void Unanswered::stop() {
  if (!watching_) return;
  stopping_.store(1);
  futex_wake_all(stopping_);
  pthread_join(thread_, nullptr);
  watching_ = false;
}

void Unanswered::watch() {
  while (stopping_.load() == 0) {
    futex_wait(stopping_, 0, period_);
    if (seconds_now() - looked_ >= period_ / 2 && look()) return;
  }
}

// Returns true if it has reported a connection.
bool Unanswered::look() {
  const double now = seconds_now();
  // After a suspension of the job, answers may be missing: the time starts anew.
  if (now - looked_ > limit_ / 2) attempts_.clear();
  looked_ = now;
  std::vector<Attempt> still;
  const bool reported = look_at_own(now, still) || look_at_daemon(now, still);
  attempts_ = std::move(still);
  return reported;
}

void Unanswered::note(uint64_t socket, uint64_t acknowledged, double now, std::vector<Attempt>& still) const {
  Attempt attempt = {socket, acknowledged, now};
  for (const Attempt& known : attempts_)
    if (known.socket == socket && known.acknowledged == acknowledged) attempt.since = known.since;
  still.push_back(attempt);
}

bool Unanswered::look_at_own(double now, std::vector<Attempt>& still) {
  return any_socket([&](int fd, const tcp_info& info) {
    const uint64_t socket = inode(fd);
    if (!is_unanswered(info) || std::find(before_.begin(), before_.end(), socket) != before_.end()) return false;
    note(socket, info.tcpi_bytes_acked, now, still);
    Found found = {{}, 0, now - still.back().since + period_, false};
    return found.seconds >= limit_ && peer_of(fd, found.peer, found.port) && report_if_known(found);
  });
}

// Called late and rarely: reading all sockets of a host takes milliseconds.
bool Unanswered::look_at_daemon(double now, std::vector<Attempt>& still) {
  lock_.lock();
  const bool knows = knows_;
  lock_.unlock();
  if (daemon_ == 0 || knows || now - started_ < limit_ / 2) return false;
  const std::vector<uint64_t> sockets = sockets_of(daemon_);
  for (const Resent& resent : all_resent()) {
    if (std::find(sockets.begin(), sockets.end(), resent.socket) == sockets.end()) continue;
    note(resent.socket, 0, now, still);
    const Found found = {resent.peer, resent.port, now - still.back().since + period_, true};
    if (now - started_ >= limit_ - period_ && found.seconds >= limit_ / 2 && report_if_known(found)) return true;
  }
  return false;
}

bool Unanswered::report_if_known(const Found& found) const {
  const auto is_peer = [&](const in6_addr& one) { return IN6_ARE_ADDR_EQUAL(&one, &found.peer); };
  lock_.lock();
  const bool known = !knows_ || (!found.of_daemon && std::any_of(peers_.begin(), peers_.end(), is_peer));
  if (known) report_(found);
  lock_.unlock();
  return known;
}

}  // namespace hiroba
