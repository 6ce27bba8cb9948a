// Events between two ranks that are threads of this process: they arrive before or after the task that waits for them,
// a sender that is too far ahead waits, and slots serve again.
#include "task/flow/events.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "crew_here.hpp"

namespace hiroba {
namespace {

class FakeTransport;

// Messages between the transports of all ranks. They are not ordered.
struct FakeMail {
  struct Message {
    int source, handler;
    std::vector<char> payload;
  };
  std::mutex lock;
  std::array<std::deque<Message>, 2> to;
  std::mt19937 random{7};
};

// Messages only; the rest of the contract is not for events.
class FakeTransport final : public Transport {
 public:
  FakeTransport(FakeMail& mail, int rank) : mail_(mail), rank_(static_cast<size_t>(rank)) {}
  const char* name() const override { return "fake"; }
  Status start(const Config&) override { return {}; }
  void stop() override {}
  Status attach(uint64_t, uint64_t, int) override { return {}; }
  void detach(uint64_t, uint64_t) override {}
  void put(int, uint64_t, const void*, size_t) override { ADD_FAILURE(); }
  void get(void*, int, uint64_t, size_t) override { ADD_FAILURE(); }
  bool fence() override { return false; }
  void send(int rank, int handler, const void* payload, size_t bytes) override {
    const char* const from = static_cast<const char*>(payload);
    const std::lock_guard guard(mail_.lock);
    mail_.to[static_cast<size_t>(rank)].push_back({static_cast<int>(rank_), handler, {from, from + bytes}});
  }
  bool progress() override {
    FakeMail::Message message;
    {
      const std::lock_guard guard(mail_.lock);
      std::deque<FakeMail::Message>& mine = mail_.to[rank_];
      if (mine.empty()) return false;
      const size_t early = mail_.random() % std::min<size_t>(mine.size(), 4);
      std::swap(mine[early], mine.front());
      message = std::move(mine.front());
      mine.pop_front();
    }
    deliver(message.handler, message.source, message.payload.data(), message.payload.size());
    return true;
  }
  void sleep(double seconds) override { usleep(static_cast<useconds_t>(seconds * 1e5)); }

 private:
  FakeMail& mail_;
  const size_t rank_;
};

// One rank; made and used by one thread.
class Rank {
 public:
  Rank(FakeMail& mail, int rank) : transport(mail, rank), here(1, 8192, 20, &events) {
    Job job;
    job.rank = rank, job.nranks = 2;
    world.rank = rank, world.nranks = 2, world.transport = &transport;
    EXPECT_TRUE(events.listen(transport, job, here.crew).ok());
    events.start(world);
  }
  // A task that waits for the next event of the other rank.
  void expect(uint32_t what, TaskFunction function) {
    Task& task = here.worker().create(here.domain, Task::program);
    functions.push_back(std::move(function));
    auto* const expected = new (task.argument) Waiting;
    expected->expected.what = what, expected->function = &functions.back();
    task.body = [](void* argument, int) { (*static_cast<Waiting*>(argument)->function)(); };
    const bool waits = events.expect(1 - world.rank, task, here.worker());
    here.submit(task, waits ? 1 : 0);
  }
  void send(uint32_t what) {
    const uint64_t number = events.number_to(1 - world.rank, here.worker());
    events.send(1 - world.rank, number, what);
  }

  struct Waiting {
    Expected expected;
    TaskFunction* function;
  };
  FakeTransport transport;
  World world;
  Events events;
  std::deque<TaskFunction> functions;
  CrewHere here;
};

TEST(EventsTest, TheEventMayComeBeforeTheTaskOrAfterIt) {
  FakeMail mail;
  Rank rank(mail, 0);
  FakeTransport other(mail, 1);
  Events sender;
  Crew none;
  Job job;
  job.rank = 1, job.nranks = 2;
  World world;
  world.transport = &other, world.rank = 1;
  ASSERT_TRUE(sender.listen(other, job, none).ok());
  sender.start(world);

  int ran = 0;
  sender.send(0, 0, 5);
  while (rank.events.poll()) continue;  // before
  rank.expect(5, [&] { ++ran; });
  rank.here.wait();
  EXPECT_EQ(1, ran);

  rank.expect(6, [&] { ++ran; });
  for (int i = 0; i < 10; ++i) rank.events.poll();
  EXPECT_EQ(1, ran);
  sender.send(0, 1, 6);  // after
  rank.here.wait();
  EXPECT_EQ(2, ran);

  // In another order than they are expected in.
  std::vector<int> order;
  for (const int i : {2, 3}) rank.expect(static_cast<uint32_t>(i), [&, i] { order.push_back(i); });
  sender.send(0, 3, 3);
  while (rank.events.poll()) continue;
  rank.here.worker().work_until([&] { return !order.empty(); });
  EXPECT_EQ((std::vector{3}), order);
  sender.send(0, 2, 2);
  rank.here.wait();
  EXPECT_EQ((std::vector{3, 2}), order);
}

// Each rank sends and expects many more than there are slots, at its own pace.
TEST(EventsTest, ManyMoreThanThereAreSlots) {
  constexpr int count = 5 * static_cast<int>(Events::window) / 2;
  FakeMail mail;
  std::atomic<int> through{0};
  const auto body = [&](int index) {
    Rank rank(mail, index);
    int ran = 0;
    for (int i = 0; i < count; ++i) {
      rank.send(static_cast<uint32_t>(i));
      rank.expect(static_cast<uint32_t>(i), [&] { ++ran; });
    }
    rank.here.wait();
    EXPECT_EQ(count, ran);
    ++through;
    rank.here.worker().work_until([&] { return through.load() == 2; });  // the other rank may still need credit
  };
  std::thread other(body, 1);
  body(0);
  other.join();
}

TEST(EventsTest, ASenderThatIsTooFarAheadWaits) {
  constexpr uint64_t count = Events::window + Events::window / 4;
  FakeMail mail;
  std::atomic<uint64_t> sent{0}, through{0};
  std::thread other([&] {
    Rank rank(mail, 1);
    for (uint64_t i = 0; i < count; ++i, ++sent) rank.send(static_cast<uint32_t>(i));
    ++through;
    rank.here.worker().work_until([&] { return through.load() == 2; });
  });
  Rank rank(mail, 0);
  for (const double end = seconds_now() + 20; sent.load() < Events::window && seconds_now() < end;) rank.events.poll();
  usleep(20000);
  EXPECT_EQ(Events::window, sent.load());
  int ran = 0;
  for (uint64_t i = 0; i < count; ++i) rank.expect(static_cast<uint32_t>(i), [&] { ++ran; });
  rank.here.wait();
  EXPECT_EQ(count, static_cast<uint64_t>(ran));
  ++through;
  other.join();
}

TEST(EventsDeathTest, RanksThatMeanDifferentThingsEndTheJob) {
  const auto differ = [](bool task_first) {
    FakeMail mail;
    Rank rank(mail, 0);
    if (task_first) rank.expect(1, [] {});
    mail.to[0].push_back({1, 0, std::vector<char>(16)});  // event 0, what 0, to the first handler added
    while (rank.events.poll()) continue;
    if (!task_first) rank.expect(1, [] {});
  };
  EXPECT_EXIT(differ(true), testing::ExitedWithCode(1), "have created different tasks");
  EXPECT_EXIT(differ(false), testing::ExitedWithCode(1), "have created different tasks");
}

}  // namespace
}  // namespace hiroba
