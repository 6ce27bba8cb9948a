#include "transport/wire/remote_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace hiroba {
namespace {

// A wire whose network card registers at most so many bytes.
class CardWire final : public Wire {
 public:
  explicit CardWire(size_t limit) : limit_(limit) {}
  std::set<void*> exposed;
  int imported = 0, forgotten = 0;

  std::string describe() const override { return "card"; }
  Status open(const Start&) override { return {}; }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Status allgather(const void*, void*, size_t) override { return {}; }
  void close(bool) override {}
  bool send(int, const void*, size_t) override { return true; }
  void send_bulk(int, uint32_t, const void*, size_t, uint64_t) override {}
  void recv_bulk(int, uint32_t, void*, size_t, uint64_t) override {}
  bool poll() override { return false; }

  Remote remote() const override { return {.memory = true}; }
  Status expose(void* memory, size_t bytes, std::vector<char>& key) override {
    if (bytes > limit_) return Status::error("cannot register memory (is ulimit -l too low?)");
    exposed.insert(memory);
    key.assign(3, 'k');
    return {};
  }
  void conceal(void* memory) override { exposed.erase(memory); }
  int import(int, uint64_t, const std::vector<char>& key) override {
    EXPECT_EQ(std::vector<char>(3, 'k'), key);
    return imported++;
  }
  void forget(int) override { ++forgotten; }

 private:
  size_t limit_;
};

class RemoteMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    owner.start(&owner_wire), asker.start(&asker_wire);
    owner.attach(4096, sizeof memory, memory);
  }
  CardWire owner_wire{1 << 16}, asker_wire{1 << 16};
  RemoteMemory owner, asker;
  char memory[8192] = {};
};

TEST_F(RemoteMemoryTest, IsAccessibleOnceAskedForAndUntilDetached) {
  RemoteMemory::Place place = {-1, 0};
  EXPECT_FALSE(asker.find(5000, 10, place));
  EXPECT_TRUE(owner_wire.exposed.empty()) << "nothing is pinned that nobody has asked for";
  std::vector<char> told;
  ASSERT_TRUE(owner.tell(5000, told).ok());
  asker.learn(1, told);
  asker.learn(1, told);  // as when two threads have asked
  EXPECT_EQ(1, asker_wire.imported);
  ASSERT_TRUE(asker.find(5000, 10, place));
  EXPECT_EQ(5000u - 4096u, place.offset);
  EXPECT_FALSE(asker.find(4096 + 8192 - 5, 10, place)) << "reaches past the end";
  EXPECT_FALSE(asker.find(100, 10, place));
  owner.detach(4096, sizeof memory);
  asker.detach(4096, sizeof memory);
  EXPECT_TRUE(owner_wire.exposed.empty());
  EXPECT_EQ(1, asker_wire.forgotten);
  EXPECT_FALSE(asker.find(5000, 10, place));
}

TEST_F(RemoteMemoryTest, MemoryThatCannotBeRegisteredIsAnErrorThatNamesSizeAndLimit) {
  std::vector<char> big(1 << 20), told;
  owner.attach(1 << 20, big.size(), big.data());
  const Status status = owner.tell(1 << 20, told);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(std::string::npos, status.message().find("ulimit -l")) << status.message();
  EXPECT_NE(std::string::npos, status.message().find("1 MiB")) << status.message();
}

}  // namespace
}  // namespace hiroba
