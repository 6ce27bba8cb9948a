// Who watches whom: hosts each other, in a ring, and never the virtual nodes of one host.
#include "transport/session/alive.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hiroba {
namespace {

struct Watch {
  bool tells = false, finds_silence = false;
};

// What the first rank of each node does while nothing is heard.
std::vector<Watch> in_silence(const std::vector<std::string>& host_of_node, double limit) {
  std::vector<Alive> nodes(host_of_node.size());
  std::vector<Watch> seen(host_of_node.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    Job job;
    job.rank = job.node = static_cast<int>(n);
    job.nranks = job.nnodes = static_cast<int>(nodes.size());
    job.place_evenly();
    nodes[n].start(job, host_of_node, limit);
  }
  for (const double end = seconds_now() + 1.3; seconds_now() < end; usleep(5000))
    for (size_t n = 0; n < nodes.size(); ++n) {
      const Alive::Due due = nodes[n].tick();
      seen[n].tells = seen[n].tells || due == Alive::Due::tell_next;
      seen[n].finds_silence = seen[n].finds_silence || due == Alive::Due::previous_is_lost;
    }
  return seen;
}

TEST(Alive, HostsWatchEachOther) {
  for (const Watch& watch : in_silence({"a", "b", "c"}, 0.4)) {
    EXPECT_TRUE(watch.tells);
    EXPECT_TRUE(watch.finds_silence);
  }
}

// programs.armci-mpich.litmus ended once because a rank got no core for 8 s.
TEST(Alive, NodesOfOneHostDoNotWatchEachOther) {
  for (const Watch& watch : in_silence({"a", "a", "a"}, 0.4)) {
    EXPECT_FALSE(watch.tells);
    EXPECT_FALSE(watch.finds_silence);
  }
  const std::vector<Watch> mixed = in_silence({"a", "a", "b", "b"}, 0.4);
  EXPECT_TRUE(!mixed[0].tells && mixed[0].finds_silence);
  EXPECT_TRUE(mixed[1].tells && !mixed[1].finds_silence);
  EXPECT_TRUE(!mixed[2].tells && mixed[2].finds_silence);
  EXPECT_TRUE(mixed[3].tells && !mixed[3].finds_silence);
}

TEST(Alive, WithoutALimitNobodyWatches) {
  for (const Watch& watch : in_silence({"a", "b"}, 0)) EXPECT_FALSE(watch.tells || watch.finds_silence);
}

}  // namespace
}  // namespace hiroba
