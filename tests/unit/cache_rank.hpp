// One rank's page cache over a fake home: the memory of all other ranks is a buffer of the test, which the cache
// reaches as memory or, as over a network, by gets that come when the test lets them.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "memory/cache/cache.hpp"

namespace hiroba {

class FakeHome final : public Transport, OneSided {
 public:
  struct Piece {
    uint64_t offset, bytes;
    bool operator==(const Piece&) const = default;
  };

  FakeHome(uint64_t space, uint64_t extent, int asker, bool network)
      : OneSided(static_cast<Transport&>(*this)), space_(space), asker_(asker), network_(network) {
    parts_.one_sided = this;
    EXPECT_TRUE(memory_.create("fake home", extent).ok());
  }
  char* memory() const { return memory_.data(); }
  int fd() const { return memory_.fd(); }

  const char* name() const override { return "fake home"; }
  Status start(const Config&) override { return {}; }
  void stop() override {}
  Status attach(uint64_t, uint64_t, int) override { return {}; }
  void detach(uint64_t, uint64_t) override {}
  void send(int, int, const void*, size_t) override { FAIL() << "the cache sends no messages"; }
  bool progress() override { return false; }
  void sleep(double) override {}

  void put(int rank, uint64_t to, const void* from, size_t bytes) override {
    const std::lock_guard guard(lock_);
    puts.push_back({to, bytes}), put_ranks.push_back(rank);
    std::memcpy(memory() + to, from, bytes);
  }
  // All that was put is there after it.
  bool fence() override {
    ++fences;
    const std::lock_guard guard(lock_);
    for (const Put& put : std::exchange(started_, {})) end(put);
    return false;
  }
  // These go on until they are awaited or fenced: a source that changes before that, or a fence that lacks, is noticed.
  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& completion) override {
    const std::lock_guard guard(lock_);
    ++completion.left;
    started_.push_back({rank, to, from, bytes, {}, &completion});
  }
  void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& completion) override {
    const std::lock_guard guard(lock_);
    ++completion.left, ++packed;
    started_.push_back({rank, 0, nullptr, 0, pieces, &completion});
  }

  void get(void* to, int, uint64_t from, size_t bytes) override { std::memcpy(to, memory() + from, bytes); }
  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                 const Piggyback* piggyback) override {
    request(to, rank, from, bytes, completion, piggyback, false);
  }
  bool defers_gets(int) const override { return network_ && defers; }
  void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                          const Piggyback* piggyback) override {
    request(to, rank, from, bytes, completion, piggyback, true);
  }
  void await(Completion& completion) override {
    if (completion.left == 0) return;
    ++awaiting;
    while (held) std::this_thread::yield();
    --awaiting;
    const std::lock_guard guard(lock_);
    for (const Put& put : started_)
      if (put.completion == &completion) end(put);
    std::erase_if(started_, [&](const Put& put) { return put.completion == &completion; });
    for (const Get& get : pending_)
      if (get.completion == &completion) serve(get);
    std::erase_if(pending_, [&](const Get& get) { return get.completion == &completion; });
    EXPECT_EQ(0u, completion.left);
  }
  // Control segments and directories are reached always; in a job the home's handler would write there.
  char* local_address(int, uint64_t offset) const override {
    return network_ && offset < space_ ? nullptr : memory() + offset;
  }
  void release_mapping(uint64_t offset, uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    released.push_back({offset, bytes});
  }

  // Requests that have not been answered.
  size_t pending() {
    const std::lock_guard guard(lock_);
    return pending_.size();
  }
  // The gets since the last call.
  std::vector<Piece> take_gets() {
    const std::lock_guard guard(lock_);
    return std::exchange(gets_, {});
  }
  uint64_t bytes_put() const {
    uint64_t sum = 0;
    for (const Piece& put : puts) sum += put.bytes;
    return sum;
  }

  std::vector<Piece> puts, released;
  std::vector<int> put_ranks;
  std::atomic<int> fences{0}, awaiting{0}, packed{0}, deferred{0};
  std::atomic<bool> held{false};  // nothing ends while it is set
  bool defers = false, barrier_ended = false;
  std::function<void(uint64_t bytes)> before_get;

 private:
  struct Put {
    int rank;
    uint64_t to;
    const void* from;
    size_t bytes;
    std::span<const PackedWord> pieces;
    Completion* completion;
  };
  struct Get {
    void* to;
    uint64_t from;
    size_t bytes;
    Completion* completion;
    bool deferred;
  };

  void request(void* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Piggyback* piggyback,
               bool deferred) {
    EXPECT_NE(asker_, rank) << "its own memory";
    const std::lock_guard guard(lock_);
    gets_.push_back({from, bytes});
    if (before_get) before_get(bytes);
    this->deferred += deferred;
    if (piggyback != nullptr) deliver(piggyback->handler, 0, piggyback->payload, piggyback->bytes);
    if (!network_ && !deferred) {
      std::memcpy(to, memory() + from, bytes);
      return;
    }
    ++completion.left;
    pending_.push_back({to, from, bytes, &completion, deferred});
  }
  void serve(const Get& get) {
    EXPECT_TRUE(!get.deferred || barrier_ended) << "awaited before the barrier has ended";
    std::memcpy(get.to, memory() + get.from, get.bytes);
    --get.completion->left;
  }
  void end(const Put& put) {
    const auto arrive = [&](uint64_t to, const void* from, size_t bytes) {
      puts.push_back({to, bytes}), put_ranks.push_back(put.rank);
      std::memcpy(memory() + to, from, bytes);
    };
    if (put.from != nullptr) arrive(put.to, put.from, put.bytes);
    else for_each_run(put.pieces, arrive);
    --put.completion->left;
  }

  const uint64_t space_;
  const int asker_;
  const bool network_;
  SparseFile memory_;
  std::mutex lock_;  // guards what follows
  std::vector<Piece> gets_;
  std::vector<Get> pending_;
  std::vector<Put> started_;
};

