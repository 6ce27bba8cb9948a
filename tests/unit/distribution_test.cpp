#include "memory/distribution.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace hiroba {
namespace {

// The owner of an element, by the definition: index by index.
int owner_by_definition(const std::vector<int64_t>& dim, const std::vector<int64_t>& div, int first, uint64_t element) {
  std::vector<int64_t> index(dim.size());
  for (size_t d = dim.size(); d-- > 0;)
    index[d] = static_cast<int64_t>(element % static_cast<uint64_t>(dim[d])), element /= static_cast<uint64_t>(dim[d]);
  int64_t piece = 0;
  for (size_t d = 0; d < dim.size(); ++d) piece = piece * div[d] + index[d] / ((dim[d] + div[d] - 1) / div[d]);
  return first + static_cast<int>(piece);
}

TEST(Distribution, AgreesWithItsDefinitionEverywhere) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const size_t dims = 1 + random() % 4;
    std::vector<int64_t> dim, div;
    int64_t pieces = 1;
    for (size_t d = 0; d < dims; ++d) {
      dim.push_back(1 + random() % 9);
      div.push_back(1 + random() % static_cast<unsigned>(dim.back()));
      pieces *= div.back();
    }
    const int first = static_cast<int>(random() % 3);
    Distribution distribution;
    const Status status = Distribution::make(dim, div, 8, first, static_cast<int>(pieces),
                                             static_cast<int>(pieces) + first, distribution);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<uint64_t> owned(static_cast<size_t>(pieces) + static_cast<size_t>(first) + 1, 0);
    for (uint64_t e = 0; e < distribution.elements(); ++e) {
      ASSERT_EQ(owner_by_definition(dim, div, first, e), distribution.owner(e));
      ++owned[static_cast<size_t>(distribution.owner(e))];
      const uint64_t end = distribution.owner_run_end(e);
      ASSERT_GT(end, e);
      ASSERT_LE(end, distribution.elements());
      ASSERT_EQ(distribution.owner(e), distribution.owner(end - 1));
    }
    for (int r = 0; r < static_cast<int>(owned.size()); ++r) {
      uint64_t in_box = 1;
      for (size_t d = 0; d < dims; ++d) in_box *= static_cast<uint64_t>(distribution.box(r)[d].length);
      EXPECT_EQ(owned[static_cast<size_t>(r)], in_box) << "rank " << r;
    }
  }
}

TEST(Distribution, IsCutAnywhere) {
  Distribution d;
  const int64_t cuts[] = {0, 0, 3, 3, 10, 10};
  ASSERT_TRUE(Distribution::make_cut(cuts, 8, 5, d).ok());
  EXPECT_EQ(80u, d.bytes());
  for (uint64_t e = 0; e < 10; ++e) {
    EXPECT_EQ(e < 3 ? 1 : 3, d.owner(e));
    EXPECT_EQ(e < 3 ? 3u : 10u, d.owner_run_end(e));
  }
  for (int r = 0; r < 5; ++r) EXPECT_EQ(cuts[r + 1] - cuts[r], d.box(r)[0].length);
  EXPECT_EQ(3, d.box(3)[0].base);
  EXPECT_EQ(0, d.box(5)[0].length);
  const int64_t falling[] = {0, 4, 3, 10, 10, 10}, late[] = {1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(Distribution::make_cut(falling, 8, 5, d).ok());
  EXPECT_FALSE(Distribution::make_cut(late, 8, 5, d).ok());
  EXPECT_FALSE(Distribution::make_cut(cuts, 8, 4, d).ok());
}

TEST(Distribution, RunsOfATerabyteAreFoundAtOnce) {
  Distribution d;
  const int64_t dim[] = {int64_t{1} << 37}, div[] = {7};
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 7, 7, d).ok());
  EXPECT_EQ(6, d.owner(d.elements() - 1));
  EXPECT_EQ((d.elements() + 6) / 7, d.owner_run_end(0));
}

TEST(Distribution, RefusesWhatDoesNotFitAndSaysWhy) {
  const auto message = [](std::vector<int64_t> dim, std::vector<int64_t> div, uint64_t bytes, int first, int count) {
    Distribution d;
    return Distribution::make(dim, div, bytes, first, count, 4, d).message();
  };
  EXPECT_NE(std::string::npos, message({4}, {5}, 8, 0, 4).find("div[0] = 5 does not fit dim[0] = 4"));
  EXPECT_NE(std::string::npos, message({4, 4}, {2}, 8, 0, 4).find("entries"));
  EXPECT_NE(std::string::npos, message({8, 8}, {4, 2}, 8, 0, 4).find("8 pieces for 4 ranks"));
  EXPECT_NE(std::string::npos, message({8}, {2}, 8, 3, 2).find("ranks 3..4"));
  EXPECT_NE(std::string::npos, message({0}, {1}, 8, 0, 1).find("dim[0] = 0"));
  EXPECT_NE(std::string::npos, message({8}, {1}, 0, 0, 1).find("element size"));
  EXPECT_NE(std::string::npos, message({int64_t{1} << 40, int64_t{1} << 40}, {1, 1}, 8, 0, 1).find("overflow"));
  EXPECT_NE(std::string::npos, message({int64_t{1} << 60}, {1}, 8, 0, 1).find("overflow"));
}

}  // namespace
}  // namespace hiroba
