// Transactions of a process without a job, and what a transaction has stored.
#include <gtest/gtest.h>

#include <csetjmp>
#include <thread>

#include "transaction/transaction.hpp"

namespace hiroba {
namespace {

TEST(WriteSet, MergesTheBytesOfAWord) {
  WriteSet set;
  EXPECT_FALSE(set.may_have(64));
  set.add(64, 0x1122, 0xffff);
  set.add(64, 0x330000, 0xff0000);
  ASSERT_NE(set.find(64), nullptr);
  EXPECT_EQ(set.find(64)->value, 0x331122U);
  EXPECT_EQ(set.find(64)->mask, 0xffffffU);
  EXPECT_EQ(set.find(72), nullptr);
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.find(64), nullptr);
}

TEST(WriteSet, FindsManyWords) {
  WriteSet set;
  for (uint64_t i = 0; i < 5000; ++i) set.add(i * 8, i, ~uint64_t{0});
  for (uint64_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(set.may_have(i * 8));
    ASSERT_EQ(set.find(i * 8)->value, i);
  }
}

TEST(WriteSet, ReturnsToASavepoint) {
  WriteSet set;
  set.add(8, 1, 0xff);
  const WriteSet::Savepoint outer = set.save();
  set.add(8, 2, 0xff), set.add(16, 3, 0xff);
  const WriteSet::Savepoint inner = set.save();
  set.add(8, 0x400, 0xff00), set.add(24, 5, 0xff);
  set.undo(inner);
  EXPECT_EQ(set.find(8)->value, 2U);
  EXPECT_EQ(set.find(8)->mask, 0xffU);
  EXPECT_EQ(set.find(24), nullptr);
  EXPECT_EQ(set.find(16)->value, 3U);
  set.undo(outer);
  EXPECT_EQ(set.find(8)->value, 1U);
  EXPECT_EQ(set.find(16), nullptr);
}

// Runs the function as a transaction, as the notation does.
template <typename Function>
void run(Transaction& transaction, const Function& function) {
  std::jmp_buf again;
  (void)setjmp(again);
  transaction.begin({[](void* buffer) { std::longjmp(*static_cast<std::jmp_buf*>(buffer), 1); }, &again, "test"},
                    false);
  function();
  transaction.commit();
}

struct Pair {
  alignas(64) uint64_t x = 0;
  alignas(64) uint64_t y = 0;
};

TEST(Transactions, SeeValuesOfOneMoment) {
  static TransactionProcess process;
  static Pair pair;
  constexpr uint64_t each = 20000;
  std::thread writer([] {
    Transaction own(process);
    for (uint64_t i = 0; i < each; ++i)
      run(own, [&] {
        const uint64_t x = own.load(&pair.x);
        own.store(&pair.x, x + 1), own.store(&pair.y, own.load(&pair.y) + 1);
      });
  });
  Transaction mine(process);
  static uint64_t torn = 0;
  for (uint64_t i = 0; i < each; ++i) run(mine, [&] { torn += mine.load(&pair.y) != mine.load(&pair.x) ? 1 : 0; });
  writer.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(pair.x, each);
  EXPECT_EQ(pair.y, each);
}

TEST(Transactions, LoseNoUpdate) {
  static TransactionProcess process;
  static uint64_t count = 0;
  constexpr uint64_t each = 20000;
  const auto work = [] {
    Transaction own(process);
    for (uint64_t i = 0; i < each; ++i) run(own, [&] { own.store(&count, own.load(&count) + 1); });
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(count, 2 * each);
}

// A thread takes the words out of the others' sight, uses them without transactions, and gives them back.
TEST(Transactions, LeaveMemoryThatIsPrivate) {
  static TransactionProcess process;
  static uint64_t is_public = 1, words[32] = {}, wrong = 0;
  constexpr uint64_t each = 5000;
  std::thread other([] {
    Transaction own(process);
    for (uint64_t i = 0; i < each; ++i)
      run(own, [&] {
        if (own.load(&is_public) == 0) return;
        for (uint64_t& word : words) own.store(&word, own.load(&word) + 1);
      });
  });
  Transaction mine(process);
  for (uint64_t i = 0; i < each; ++i) {
    run(mine, [&] { mine.store(&is_public, uint64_t{0}); });
    for (uint64_t& word : words) wrong += word != words[0] ? 1 : 0;
    for (uint64_t& word : words) word = i;
    run(mine, [&] { mine.store(&is_public, uint64_t{1}); });
  }
  other.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(Transactions, StoreTheirBytesOnly) {
  static TransactionProcess process;
  Transaction own(process);
  alignas(8) static char bytes[24] = {};
  run(own, [&] { write_bytes(own, bytes + 3, "abcdefghijk", 11); });
  EXPECT_EQ(bytes[2], 0);
  EXPECT_EQ(std::string(bytes + 3), "abcdefghijk");
  EXPECT_EQ(bytes[14], 0);
}

}  // namespace
}  // namespace hiroba
