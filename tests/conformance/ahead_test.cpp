// Gets asked for ahead of an exchange, once and again and again: what comes is what is there after it, whoever has
// changed it before, and however the pattern of asking breaks off.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "conformance/job.hpp"

namespace hiroba {
namespace {

constexpr uint64_t asking = 21, other = 22;  // tags
constexpr std::array<size_t, 3> sizes = {1000, 40000, 130000};
constexpr size_t put_at = 64, add_at = 128;  // words that others than the owner change
constexpr size_t ranges = 2 * sizes.size();  // each in two buffers, and one that nobody else changes
constexpr size_t quiet = ranges;

uint64_t offset_of(size_t range) { return range << 20; }
size_t size_of(size_t range) { return range == quiet ? 40000 : sizes[range % sizes.size()]; }

char owned(int owner, size_t i, unsigned round) {
  return static_cast<char>(i * 31 + i / 251 + static_cast<size_t>(owner) * 7 + round * 13);
}

class Ahead : public testing::Test {
 protected:
  void SetUp() override { t.meet(); }
  void TearDown() override { t.meet(); }

  void exchange(uint64_t tag, useconds_t pause = 0) {
    std::vector<uint64_t> words(static_cast<size_t>(t.ranks()));
    t.transport->barriers().start_barrier(tag, 0);
    usleep(pause);
    ASSERT_TRUE(t.transport->barriers().end_barrier(words).ok());
  }

  void ask(std::vector<char>& seen, size_t range, Completion& completion) {
    seen.assign(size_of(range), 0);
    if (t.transport->one_sided().defers_gets(t.right()))
      t.transport->one_sided().start_deferred_get(seen.data(), t.right(), t.at(t.right(), offset_of(range)),
                                                  seen.size(), completion, nullptr);
  }

  void write_mine(size_t range, unsigned round) {
    for (size_t i = 0; i < size_of(range); ++i)
      if (i - put_at >= 8 && i - add_at >= 8) t.mine(offset_of(range))[i] = owned(t.rank(), i, round);
  }

  // The first byte that is not what its owner has written in that round; the size if there is none.
  size_t first_wrong(const std::vector<char>& seen, unsigned round) const {
    for (size_t i = 0; i < seen.size(); ++i)
      if (i - put_at >= 8 && i - add_at >= 8 && seen[i] != owned(t.right(), i, round)) return i;
    return seen.size();
  }

  void run(unsigned seed, unsigned buffers);
  TestJob& t = the_job();
};

// A schedule that all ranks know.
struct Round {
  bool asks, asks_all, pauses, changes_first;
  int writer = -1, adder = -1, home = 0;  // who changes, of whom; -1: nobody
  size_t size = 0;
};

Round draw(std::mt19937& random, int ranks) {
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  const auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(ranks)); };
  Round round = {};
  round.asks = !one_in(20), round.asks_all = !one_in(20), round.pauses = one_in(10), round.changes_first = one_in(2);
  if (one_in(7)) round.writer = any();
  if (one_in(7)) round.adder = any();
  round.home = any(), round.size = random() % sizes.size();
  return round;
}

void Ahead::run(unsigned seed, unsigned buffers) {
  const bool ahead = t.transport->one_sided().defers_gets(t.right());
  std::mt19937 random(seed);
  const size_t n = static_cast<size_t>(t.ranks());
  std::vector<std::array<uint64_t, ranges>> puts(n), sums(n);  // what is in those words
  for (size_t range = 0; range < ranges; ++range)
    for (const size_t at : {put_at, add_at}) std::memset(t.mine(offset_of(range) + at), 0, 8);
  for (size_t r = 0; r < n; ++r) puts[r] = sums[r] = {};
  t.meet();
  std::array<std::vector<char>, sizes.size()> seen;
  for (unsigned k = 1; k <= 300; ++k) {
    const Round round = draw(random, t.ranks());
    const size_t first = k % buffers * sizes.size(), home = static_cast<size_t>(round.home);
    for (size_t s = 0; s < sizes.size(); ++s) write_mine(first + s, k);
    Completion completion;
    const auto ask_all = [&] {
      for (size_t s = 0; s < (round.asks_all ? sizes.size() : 1) && round.asks; ++s)
        ask(seen[s], first + s, completion);
    };
    if (!round.changes_first) ask_all();
    const uint64_t changed = t.at(round.home, offset_of(first + round.size)), value = k;
    if (round.writer == t.rank()) t.transport->put(round.home, changed + put_at, &value, sizeof value);
    if (round.adder == t.rank()) t.transport->words().fetch_add64(round.home, changed + add_at, k);
    if (round.writer >= 0) puts[home][first + round.size] = k;
    if (round.adder >= 0) sums[home][first + round.size] += k;
    if (round.changes_first) ask_all();
    exchange(asking, round.pauses ? 300 : 0);
    t.transport->one_sided().await(completion);
    for (size_t s = 0; ahead && s < (round.asks_all ? sizes.size() : 1) && round.asks; ++s) {
      const auto right = static_cast<size_t>(t.right());
      const auto word = [&](size_t at) {
        uint64_t w;
        std::memcpy(&w, seen[s].data() + at, sizeof w);
        return w;
      };
      ASSERT_EQ(puts[right][first + s], word(put_at)) << "seed " << seed << ", round " << k << ", size " << sizes[s];
      ASSERT_EQ(sums[right][first + s], word(add_at)) << "seed " << seed << ", round " << k << ", size " << sizes[s];
      ASSERT_EQ(seen[s].size(), first_wrong(seen[s], k)) << "seed " << seed << ", round " << k;
    }
    if (buffers == 1 || random() % 10 == 0) exchange(other);
    if (random() % 20 == 0) exchange(asking);  // nobody has asked for anything
  }
  if (!ahead) GTEST_SKIP() << "rank " << t.right() << " is asked only for what is there already";
}

TEST_F(Ahead, AgainAndAgainFromOneBufferIsWhatIsThere) { run(1, 1); }
TEST_F(Ahead, AgainAndAgainFromTwoBuffersInTurnIsWhatIsThere) { run(2, 2); }
TEST_F(Ahead, AnotherSeed) { run(3, 2); }

}  // namespace
}  // namespace hiroba
