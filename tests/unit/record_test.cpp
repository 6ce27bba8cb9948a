// The record of option report: places, what finds no room, and pages that two ranks write.
#include "base/record/record.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

namespace hiroba {
namespace {

class Record : public ::testing::Test {
 protected:
  Record() { run_record = record_.get(); }
  ~Record() override { run_record = nullptr; }
  static const void* code(uint64_t at) { return reinterpret_cast<const void*>(at); }  // NOLINT(*-int-to-ptr)
  static const SiteRecord& site(SiteKind kind, uint64_t at, uint32_t detail = 0) {
    return *site_of(kind, code(at), detail, "call");
  }

  std::unique_ptr<RunRecord> record_ = std::make_unique<RunRecord>();
};

TEST_F(Record, AddsUpBySite) {
  note_fault(code(100), 1, 10, 4, 0.5);
  note_fault(code(100), 1, 14, 2, 0.25);
  note_fault(code(100), 2, 14, 1, 1);
  const SiteRecord& first = site(SiteKind::fault, 100, 1);
  EXPECT_EQ(first.count, 2U);
  EXPECT_EQ(first.amount, 6U);
  EXPECT_EQ(first.nanoseconds, 750'000'000U);
  EXPECT_EQ(site(SiteKind::fault, 100, 2).count, 1U);
  EXPECT_EQ(site(SiteKind::lock, 100, 1).count, 0U);
}

TEST_F(Record, FaultsInOrderContinueNearTheLastOne) {
  for (const uint64_t page : {1000, 1004, 1010, 5000, 5004}) note_fault(code(1), 0, page, 4, 0);
  EXPECT_EQ(site(SiteKind::fault, 1).ordered, 3U);
}

TEST_F(Record, CountsWhatFindsNoRoom) {
  const uint64_t many = 2 * RunRecord::most_sites;
  for (uint64_t i = 1; i <= many; ++i) note_fault(code(i), 0, 0, 1, 0);
  uint64_t kept = 0;
  for (const SiteRecord& one : record_->sites) kept += one.count;
  EXPECT_EQ(kept + record_->lost, many);
  EXPECT_GT(kept, RunRecord::most_sites / 2);
}

TEST_F(Record, KeepsTheRanksWaitedForLongest) {
  record_->rank = 0;
  record_caller = code(7);
  for (const int last : {1, 2, 3, 4, 4, 4, 0}) note_barrier("barrier", last == 1 ? 0.001 : 0.1, last);
  const SiteRecord& barrier = site(SiteKind::barrier, 7);
  EXPECT_EQ(barrier.count, 7U);
  uint64_t of_four = 0;
  for (const SiteRecord::Waited& waited : barrier.waited) {
    EXPECT_NE(waited.rank, 1);
    if (waited.rank == 4) of_four = waited.nanoseconds;
  }
  EXPECT_NEAR(static_cast<double>(of_four), 0.3e9, 10);
}

TEST_F(Record, PagesOfBothAreWrittenBeforeTheSameBarrier) {
  note_written(50, 2);
  note_barrier("barrier", 0, 0);
  EXPECT_TRUE(both_wrote(50));
  EXPECT_TRUE(both_wrote(51));
  EXPECT_FALSE(both_wrote(52));
  note_barrier("barrier", 0, 0);
  EXPECT_FALSE(both_wrote(50));
}

TEST_F(Record, LongTextsAreCut) {
  const std::string name(1000, 'x');
  const SiteRecord* const task = site_of(SiteKind::task, code(1), 0, name.c_str(), name.c_str());
  EXPECT_EQ(std::strlen(task->call), sizeof task->call - 1);
  EXPECT_EQ(std::strlen(task->text), sizeof task->text - 1);
}

}  // namespace
}  // namespace hiroba
