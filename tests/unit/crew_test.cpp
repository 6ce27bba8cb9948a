// The threads that run tasks: none sleeps while there is work, none that is over is waited for, and ends that come from
// other threads arrive.
#include "task/crew/crew.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "base/wait.hpp"
#include "crew_here.hpp"

namespace hiroba {
namespace {

// Sleeps in the kernel, as a transport does, and counts who ends that.
class FakeOutside : public Outside {
 public:
  bool poll() override { return false; }
  void sleep(double seconds) override {
    const uint32_t seen = bell_.load();
    asleep.store(true);
    if (!interrupted_.exchange(false)) futex_wait(bell_, seen, seconds);
    asleep.store(false);
    interrupted_.store(false);
  }
  void interrupt() override {
    ++interrupts;
    interrupted_.store(true);
    bell_.fetch_add(1);
    futex_wake_all(bell_);
  }
  std::atomic<bool> asleep{false};
  std::atomic<int> interrupts{0};

 private:
  std::atomic<uint32_t> bell_{0};
  std::atomic<bool> interrupted_{false};
};

// A thread that nobody wakes sleeps for longer than any test.
constexpr double for_ever = 1e6, far_too_long = 40;

void await(const std::atomic<bool>& done) {
  for (const double begin = seconds_now(); !done.load(); sched_yield())
    ASSERT_LT(seconds_now() - begin, far_too_long) << "nobody has woken a thread that sleeps";
}

// Workers that sleep, or are about to, run a task that this thread, which runs none, hands over.
void expect_to_wake(CrewHere& here, const std::function<void(const TaskFunction&)>& hand_over) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    usleep(random() % 3000);
    std::atomic<bool> done{false};
    hand_over([&] { done.store(true); });
    await(done);
    here.wait();
  }
}

class CrewWakes : public testing::TestWithParam<int> {
 protected:
  CrewHere crew_that_sleeps(Outside* outside = nullptr) {
    return CrewHere(GetParam(), 8192, 0, outside, nullptr, for_ever);
  }
};

TEST_P(CrewWakes, ForATaskOfTheProgram) {
  CrewHere here = crew_that_sleeps();
  expect_to_wake(here, [&](const TaskFunction& f) { here.submit(here.create(f)); });
}

TEST_P(CrewWakes, ForAnUrgentTask) {
  CrewHere here = crew_that_sleeps();
  expect_to_wake(here, [&](const TaskFunction& f) { here.submit(here.create(f, 3)); });
}

TEST_P(CrewWakes, ForATaskThatArrives) {
  CrewHere here = crew_that_sleeps();
  expect_to_wake(here, [&](const TaskFunction& f) {
    Task& task = here.create(f);
    here.submit(task, 1);
    std::thread([&] { here.crew.arrive(task); }).join();
  });
}

TEST_P(CrewWakes, WhoSleepsOutside) {
  FakeOutside outside;
  CrewHere here = crew_that_sleeps(&outside);
  expect_to_wake(here, [&](const TaskFunction& f) { here.submit(here.create(f)); });
  if (GetParam() > 2) return;  // another one may be woken
  await(outside.asleep);
  const int before = outside.interrupts.load();
  std::atomic<bool> done{false};
  here.submit(here.create([&] { done.store(true); }));
  await(done);
  EXPECT_GT(outside.interrupts.load(), before);
  here.wait();
}

TEST_P(CrewWakes, WhoWaitsForTheLastTask) {
  CrewHere here = crew_that_sleeps();
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> begun{false};
    here.submit(here.create([&, round] {
      begun.store(true);
      usleep(static_cast<useconds_t>(round * 200));
    }));
    await(begun);
    here.wait();
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, CrewWakes, testing::Values(2, 3));

TEST(CrewTest, NoTaskOfManyIsLostAmongPauses) {
  CrewHere here(3, 8192, 5);
  std::mt19937 random(2);
  std::atomic<int> ran{0};
  int created = 0;
  for (int round = 0; round < 150; ++round) {
    for (int n = 1 + static_cast<int>(random() % 40); n-- > 0; ++created)
      here.submit(here.create([&] { ran.fetch_add(1, std::memory_order_relaxed); }));
    if (random() % 2 == 0) usleep(random() % 3000);
    here.wait();
    ASSERT_EQ(created, ran.load());
  }
}

TEST(CrewTest, AThreadThatIsBusyIsStolenFrom) {
  CrewHere here(2);
  std::atomic<int> ran{0};
  // Its children are in the queue of the thread that runs it, and it ends only when the other thread has run them.
  here.submit(here.create([&] {
    Worker& worker = *Crew::here();
    Domain& children = Crew::children_of(*worker.current());
    for (int i = 0; i < 100; ++i) worker.submit(CrewHere::create(worker, children, [&] { ++ran; }));
    for (const double end = seconds_now() + 20; ran.load() < 100 && seconds_now() < end;) sched_yield();
    EXPECT_EQ(100, ran.load());
  }));
  here.wait();
}

