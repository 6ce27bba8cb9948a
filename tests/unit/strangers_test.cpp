// Keys in messages, and filters on ports, by which UCX's messages of other processes are told from those of the job.
#include "transport/wire/strangers.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/machine/host_addresses.hpp"

namespace hiroba {
namespace {

constexpr JobSecret secret = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST(Strangers, TheHashIsSipHash) {
  // The vector of 8 bytes in the paper's reference implementation.
  EXPECT_EQ(keyed_hash(secret, 0x0706050403020100), 0x93f5f5799a932462U);
}

TEST(Strangers, OnlyHeadersOfTheJobAreKnown) {
  const Keys sends(secret, 2, 5), receives(secret, 3, 5), another(secret, 4, 5);
  const Keys foreign({secret[0] + 1, secret[1]}, 2, 5);
  Keys::Sender found = {};
  for (const uint32_t round : {0U, 1U, 31U}) {
    const Keys::Sender good = sends.sender(3, round);
    ASSERT_TRUE(receives.know(&good, sizeof good, found));
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.round, round);
    EXPECT_FALSE(another.know(&good, sizeof good, found)) << "it is for rank 3";
    for (size_t bytes = 0; bytes < sizeof good; ++bytes) EXPECT_FALSE(receives.know(&good, bytes, found));
    for (size_t bit = 0; bit < 8 * sizeof good; ++bit) {
      unsigned char bad[sizeof good];
      std::memcpy(bad, &good, sizeof good);
      bad[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
      EXPECT_FALSE(receives.know(bad, sizeof bad, found)) << bit;
    }
  }
  const Keys::Sender forged = foreign.sender(3);
  EXPECT_FALSE(receives.know(&forged, sizeof forged, found));
}

TEST(Strangers, TagsAreThoseOfOneSender) {
  const Keys keys(secret, 0, 4);
  EXPECT_EQ(keys.tag(1, 2, 7), Keys(secret, 3, 4).tag(1, 2, 7));
  EXPECT_EQ(keys.tag(1, 2, 7) ^ keys.tag(1, 2, 6), 1U);
  EXPECT_NE(keys.tag(1, 2, 7) >> 31, keys.tag(1, 3, 7) >> 31);
  EXPECT_EQ(keys.tag(1, 2, 7) & ((1U << 31) - 1), (1U << 14) + 7);
}

// A socket that listens on the loopback device, and whether one can connect to it.
class Port {
 public:
  Port() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    name_.sin_family = AF_INET, name_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name_;
    if (bind(fd_, address(), size) != 0 || listen(fd_, 5) != 0 || getsockname(fd_, address(), &size) != 0) std::abort();
  }
  Port(const Port&) = delete;
  ~Port() { close(fd_); }
  int fd() const { return fd_; }
  bool answers() {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool good = connect(client, address(), sizeof name_) == 0;
    close(client);
    return good;
  }

 private:
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&name_); }

  int fd_;
  sockaddr_in name_ = {};
};

TEST(Strangers, TheKernelTakesFiltersOfAnyNumberOfHosts) {
  std::mt19937 random(3);
  for (const size_t hosts : {0, 1, 2, 100, 1000, 20000}) {
    Port port;
    std::vector<in6_addr> addresses;
    for (size_t i = 0; i < hosts; ++i) {
      addresses.push_back(as_ipv6({static_cast<in_addr_t>(random())}));
      if (i % 3 == 0) addresses.back().s6_addr[10] = 0;  // no IPv4
    }
    const Status closed = accept_only_from(port.fd(), addresses);
    EXPECT_TRUE(closed.ok()) << hosts << ": " << closed.message();
    EXPECT_TRUE(port.answers()) << hosts;
  }
}

TEST(Strangers, NewPortsAreFound) {
  const Port before;
  const std::vector<int> others = listening_sockets();
  const Port port;
  fcntl(port.fd(), F_SETFD, 0);
  ASSERT_TRUE(keep_strangers_out(others, {}).ok());
  EXPECT_EQ(fcntl(port.fd(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(listening_sockets().size(), others.size() + 1);
}

}  // namespace
}  // namespace hiroba