// What a test may choose.
struct CacheShape {
  std::string way = "private";  // of tracking: "shared", "private", "mprotect"
  bool network = false;
  int rank = 0;
  uint64_t limit_pages = 4096, readahead_pages = 1;
  bool huge = false, in_place = true;
  bool closes = false;  // copies that flushes find unwritten may be closed to writes
};

// A rank of three, each on a node of its own.
class CacheRank {
  const std::string way_;

 public:
  static constexpr int nranks = 3;
  static constexpr uint64_t space = uint64_t{32} << 20, first_page = 512;

  explicit CacheRank(const CacheShape& shape)
      : way_(shape.way), home(space, layout().extent(), shape.rank, shape.network) {
    CacheConfig config;
    config.layout = layout();
    config.job.nranks = config.job.nnodes = nranks;
    config.job.place_evenly();
    config.job.node_fds.assign(nranks, home.fd());
    config.job.rank = config.job.node = shape.rank;
    reserve(shape.rank);
    EXPECT_TRUE(pagemap_.open().ok());
    const Status opened = way_ == "mprotect" ? Status() : uffd_.open(way_ == "shared");
    EXPECT_TRUE(opened.ok()) << opened.message();
    EXPECT_TRUE(states.create(config.layout.pages()).ok());
    notices.start(base, config.layout, config.job);
    config.base = base, config.transport = &home, config.arrays = &arrays_;
    EXPECT_TRUE(!shape.closes || view_uffd_.open_for_writes().ok());
    config.view_uffd = &view_uffd_;
    config.uffd = &uffd_, config.pagemap = &pagemap_, config.notices = &notices, config.states = &states;
    config.unchanged = &unchanged;
    sharers.start({config.layout, config.job, base, &home, &arrays_, nullptr});
    config.sharers = &sharers;
    config.limit_pages = shape.limit_pages, config.readahead_pages = shape.readahead_pages;
    config.huge = shape.huge, config.in_place = shape.in_place;
    cache = std::make_unique<Cache>();
    cache->fetches.listen(home);
    EXPECT_TRUE(cache->copies.start(config).ok());
    EXPECT_TRUE(cache->fetches.start().ok());
    serve_faults();
  }
  ~CacheRank() {
    served_ = nullptr;
    for (const int signal : {SIGBUS, SIGSEGV}) sigaction(signal, &before_[signal == SIGBUS], nullptr);
    cache.reset();
    munmap(reserved_, reserved_bytes_);
  }
  // Whether this kernel can do it.
  static Status works(const std::string& way) {
    Userfaultfd uffd;
    return way == "mprotect" ? Status() : uffd.open(way == "shared");
  }

  static Layout layout() {
    Layout out;
    out.space = space, out.nranks = out.nnodes = nranks;
    return out;
  }

  // An array with these home runs, from a page on.
  Array& add(uint64_t first, const std::vector<std::pair<uint64_t, int>>& runs) {
    auto array = std::make_unique<Array>();
    array->first_page = array->end_page = first;
    for (const auto& [pages, rank] : runs) {
      array->homes.push_back({array->end_page, pages, rank});
      array->end_page += pages;
    }
    Array& out = *array;
    EXPECT_TRUE(cache->copies.add(out, way_ == "shared").ok());
    arrays_.insert(std::move(array));
    return out;
  }

  // A byte as the program sees it, and at the home.
  volatile char& at(uint64_t page, uint64_t byte = 0) { return base[(page << page_shift) + byte]; }
  char& home_at(uint64_t page, uint64_t byte = 0) { return home.memory()[(page << page_shift) + byte]; }

  // The pages whose notices are pending, one by one.
  std::vector<uint64_t> noted() const {
    std::vector<uint64_t> out;
    for (uint64_t i = 0; i < notices.count(); ++i)
      for (uint64_t p = 0; p < notices[i].pages(); ++p) out.push_back(notices[i].page() + p);
    return out;
  }

  FakeHome home;
  char* base = nullptr;
  PageStates states;
  NoticeLog notices;
  UnchangedWrites unchanged;
  Sharers sharers;
  std::unique_ptr<Cache> cache;

