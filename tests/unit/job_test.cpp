#include "base/job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/wait.hpp"
#include "memory/layout.hpp"
#include "mutations.hpp"

namespace hiroba {
namespace {

TEST(Job, EveryRankIsOnOneNodeAndNodesAreContiguous) {
  for (int nranks = 1; nranks <= 9; ++nranks)
    for (int nnodes = 1; nnodes <= nranks; ++nnodes) {
      Job job;
      job.nranks = nranks, job.nnodes = nnodes;
      job.place_evenly();
      int seen = 0;
      for (int n = 0; n < nnodes; ++n) {
        EXPECT_GE(job.ranks_on(n), 1) << nranks << " ranks, " << nnodes << " nodes";
        for (int r = job.first_rank_of(n); r < job.first_rank_of(n) + job.ranks_on(n); ++r, ++seen)
          EXPECT_EQ(n, job.node_of(r));
      }
      EXPECT_EQ(nranks, seen);
    }
}

// A job that another launcher has started may have virtual nodes, which compete for the CPUs of their machine.
TEST(Job, RanksOfAllNodesOfTheMachineCompeteForCpus) {
  Job job;
  job.nranks = 2 * static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  job.place(std::vector<int>(static_cast<size_t>(job.nranks), 1));
  EXPECT_EQ(job.nranks, job.ranks_on_machine);
  EXPECT_LT(job.spins(), spins_on_own_cpu);
  job.ranks_on_machine = 1;
  EXPECT_EQ(job.spins(), spins_on_own_cpu);
}

TEST(Job, GoesThroughTheEnvironment) {
  Job made;
  ASSERT_TRUE(Job::create(3, 2, made).ok());
  setenv("HIROBA_JOB", made.to_environment(2).c_str(), 1);
  Job read;
  ASSERT_TRUE(Job::from_environment(read).ok());
  unsetenv("HIROBA_JOB");
  EXPECT_EQ(2, read.rank);
  EXPECT_EQ(3, read.nranks);
  EXPECT_EQ(1, read.node);
  EXPECT_EQ(made.node_fds, read.node_fds);
  EXPECT_EQ(made.cpus, read.cpus);
  for (const int fd : made.node_fds) close(fd);
  close(made.board_fd);
}

TEST(Job, ADamagedOrForeignDescriptionIsRefused) {
  Job job;
  for (const char* text : {"", "1:2", "0:1:1:2:999:998", "a:b:c:d:e:f", "0:2:2:2:5:6"}) {
    setenv("HIROBA_JOB", text, 1);
    EXPECT_FALSE(Job::from_environment(job).ok()) << text;
  }
  unsetenv("HIROBA_JOB");
}

// Each mutation is refused, or is a job whose numbers fit its files.
TEST(Job, ForgedDescriptionsAreRefused) {
  Job made;
  ASSERT_TRUE(Job::create(3, 2, made).ok());
  const std::string good = made.to_environment(1);
  std::mt19937 random(7);
  const auto number = [&random](size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random); };
  const std::string parts[] = {"-1",
                               "0",
                               "1",
                               "2",
                               "3",
                               "65536",
                               "65537",
                               "2147483647",
                               "99999999999",
                               ":",
                               "",
                               "x",
                               std::to_string(made.board_fd),
                               std::to_string(made.node_fds[0])};
  for (int i = mutations(1000); i > 0; --i) {
    std::string text = good;
    for (size_t left = 1 + number(3); left > 0; --left) {
      const size_t begin = number(text.size() + 1), end = begin + number(text.size() - begin + 1);
      text.replace(begin, end - begin, parts[number(std::size(parts))]);
    }
    setenv("HIROBA_JOB", text.c_str(), 1);
    Job read;
    if (!Job::from_environment(read).ok()) continue;
    EXPECT_EQ(3, read.nranks) << text;
    EXPECT_EQ(2, read.nnodes) << text;
    EXPECT_TRUE(read.rank >= 0 && read.rank < 3) << text;
  }
  unsetenv("HIROBA_JOB");
  close(made.board_fd), close(made.node_fds[0]), close(made.node_fds[1]);
}

TEST(Job, ChildrenInheritNoMemoryUnlessTheyAreRanks) {
  Job made;
  ASSERT_TRUE(Job::create(2, 2, made).ok());
  for (const int fd : {made.board_fd, made.node_fds[0], made.node_fds[1]}) {
    EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
    made.share_files(true);
    EXPECT_EQ(0, fcntl(fd, F_GETFD));
    made.share_files(false);
    EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
    if (fd == made.board_fd) {
      EXPECT_NE(0, ftruncate(fd, 0)) << "it can be made smaller";
    }
  }
  for (const int fd : {made.board_fd, made.node_fds[0], made.node_fds[1]}) close(fd);
}

TEST(Job, RanksThatShareACpuSpinLess) {
  Job job;
  job.launched = true, job.cpus = 1;
  const int alone = job.spins(), with_threads = job.spins(2);
  job.nranks = job.ranks_on_machine = 2;
  EXPECT_LT(job.spins(), alone);
  EXPECT_EQ(job.spins(), with_threads);
  job.cpus = 2;
  EXPECT_EQ(job.spins(), alone);
}

// As under taskset: the CPUs of the process count, not those of the machine.
TEST(Job, ALauncherHasTheCpusThatItMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof before, &before));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
  Job job;
  ASSERT_TRUE(Job::create(2, 1, job).ok());
  ASSERT_EQ(0, sched_setaffinity(0, sizeof before, &before));
  EXPECT_EQ(1, job.cpus);
  close(job.board_fd), close(job.node_fds[0]);
}

TEST(Layout, PartsDoNotOverlap) {
  Layout layout;
  layout.space = uint64_t{8} << 40, layout.nranks = 5, layout.nnodes = 3;
  EXPECT_LE(layout.registration_slot(4, Layout::registration_slots - 1) + 8, layout.notice_log(4, 0));
  EXPECT_LE(layout.notice_log(4, 1) + Layout::notice_log_bytes, layout.control(5));
  EXPECT_LE(layout.control(5), layout.directory(0));
  EXPECT_LE(layout.directory(2) + layout.pages(), layout.touches());
  EXPECT_EQ(layout.extent(), layout.touches() + layout.pages());
  for (int id : {0, 1, 4, 5, 65535}) {
    EXPECT_GE(layout.lock(id), layout.control(id % 5));
    EXPECT_LT(layout.lock(id), layout.registrations(id % 5));
  }
  for (const int n : {1, 2, 5, 1024}) {
    layout.nranks = layout.nnodes = n;
    EXPECT_LE(layout.lock(65535) + layout.lock_bytes(), layout.registrations(65535 % n)) << n;
  }
  layout.nranks = 5;
  EXPECT_LE(layout.registration_slot(4, Layout::registration_slots - 1) + 8, layout.interval_log(4));
  EXPECT_LE(layout.interval_slot(4, Layout::interval_slots - 1) + 8, layout.notice_log(4, 0));
}

}  // namespace
}  // namespace hiroba