TEST(CrewTest, ATaskThatIsHeldEndsWhenItIsLetGo) {
  for (const int threads : {1, 3}) {
    CrewHere here(threads);
    for (int round = 0; round < 200; ++round) {
      int order = 0, let_go_at = 0, after_at = 0;
      std::thread other;
      Task& held = here.create([&] {
        Task* const self = Crew::here()->current();
        Crew::hold(*self);
        other = std::thread([&, self] {
          if (round % 3 == 0) usleep(100);
          let_go_at = ++order;
          here.crew.let_go(*self);
        });
      });
      Task& after = here.create([&] { after_at = ++order; });
      Wiring wiring(here.worker(), after);
      wiring.after(TaskRef(&held));
      wiring.submit();
      here.submit(held);
      here.wait();
      other.join();
      ASSERT_EQ(1, let_go_at);
      ASSERT_EQ(2, after_at);
    }
  }
}

TEST(CrewTest, ATaskRunsOnceWhenAllItWaitsForHasArrived) {
  constexpr int events = 4;
  CrewHere here(2);
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> ran{0};
    int said[events] = {}, seen = 0;
    Task& task = here.create([&] {
      ++ran;
      for (const int x : said) seen += x;
    });
    std::vector<std::thread> others;
    for (int& one : said)
      others.emplace_back([&] {
        one = 1;
        here.crew.arrive(task);
      });
    here.submit(task, events);  // some may have come before
    here.wait();
    for (std::thread& other : others) other.join();
    ASSERT_EQ(1, ran.load());
    ASSERT_EQ(events, seen);
  }
}

TEST(CrewTest, AParentEndsAfterAllItsChildren) {
  CrewHere here(3);
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> ended{0};
    int seen = -1;
    const int children = round % 5 * 7;
    Task& parent = here.create([&] {
      Worker& worker = *Crew::here();
      Domain& own = Crew::children_of(*worker.current());
      for (int i = 0; i < children; ++i)
        worker.submit(CrewHere::create(worker, own, [&] { ended.fetch_add(1, std::memory_order_relaxed); }));
    });
    Task& after = here.create([&] { seen = ended.load(std::memory_order_relaxed); });
    Wiring wiring(here.worker(), after);
    wiring.after(TaskRef(&parent));
    wiring.submit();
    here.submit(parent);
    here.wait();
    ASSERT_EQ(children, seen);
  }
}

TEST(CrewTest, StopsWhileAllSleep) {
  for (int round = 0; round < 20; ++round) {
    FakeOutside outside;
    {
      CrewHere here(3, 8192, 0, round % 2 == 0 ? &outside : nullptr, nullptr, for_ever);
      usleep(static_cast<useconds_t>(round * 300));
    }
  }
}

// A task that is held until a function, which threads call while they find nothing to do, lets it go. After that the
// function is called no more.
TEST(CrewTest, PollsUntilTheFunctionReturns0) {
  struct Waiting {
    explicit Waiting(Crew& c) : crew(c) {}
    Crew& crew;
    Task* held = nullptr;
    std::atomic<bool> over{false};
    std::atomic<int> inside{0}, calls{0};
  };
  for (const int threads : {1, 3}) {
    std::deque<Waiting> all;  // until the threads have ended: the function returns after it has let go
    CrewHere here(threads, 8192, 0);
    for (int round = 0; round < 20; ++round) {
      Waiting& waiting = all.emplace_back(here.crew);
      bool after = false;
      const auto poll = [](void* context) {
        Waiting& w = *static_cast<Waiting*>(context);
        EXPECT_EQ(0, w.inside.fetch_add(1)) << "two threads at once";
        constexpr int enough = 150;  // more than before a thread that finds nothing sleeps
        const bool over = ++w.calls == enough;
        if (over) w.over.store(true), w.crew.let_go(*w.held);
        w.inside.fetch_sub(1);
        return over ? 0 : 1;
      };
      Task& task = here.create([&] {
        waiting.held = Crew::here()->current();
        Crew::hold(*waiting.held);
        here.crew.poll(poll, &waiting);
      });
      Task& next = here.create([&] { after = waiting.over.load(); });
      ASSERT_TRUE(connect(task, next));
      here.submit(task);
      here.submit(next);
      here.wait();
      const int calls = waiting.calls.load();
      EXPECT_TRUE(after);
      here.submit(here.create([] {}));
      here.wait();
      EXPECT_EQ(calls, waiting.calls.load());
    }
  }
}

TEST(CrewTest, AFailureCancelsWhatHasNotBegunAndFreesArguments) {
  CrewHere here(1);
  const auto token = std::make_shared<int>(0);
  int what = 0, ran = 0;
  here.submit(here.create([&] { here.domain.fail(&what); }));
  for (int i = 0; i < 10; ++i) here.submit(here.create([&ran, token] { ++ran; }));
  here.wait();
  EXPECT_EQ(0, ran);
  EXPECT_EQ(1, token.use_count());
  EXPECT_EQ(&what, here.domain.failure.load());
}

}  // namespace
}  // namespace hiroba