 private:
  // The address range, and in it this rank's control segment, where the notices are.
  void reserve(int rank) {
    reserved_bytes_ = layout().extent() + huge_page_bytes;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    reserved_ = static_cast<char*>(mmap(nullptr, reserved_bytes_, PROT_NONE, flags, -1, 0));
    base = reserved_ + -reinterpret_cast<uintptr_t>(reserved_) % huge_page_bytes;
    mmap(base + layout().control(rank), Layout::control_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0);
  }
  void serve_faults() {
    served_ = this;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      const uint64_t offset = static_cast<uint64_t>(static_cast<char*>(info->si_addr) - served_->base);
      Array* const array = offset < space ? served_->arrays_.live(offset >> page_shift) : nullptr;
      const FaultKind kind = fault_kind(*static_cast<ucontext_t*>(context));
      if (array == nullptr || !served_->cache->fetches.fault(*array, offset >> page_shift, kind))
        ::signal(signal, SIG_DFL);
    };
    for (const int signal : {SIGBUS, SIGSEGV}) sigaction(signal, &action, &before_[signal == SIGBUS]);
  }

  Userfaultfd uffd_, view_uffd_;
  Pagemap pagemap_;
  ArrayTable arrays_;
  char* reserved_ = nullptr;
  size_t reserved_bytes_ = 0;
  struct sigaction before_[2] = {};
  static inline CacheRank* served_ = nullptr;
};

// For tests of the cache: what it has of an array of 100 pages of rank 1, 50 of this rank, 150 of rank 2.
class CacheFixture : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  static constexpr uint64_t first = CacheRank::first_page, end = first + 300;
  using Pages = std::vector<uint64_t>;
  using Pieces = std::vector<FakeHome::Piece>;

  void SetUp() override {
    const Status works = CacheRank::works(std::get<0>(GetParam()));
    if (!works.ok()) GTEST_SKIP() << works.message();
  }
  void make(CacheShape shape = {}) {
    shape.way = std::get<0>(GetParam()), shape.network = network();
    rank.reset();
    rank = std::make_unique<CacheRank>(shape);
    array = &rank->add(first, {{100, 1}, {50, 0}, {150, 2}});
    for (uint64_t p = first; p < end; ++p) std::memset(&rank->home_at(p), initial(p), page_bytes);
  }
  static bool network() { return std::get<1>(GetParam()); }
  Cache& cache() { return *rank->cache; }
  uint64_t faults() const { return array->counters.faults.load(); }
  bool is_state(uint64_t page, PageState state) const { return rank->states.state(page) == state; }

  static FakeHome::Piece pages(uint64_t page, uint64_t count) { return {page << page_shift, count << page_shift}; }
  // Returns the value of all bytes of a page at its home at the beginning; no page is all zeros.
  static char initial(uint64_t page) { return static_cast<char>((page * 7 + 1) % 256 == 0 ? 1 : page * 7 + 1); }

  // These pages are read, and are as at the home.
  void read(uint64_t from, uint64_t to) {
    for (uint64_t p = from; p < to; ++p) ASSERT_EQ(rank->home_at(p), rank->at(p)) << "page " << p - first;
  }
  // Others write the first byte of these pages.
  void others_write(uint64_t from, uint64_t to, char value) {
    for (uint64_t p = from; p < to; ++p) rank->home_at(p) = value;
  }
  void preload(uint64_t from, uint64_t to) {
    cache().fetches.start_preload(*array, from, to);
    cache().fetches.finish();
  }
  // What sync_drop does before its barrier.
  void drop() {
    cache().writeback.flush_and_drop(true);
    rank->notices.clear();
  }
  // The gets since the last call. What is copied at once may be so in slices.
  void expect_gets(const Pieces& expected) {
    const auto joined = [](const Pieces& pieces) {
      Pieces out;
      for (const FakeHome::Piece& piece : pieces)
        if (!network() && !out.empty() && out.back().offset + out.back().bytes == piece.offset)
          out.back().bytes += piece.bytes;
        else out.push_back(piece);
      return out;
    };
    EXPECT_EQ(joined(expected), joined(rank->home.take_gets()));
  }

  std::unique_ptr<CacheRank> rank;
  Array* array = nullptr;
};

inline std::ostream& operator<<(std::ostream& out, const FakeHome::Piece& piece) {
  return out << "{page " << (piece.offset >> page_shift) << ", bytes " << piece.bytes << "}";
}

// Each way to see writes, with homes that are reached as memory and over a network.
#define INSTANTIATE_CACHE_TESTS(Suite)                                                                            \
  INSTANTIATE_TEST_SUITE_P(Ways, Suite,                                                                           \
                           testing::Combine(testing::Values("shared", "private", "mprotect"), testing::Bool()),   \
                           [](const auto& info) {                                                                 \
                             return std::get<0>(info.param) + (std::get<1>(info.param) ? "_network" : "_memory"); \
                           })

}  // namespace hiroba
