// Connections that nobody answers: on loopback, to a listener that has no room for more.
#include "transport/session/unanswered.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace hiroba {
namespace {

constexpr double limit = 1;

// A port that accepts one connection or two, and gives no answer to others.
class FullPort {
 public:
  FullPort() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    socklen_t size = sizeof address_;
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    EXPECT_EQ(listen(listener_, 0), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }
  ~FullPort() {
    for (const int fd : open_) close(fd);
    close(listener_);
  }
  int port() const { return ntohs(address_.sin_port); }

  // Connects until there is no answer.
  void ask_in_vain() {
    for (int tries = 0; tries < 8; ++tries) {
      open_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      connect(open_.back(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
      pollfd waiting = {open_.back(), POLLOUT, 0};
      if (poll(&waiting, 1, 200) == 0) return;
    }
    ADD_FAILURE() << "the port answers everybody";
  }
  void answer_all() {
    for (size_t asked = open_.size(); asked > 0; --asked) open_.push_back(accept(listener_, nullptr, nullptr));
  }

 private:
  int listener_;
  sockaddr_in address_ = {};
  std::vector<int> open_;
};

// What is found within some limits: "127.0.0.1:PORT", or nothing.
class Watched {
 public:
  Unanswered::Report report() {
    return [this](const Unanswered::Found& found) {
      EXPECT_NEAR(found.seconds, limit, 0.6);
      text_ = to_text(found.peer) + ":" + std::to_string(found.port);
      done_.store(1);
    };
  }
  std::string wait(double seconds = 2 * limit) {
    for (const double end = seconds_now() + seconds; done_.load() == 0 && seconds_now() < end;) usleep(10000);
    return done_.load() == 0 ? "" : text_;
  }

 private:
  std::string text_;
  std::atomic<int> done_{0};
};

in6_addr address(const char* text) {
  in6_addr found;
  EXPECT_EQ(inet_pton(AF_INET6, text, &found), 1);
  return found;
}

TEST(Unanswered, AConnectionThatNobodyAnswersIsReported) {
  FullPort port;
  Watched watched;
  Unanswered unanswered;
  ASSERT_TRUE(unanswered.start(limit, watched.report()).ok());
  port.ask_in_vain();
  EXPECT_EQ(watched.wait(), "127.0.0.1:" + std::to_string(port.port()));
}

TEST(Unanswered, SocketsThatWereOpenBeforeAreTheProgramsOwn) {
  FullPort port;
  port.ask_in_vain();
  Watched watched;
  Unanswered unanswered;
  ASSERT_TRUE(unanswered.start(limit, watched.report()).ok());
  EXPECT_EQ(watched.wait(), "");
}

TEST(Unanswered, OnlyKnownPeersCountOnceTheyAreKnown) {
  for (const char* const known : {"::ffff:127.0.0.2", "::ffff:127.0.0.1"}) {
    FullPort port;
    Watched early, late;
    Unanswered unanswered;
    ASSERT_TRUE(unanswered.start(limit, early.report()).ok());
    unanswered.know({address(known)}, late.report());
    port.ask_in_vain();
    EXPECT_EQ(!late.wait().empty(), std::string(known) == "::ffff:127.0.0.1");
    unanswered.stop();
    EXPECT_EQ(early.wait(0), "");
  }
}

TEST(Unanswered, ALateAnswerIsAnAnswer) {
  FullPort port;
  Watched watched;
  Unanswered unanswered;
  ASSERT_TRUE(unanswered.start(3 * limit, watched.report()).ok());  // the kernel asks again after a second
  port.ask_in_vain();
  port.answer_all();
  EXPECT_EQ(watched.wait(4 * limit), "");
}

TEST(Unanswered, StoppingDoesNotWaitForALook) {
  Unanswered unanswered;
  ASSERT_TRUE(unanswered.start(100, nullptr).ok());
  const double begun = seconds_now();
  unanswered.stop();
  EXPECT_LT(seconds_now() - begun, 0.5);
}

}  // namespace
}  // namespace hiroba
