// The wire over Unix sockets: datagrams between processes of one machine, which the kernel neither loses nor reorders.
// A frame is one datagram; bulk data goes in pieces. Data that comes before its receive was posted is kept.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "transport/net/wire.hpp"

namespace hiroba {

namespace {

class SocketWire final : public Wire {
 public:
  ~SocketWire() override {
    if (fd_ >= 0) ::close(fd_);
  }
  std::string describe() const override { return "Unix sockets"; }

  Status open(const Start& start) override {
    hooks_ = start.hooks, rendezvous_ = start.rendezvous;
    if (rendezvous_ == nullptr)
      return Status::error("transport socket reaches the ranks of one machine only; start them with hirobarun -n");
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    Address own;
    auto* const name = reinterpret_cast<sockaddr*>(&own.name);
    // Bound without a name, a socket gets one that is in no file system.
    if (fd_ < 0 || bind(fd_, name, sizeof(sa_family_t)) != 0 || getsockname(fd_, name, &own.size) != 0)
      return Status::error("cannot make a Unix socket: " + explain_error(errno));
    rank_ = rendezvous_->rank(), size_ = rendezvous_->size();
    peers_.resize(static_cast<size_t>(size_));
    return allgather(&own, peers_.data(), sizeof own);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status allgather(const void* mine, void* all, size_t bytes) override {
    return rendezvous_->allgather(mine, all, bytes);
  }
  void close(bool) override {}

  bool send(int to, const void* frame, size_t bytes) override { return send_one(to, {rank_}, frame, bytes); }

  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override {
    leaving_.push_back({to, tag, static_cast<const char*>(data), bytes, ticket});
  }
  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override {
    Arriving& arriving = arriving_[{from, tag}];
    arriving.data = static_cast<char*>(data), arriving.bytes = bytes, arriving.ticket = ticket;
    std::copy(arriving.early.begin(), arriving.early.end(), arriving.data);
    finish_if_there(from, tag);
  }

  bool poll() override {
    bool any = send_bulk_data();
    for (ssize_t got; (got = recv(fd_, &incoming_, sizeof incoming_, 0)) > 0; any = true)
      take(static_cast<size_t>(got) - sizeof(Head));
    std::vector<uint64_t> ended;
    ended.swap(ended_);
    for (const uint64_t ticket : ended) hooks_.done(hooks_.context, ticket);
    if (broken_ != 0) hooks_.failed(hooks_.context, explain_error(std::exchange(broken_, 0)).c_str());
    return any || !ended.empty();
  }

 private:
  struct Address {
    sockaddr_un name = {AF_UNIX, ""};
    socklen_t size = sizeof(sockaddr_un);
  };
  struct alignas(8) Head {
    int32_t source;
    uint32_t bulk = 0, tag = 0;  // of a frame: 0
  };
  static constexpr size_t piece = 32 << 10;
  struct Leaving {
    int to;
    uint32_t tag;
    const char* data;
    size_t left;
    uint64_t ticket;
  };
  struct Arriving {
    char* data = nullptr;  // null: not posted yet
    size_t bytes = 0, arrived = 0;
    uint64_t ticket = 0;
    std::vector<char> early;
  };

  bool send_one(int to, Head head, const void* data, size_t bytes) {
    iovec parts[] = {{&head, sizeof head}, {const_cast<void*>(data), bytes}};
    Address& peer = peers_[static_cast<size_t>(to)];
    msghdr message = {};
    message.msg_name = &peer.name, message.msg_namelen = peer.size;
    message.msg_iov = parts, message.msg_iovlen = 2;
    if (sendmsg(fd_, &message, MSG_NOSIGNAL) >= 0) return true;
    if (errno == EAGAIN || errno == ENOBUFS) return false;
    broken_ = errno;
    return true;
  }

  bool send_bulk_data() {
    bool any = false;
    std::erase_if(leaving_, [&](Leaving& one) {
      while (one.left > 0) {
        const size_t now = std::min(one.left, piece);
        if (!send_one(one.to, {rank_, 1, one.tag}, one.data, now)) return false;
        one.data += now, one.left -= now, any = true;
      }
      ended_.push_back(one.ticket);
      return true;
    });
    return any;
  }

  void take(size_t bytes) {
    const Head& head = incoming_.head;
    if (head.bulk == 0) return hooks_.frame(hooks_.context, head.source, incoming_.data, bytes);
    Arriving& arriving = arriving_[{head.source, head.tag}];
    if (arriving.data == nullptr) arriving.early.insert(arriving.early.end(), incoming_.data, incoming_.data + bytes);
    else std::memcpy(arriving.data + arriving.arrived, incoming_.data, bytes);
    arriving.arrived += bytes;
    finish_if_there(head.source, head.tag);
  }
  void finish_if_there(int from, uint32_t tag) {
    const auto arriving = arriving_.find({from, tag});
    if (arriving->second.data == nullptr || arriving->second.arrived < arriving->second.bytes) return;
    ended_.push_back(arriving->second.ticket);
    arriving_.erase(arriving);
  }

  Hooks hooks_ = {};
  Rendezvous* rendezvous_ = nullptr;
  int rank_ = 0, size_ = 1, fd_ = -1, broken_ = 0;
  std::vector<Address> peers_;
  struct {
    Head head;
    char data[piece];
  } incoming_;
  std::vector<Leaving> leaving_;
  std::map<std::pair<int, uint32_t>, Arriving> arriving_;
  std::vector<uint64_t> ended_;
};

}  // namespace

HIROBA_WIRE_PLUGIN(SocketWire)

}  // namespace hiroba
