// How the notices of other ranks are read after a barrier.
#include "memory/notices/notice_reader.hpp"

#include "cache_rank.hpp"

namespace hiroba {
namespace {

constexpr int ranks = 40;

Layout layout_of_many() {
  Layout out;
  out.space = uint64_t{32} << 20, out.nranks = out.nnodes = ranks;
  return out;
}

std::vector<NoticeReader::Log> fill_logs(const FakeHome& home, uint64_t notices_of_each) {
  std::vector<NoticeReader::Log> logs;
  for (int rank = 1; rank < ranks; ++rank) {
    auto* const log = reinterpret_cast<Notice*>(home.memory() + layout_of_many().notice_log(rank, 1));
    for (uint64_t i = 0; i < notices_of_each; ++i) log[i] = Notice::make(static_cast<uint64_t>(rank) * 100 + i, 1);
    logs.push_back({rank, notices_of_each});
  }
  return logs;
}

TEST(NoticeReader, AllRequestsAreUnderWayBeforeTheFirstIsAwaited) {
  FakeHome home(layout_of_many().space, layout_of_many().extent(), 0, true);
  const std::vector<NoticeReader::Log> logs = fill_logs(home, 3);
  home.held = true;
  std::vector<uint64_t> pages;
  std::thread reader([&] {
    NoticeReader().read(home, layout_of_many(), logs, 1, [&](std::span<const Notice> notices) {
      for (const Notice notice : notices) pages.push_back(notice.page());
    });
  });
  while (home.awaiting == 0) std::this_thread::yield();
  EXPECT_EQ(size_t{ranks - 1}, home.pending()) << "one round trip, however many ranks have written";
  home.held = false;
  reader.join();
  ASSERT_EQ(size_t{3 * (ranks - 1)}, pages.size());
  for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ((i / 3 + 1) * 100 + i % 3, pages[i]);
}

TEST(NoticeReader, VeryManyNoticesComeInTurns) {
  FakeHome home(layout_of_many().space, layout_of_many().extent(), 0, false);
  constexpr uint64_t each = 60000;
  const std::vector<NoticeReader::Log> logs = fill_logs(home, each);
  uint64_t seen = 0;
  NoticeReader().read(home, layout_of_many(), logs, 1, [&](std::span<const Notice> notices) {
    ASSERT_EQ(each, notices.size());
    ++seen;
    EXPECT_EQ(seen * 100 + each - 1, notices[each - 1].page());
  });
  EXPECT_EQ(logs.size(), seen);
}

}  // namespace
}  // namespace hiroba
