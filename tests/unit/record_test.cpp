// The record of option report: places, what finds no room, and pages that two ranks write.
#include "base/record/record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/record/record_json.hpp"
#include "base/record/record_objects.hpp"
#include "base/record/record_stats.hpp"
#include "base/record/sound_record.hpp"
#include "mutations.hpp"

namespace hiroba {
namespace {

class Record : public ::testing::Test {
 protected:
  Record() { run_record = record_.get(); }
  ~Record() override { run_record = nullptr; }
  static const void* code(uint64_t at) { return reinterpret_cast<const void*>(at); }  // NOLINT(*-int-to-ptr)
  static const void* page(uint64_t number) { return code(number * 4096); }
  static const SiteRecord& site(SiteKind kind, uint64_t at, uint32_t detail = 0) {
    return *site_of(kind, code(at), detail, "call");
  }

  std::unique_ptr<RunRecord> record_ = std::make_unique<RunRecord>();
};

TEST_F(Record, AddsUpBySite) {
  note_fault(code(100), 1, page(10), 4, 0, 0.5);
  note_fault(code(100), 1, page(14), 2, 1, 1.25);
  note_fault(code(100), 2, page(14), 1, 2, 3);
  const SiteRecord& first = site(SiteKind::fault, 100, 1);
  EXPECT_EQ(first.count, 2U);
  EXPECT_EQ(first.amount, 6U);
  EXPECT_EQ(first.nanoseconds, 750'000'000U);
  EXPECT_EQ(site(SiteKind::fault, 100, 2).count, 1U);
  EXPECT_EQ(site(SiteKind::lock, 100, 1).count, 0U);
}

TEST_F(Record, OperationsBySizeAndWay) {
  const char place[] = "x.c:1";
  constexpr double began = 10;
  record_->began = began;
  note_operation("hiroba_bcast(x)", place, 9, "by a lane", began + 1, began + 2);
  note_operation("hiroba_bcast(x)", place, 15, "by a lane", began + 4, began + 5);
  note_operation("hiroba_bcast(x)", place, 16, "by a lane", began + 5, began + 5);  // started
  note_operation("hiroba_bcast(x)", place, 16, "in messages", began + 5, began + 6);
  std::vector<const SiteRecord*> sites;
  for (const SiteRecord& one : record_->sites)
    if (one.count > 0) sites.push_back(&one);
  ASSERT_EQ(sites.size(), 3U);
  uint64_t counts = 0;
  for (const SiteRecord* one : sites) {
    counts += one->count;
    if (one->count != 2) continue;
    EXPECT_EQ(one->amount, 24U);
    EXPECT_EQ(one->nanoseconds, 2'000'000'000U);
    EXPECT_EQ(one->before, 3'000'000'000U);
    EXPECT_STREQ(one->way, "by a lane");
  }
  EXPECT_EQ(counts, 4U);
}

TEST_F(Record, EnergyIsInTheBinsOfItsTime) {
  record_->timeline.note_energy(0, 0.001, 0.003, 4);
  uint64_t bins[2 * Timeline::half];
  record_->timeline.sum_energy(0, bins);
  EXPECT_NEAR(static_cast<double>(bins[1]), 2e6, 2);
  EXPECT_NEAR(static_cast<double>(bins[2]), 2e6, 2);
  EXPECT_EQ(bins[3], 0U);
}

TEST_F(Record, FaultsInOrderContinueNearTheLastOne) {
  for (const uint64_t at : {1000, 1004, 1010, 5000, 5004}) note_fault(code(1), 0, page(at), 4, 0, 0);
  EXPECT_EQ(site(SiteKind::fault, 1).ordered, 3U);
}

TEST_F(Record, NamesTheObjectThatAllFaultsOfASiteWereOn) {
  note_object(page(100), 10 * 4096);
  note_object(page(200), 4096);
  for (const uint64_t at : {100, 109}) note_fault(code(1), 0, page(at), 1, 0, 0);
  for (const uint64_t at : {109, 110}) note_fault(code(2), 0, page(at), 1, 0, 0);
  for (const uint64_t at : {100, 200}) note_fault(code(3), 0, page(at), 1, 0, 0);
  for (ObjectRecord& object : record_->objects)
    if (object.begin != 0) object.code = 0x1235;
  const CodeFile none("no such file", 0);
  const ObjectNames names({record_.get()});
  EXPECT_EQ(names.name(site(SiteKind::fault, 1), none), "0x1234 (in no such file)");
  EXPECT_EQ(names.name(site(SiteKind::fault, 2), none), "");
  EXPECT_EQ(names.name(site(SiteKind::fault, 3), none), "");
  EXPECT_EQ(names.name(site(SiteKind::lock, 4), none), "");
}

TEST_F(Record, CountsWhatFindsNoRoom) {
  const uint64_t many = 2 * RunRecord::most_sites;
  for (uint64_t i = 1; i <= many; ++i) note_fault(code(i), 0, page(1), 1, 0, 0);
  uint64_t kept = 0;
  for (const SiteRecord& one : record_->sites) kept += one.count;
  EXPECT_EQ(kept + record_->lost, many);
  EXPECT_GT(kept, RunRecord::most_sites / 2);
}

TEST_F(Record, KeepsTheRanksWaitedForLongest) {
  record_->rank = 0;
  record_caller = code(7);
  for (const int last : {1, 2, 3, 4, 4, 4, 0}) note_barrier("barrier", 0, last == 1 ? 0.001 : 0.1, last, 0);
  const SiteRecord& barrier = *site_of(SiteKind::barrier, code(7), 0, "barrier");
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
  note_barrier("barrier", 0, 0, 0, 0);
  EXPECT_TRUE(both_wrote(50));
  EXPECT_TRUE(both_wrote(51));
  EXPECT_FALSE(both_wrote(52));
  note_barrier("barrier", 0, 0, 0, 0);
  EXPECT_FALSE(both_wrote(50));
}

TEST_F(Record, TheRankThatComesLastIsOnTheCriticalPath) {
  record_->rank = 1, record_->began = 10;
  record_caller = code(7);
  note_fault(code(100), 1, page(10), 4, 10.5, 11);
  note_barrier("barrier", 12, 12.25, 1, 12);  // 2 s, of which 0.5 are a fault
  note_barrier("barrier", 13, 14, 0, 13.5);   // the other rank came last
  note_lock(1, "lock", 14, 14.5);
  note_barrier("barrier", 15, 15, 1, 15);  // 1.5 s: 0.5 until it went on, and 0.5 for the lock
  const SiteRecord& barrier = *site_of(SiteKind::barrier, code(7), 0, "barrier");
  const auto critical = [&](TimeKind kind) {
    return 1e-9 * static_cast<double>(barrier.critical[static_cast<size_t>(kind)].load());
  };
  EXPECT_NEAR(critical(TimeKind::faults), 0.5, 1e-6);
  EXPECT_NEAR(critical(TimeKind::locks), 0.5, 1e-6);
  EXPECT_NEAR(critical(TimeKind::collective), 0.5, 1e-6);
  EXPECT_NEAR(critical(TimeKind::tasks), 1.5 + 0.5, 1e-6);
}

// Bins become wider as the run becomes longer, and lose nothing.
TEST_F(Record, BinsCoverTheWholeRun) {
  Timeline& line = record_->timeline;
  double total = 0;
  for (double at = 0; at < 600; at += 0.25) line.note(TimeKind::faults, 0, 0, at, at + 0.1, -1), total += 0.1;
  line.note(TimeKind::locks, 0, 0, 0, 600, -1);
  const int level = Timeline::level_at(600'000);
  uint64_t bins[2 * Timeline::half];
  line.sum(TimeKind::faults, level, bins);
  double sum = 0;
  for (const uint64_t bin : bins) sum += 1e-9 * static_cast<double>(bin);
  EXPECT_NEAR(sum, total, 1e-3);
  line.sum(TimeKind::locks, level, bins);
  const double width = 1e-3 * static_cast<double>(1 << level);
  for (size_t bin = 0; bin < static_cast<size_t>(600 / width); ++bin)
    EXPECT_NEAR(1e-9 * static_cast<double>(bins[bin]), width, 1e-6) << bin;
}

TEST_F(Record, ManyShortEventsLeaveTheLongOnes) {
  Timeline& line = record_->timeline;
  line.note(TimeKind::locks, 5, 0, 1, 2, 3);
  for (int i = 0; i < 10000; ++i) line.note(TimeKind::faults, 0, 0, 3, 3 + 2e-6, -1);
  const EventRecord& event = line.events[Timeline::classes - 1][0];
  EXPECT_EQ(event.site, 5U);
  EXPECT_EQ(event.other, 3);
  EXPECT_EQ(event.begin, 1);
  EXPECT_FLOAT_EQ(event.seconds, 1);
}

TEST_F(Record, EnergyOfOneNameIsReplaced) {
  note_energy("computing", 1, 10);
  note_energy("waiting", 1, 5);
  note_energy("computing", 2, 20);
  EXPECT_EQ(record_->energies, 2U);
  EXPECT_EQ(record_->energy[0].joules, 20);
}

// Four ranks with ten million faults, and tables that are full.
TEST_F(Record, TheDataOfALongRunIsSmall) {
  static_assert(sizeof(RunRecord) < (size_t{4} << 20));
  std::vector<std::unique_ptr<RunRecord>> records(4);
  std::vector<const RunRecord*> all;
  for (auto& record : records) {
    record = std::make_unique<RunRecord>();
    run_record = record.get();
    record->rank = static_cast<int>(all.size()), record->nranks = 4;
    record->seconds = 600;
    for (uint64_t i = 0; i < 2'500'000; ++i) {
      const double at = 600e-7 * 4 * static_cast<double>(i);
      note_fault(code(1 + i % 5000), static_cast<uint32_t>(i % 256), page(i), 1, at,
                 at + 1e-5 * static_cast<double>(i % 1000));
    }
    for (ArrayRecord& array : record->arrays) {
      array.used = 1, array.pages = static_cast<uint64_t>(&array - record->arrays) + 1;
      std::snprintf(array.name, sizeof array.name, "array %lu of a program", array.pages);
      for (auto& cell : array.faults) cell = 12345;
      for (auto& cell : array.writes) cell = 12345;
    }
    record->arrays_used = RunRecord::most_arrays;
    all.push_back(record.get());
  }
  const std::string file = ::testing::TempDir() + "long_run." + std::to_string(getpid()) + ".json";
  ASSERT_TRUE(write_records(all, "", file).ok());
  std::ifstream in(file, std::ios::ate);
  EXPECT_LT(in.tellg(), 4.9e6);
  EXPECT_GT(in.tellg(), 1e6);
  std::remove(file.c_str());
}

// Bytes of records that are changed; the places that decide on indices, lengths and divisions more often than others.
void damage(RunRecord& record, Mutator& mutator) {
  switch (mutator.number(6)) {
    case 0: return mutator.memory(&record.rank, offsetof(RunRecord, code_begin) - offsetof(RunRecord, rank));
    case 1: return mutator.memory(&record.arrays[mutator.number(3)], sizeof(ArrayRecord));
    case 2: return mutator.memory(&record.sites[mutator.number(8)], sizeof(SiteRecord));
    case 3: return mutator.memory(&record.timeline.used, sizeof record.timeline.used + 3 * sizeof(EventRecord));
    case 4:
      return mutator.memory(&record.machine_seconds,
                            offsetof(RunRecord, written) - offsetof(RunRecord, machine_seconds));
    default: return mutator.memory(&record, sizeof record);
  }
}

// A report's data is made of them, and its numbers are numbers.
TEST_F(Record, DamagedRecordsAreNoneOrAreReported) {
  record_->magic = RunRecord::magic_value, record_->nranks = 2, record_->rank = 1, record_->nnodes = 1;
  for (size_t i = 0; i < 8; ++i) {
    record_caller = code(20 + i);
    note_time(site_of(static_cast<SiteKind>(1 + i), code(20 + i), 1, "a_call"), 100, 0.1);
  }
  note_energy("computing", 1, 10);
  for (double at = 0; at < 9; at += 0.1) record_->timeline.note(TimeKind::locks, 3, 0, at, at + 0.01, 1);
  record_->arrays_used = 2, record_->arrays[0].used = 1, record_->arrays[0].ndims = 2, record_->seconds = 9;
  std::vector<char> sound(sizeof(RunRecord));
  std::memcpy(sound.data(), static_cast<const void*>(record_.get()), sound.size());
  const std::string file = ::testing::TempDir() + "damaged." + std::to_string(getpid()) + ".json";
  Mutator mutator(5);
  int reported = 0;
  const int wanted = mutations(100);
  for (int i = 0; i < wanted; ++i) {
    std::memcpy(static_cast<void*>(record_.get()), sound.data(), sound.size());
    for (size_t left = mutator.number(4) + 1; left > 0; --left) damage(*record_, mutator);
    if (!make_sound(*record_)) continue;
    ++reported;
    describe_record(*record_);
    ASSERT_TRUE(write_records({record_.get()}, "", file).ok()) << i;
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const char* const bad : {":nan", ":-nan", ":inf", ":-inf", ",nan", ",inf", "[nan"})
      EXPECT_EQ(std::string::npos, text.find(bad)) << i << ": " << text.substr(text.find(bad), 40);
  }
  EXPECT_GT(reported, wanted / 3);
  std::remove(file.c_str());
}

TEST_F(Record, LongTextsAreCut) {
  const std::string name(1000, 'x');
  const SiteRecord* const task = site_of(SiteKind::task, code(1), 0, name.c_str(), name.c_str());
  EXPECT_EQ(std::strlen(task->call), sizeof task->call - 1);
  EXPECT_EQ(std::strlen(task->text), sizeof task->text - 1);
}

}  // namespace
}  // namespace hiroba
