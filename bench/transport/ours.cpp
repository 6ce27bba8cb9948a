// Hiroba's side of the transport benchmark: transport_ours CASE COUNT ROUNDS [CASE COUNT ROUNDS ...], in a job of two
// ranks on two nodes. Rank 0 asks and measures; rank 1 holds the memory and waits in a collective call meanwhile. Every
// case checks the data that it moved; every figure is a median over the rounds, the first of which is not counted. Rank
// 0 prints one line of JSON at the end.
//
// It stands on the floors, not on the public headers, because a program cannot name the transport that it runs on.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../json.h"
#include "base/log.hpp"
#include "base/tables/options.hpp"
#include "base/wait.hpp"
#include "memory/memory.hpp"

namespace hiroba {

namespace {

constexpr size_t page_words = page_bytes / sizeof(uint64_t);
constexpr size_t piece = size_t{4} << 20;  // of the bandwidths

void require(const Status& status) {
  if (!status.ok()) end_job(1, "%s", status.message().c_str());
}

void check(bool good, const char* what) {
  if (!good) end_job(1, "wrong answer in the benchmark: %s", what);
}

// Times of the rounds, of which the first is thrown away: it fills caches and touches memory for the first time.
class Samples {
 public:
  void add(double value) {
    if (seen_++ > 0) values_.push_back(value);
  }
  double median() {
    std::sort(values_.begin(), values_.end());
    const size_t n = values_.size();
    return n == 0 ? 0 : (values_[(n - 1) / 2] + values_[n / 2]) / 2;
  }

 private:
  int seen_ = 0;
  std::vector<double> values_;
};

// Single round trips, one behind the other, of all rounds but the first: as ucx_perftest's 50.0%ile and mpi.c. A mean
// is mostly what the kernel has interrupted.
class Trips {
 public:
  Trips(Samples& samples, int round) : samples_(samples), counts_(round > 0) {}
  void end() {
    const double now = seconds_now();
    if (counts_) samples_.add(now - last_);
    last_ = now;
  }

 private:
  Samples& samples_;
  bool counts_;
  double last_ = seconds_now();
};

// Memory whose home is one rank, with the name it has in the transport. Its word i is i at first.
struct Area {
  uint64_t* words = nullptr;
  size_t count = 0;
  int home = 0;
  uint64_t offset = 0;
  Array* array = nullptr;
};

class Bench {
 public:
  explicit Bench(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}

  Memory& memory() { return *memory_; }
  Transport& transport() { return memory_->transport(); }
  bool asks() const { return memory_->job().rank == 0; }

  std::vector<uint64_t> exchange(uint64_t word) {
    std::vector<uint64_t> words(static_cast<size_t>(memory_->job().nranks));
    require(memory_->collective().barriers().with_words("exchange of the benchmark", word, words));
    return words;
  }
  void meet() { exchange(0); }
  void drop() { require(memory_->consistency().sync_drop("sync_drop of the benchmark")); }
  void barrier() { require(memory_->consistency().barrier("barrier of the benchmark")); }
  void preload(const Area& area) {
    const Range all[] = {{0, static_cast<int64_t>(area.count * sizeof(uint64_t)), 1}};
    require(memory_->preloads().start(area.words, all));
    memory_->preloads().wait();
  }

  Area make(size_t bytes, int home) {
    Area area;
    void* data = nullptr;
    require(memory_->arrays().allocate({.dim = {static_cast<int64_t>(bytes)},
                                        .div = {1},
                                        .element_bytes = 1,
                                        .first = home,
                                        .call = "make",
                                        .place = "the benchmark"},
                                       data));
    area.array = memory_->arrays().at(data);
    area.words = static_cast<uint64_t*>(data);
    area.count = bytes / sizeof(uint64_t);
    area.home = home;
    area.offset = static_cast<uint64_t>(static_cast<char*>(data) - memory_->collective().world().base);
    if (memory_->job().rank == home)
      for (size_t i = 0; i < area.count; ++i) area.words[i] = i;
    barrier();
    barrier();  // from the second on, it lies in huge pages where there are any
    return area;
  }
  void free(const Area& area) { require(memory_->arrays().free(area.words, "free of the benchmark")); }

  void report(const char* name, double value) { json_add(&line_, name, value); }
  void finish() {
    require(memory_->stop("the end of the benchmark"));
    if (asks()) json_print(&line_);
  }

 private:
  std::unique_ptr<Memory> memory_;
  json_line line_ = {};
};

struct Case {
  size_t count;
  int rounds;
};

// ---- the transport itself ------------------------------------------------------------------------------------------

// One way, by putting words of which the other side polls the last. All of a put is there when its last word is,
// because the thread that polls places it, or the memory of the other side is written from front to back.
void put_words(Bench& bench, Case c, size_t count, const char* name) {
  const Area areas[2] = {bench.make(count * sizeof(uint64_t), 0), bench.make(count * sizeof(uint64_t), 1)};
  const int self = bench.asks() ? 0 : 1;
  uint64_t flag = page_words + count;  // none of the words that are there
  std::vector<uint64_t> source(count);
  const auto tell = [&] {
    source[0] = source[count - 1] = flag;
    bench.transport().put(1 - self, areas[1 - self].offset, source.data(), count * sizeof flag);
  };
  const auto wait = [&] {
    const std::atomic_ref<uint64_t> word(areas[self].words[count - 1]);
    while (word.load(std::memory_order_acquire) != flag) bench.transport().progress();
    check(areas[self].words[0] == flag, "a put");
  };
  Samples s;
  for (int round = 0; round <= c.rounds; ++round) {
    bench.meet();
    Trips trips(s, round);
    for (size_t k = 0; k < c.count; ++k) {
      ++flag;
      if (self == 0) tell(), wait();
      else wait(), tell();
      trips.end();
    }
  }
  bench.transport().fence();
  bench.meet();
  bench.report(name, 1e6 * s.median() / 2);
}

void put(Bench& bench, Case c) { put_words(bench, c, 1, "put us"); }
void put_8k(Bench& bench, Case c) { put_words(bench, c, 1024, "put 8 KiB us"); }

void get(Bench& bench, Case c) {
  const Area area = bench.make(page_bytes, 1);
  Samples s;
  for (int round = 0; round <= c.rounds && bench.asks(); ++round) {
    Trips trips(s, round);
    for (size_t k = 0; k < c.count; ++k) {
      uint64_t word = ~uint64_t{0};
      bench.transport().get(&word, 1, area.offset + k % page_words * sizeof word, sizeof word);
      check(word == k % page_words, "get of 8 bytes");
      trips.end();
    }
  }
  bench.meet();
  bench.report("get us", 1e6 * s.median());
}

// Streams of pieces, each its own memory; or always the same, which stays in the processor's cache. As in mpi.c, both
// sides have just written what is read or overwritten then.
void put_stream(Bench& bench, Case c, size_t pieces) {
  const Area area = bench.make(pieces * piece, 1);
  std::vector<uint64_t> source(area.count);
  Samples s;
  for (size_t round = 0; round <= static_cast<size_t>(c.rounds); ++round) {
    for (size_t i = 0; i < area.count && bench.asks(); ++i) source[i] = i + round + 1;
    if (!bench.asks()) std::fill_n(area.words, area.count, 0);
    bench.meet();
    if (bench.asks()) {
      const double start = seconds_now();
      Completion sent;
      for (size_t k = 0; k < c.count; ++k)
        bench.transport().one_sided().start_put(1, area.offset + k % pieces * piece,
                                                source.data() + k % pieces * piece / sizeof source[0], piece, sent);
      bench.transport().one_sided().await(sent);
      bench.transport().fence();
      s.add(static_cast<double>(c.count * piece) / (seconds_now() - start));
    }
    bench.meet();
    bool good = true;
    for (size_t i = 0; i < area.count && !bench.asks(); ++i) good = good && area.words[i] == i + round + 1;
    check(good, "puts of 4 MiB");
  }
  bench.free(area);
  bench.report("put GB/s", 1e-9 * s.median());
}

void put_bandwidth(Bench& bench, Case c) { put_stream(bench, c, c.count); }
void put_again(Bench& bench, Case c) { put_stream(bench, c, 1); }

// All of the area, `times` times; bytes per second.
double raw_get(Bench& bench, const Area& area, std::vector<uint64_t>& into, size_t times = 1) {
  Completion completion;
  const size_t area_bytes = area.count * sizeof(uint64_t), bytes = times * area_bytes;
  const double start = seconds_now();
  for (size_t done = 0; done < bytes; done += std::min(piece, area_bytes)) {
    const size_t at = done % area_bytes;
    bench.transport().one_sided().start_get(into.data() + at / sizeof(uint64_t), 1, area.offset + at,
                                            std::min(piece, area_bytes - at), completion, nullptr);
  }
  bench.transport().one_sided().await(completion);
  return static_cast<double>(bytes) / (seconds_now() - start);
}

void check_counted(const uint64_t* words, size_t count, const char* what) {
  bool good = true;
  for (size_t i = 0; i < count; ++i) good = good && words[i] == i;
  check(good, what);
}

void get_stream(Bench& bench, Case c, size_t pieces) {
  const Area area = bench.make(pieces * piece, 1);
  std::vector<uint64_t> into(area.count);
  Samples s;
  for (int round = 0; round <= c.rounds; ++round) {
    if (bench.asks()) std::fill(into.begin(), into.end(), ~uint64_t{0});
    for (size_t i = 0; i < area.count && !bench.asks(); ++i) area.words[i] = i;
    bench.meet();
    if (bench.asks()) {
      s.add(raw_get(bench, area, into, c.count / pieces));
      check_counted(into.data(), into.size(), "gets of 4 MiB");
    }
    bench.meet();
  }
  bench.free(area);
  bench.report("get GB/s", 1e-9 * s.median());
}

void get_bandwidth(Bench& bench, Case c) { get_stream(bench, c, c.count); }
void get_again(Bench& bench, Case c) { get_stream(bench, c, 1); }

// ---- pages ---------------------------------------------------------------------------------------------------------

// Faults on lone pages, far apart and in a scattered order, and gets of the same pages. Needs readahead=4K.
void faults(Bench& bench, Case c) {
  constexpr size_t apart = 16;  // pages
  const Area area = bench.make(c.count * apart * page_bytes, 1);
  const auto page = [&](size_t k) { return (k * 7919 + 13) % c.count * apart * page_words; };
  std::vector<uint64_t> into(page_words);
  Samples fault, get, ratio;
  for (int round = 0; round <= c.rounds; ++round) {
    if (bench.asks()) {
      double start = seconds_now();
      bool good = true;
      for (size_t k = 0; k < c.count; ++k)
        good = static_cast<volatile const uint64_t*>(area.words)[page(k)] == page(k) && good;
      const double fault_seconds = seconds_now() - start;
      check(good, "page faults");
      start = seconds_now();
      for (size_t k = 0; k < c.count; ++k) {
        bench.transport().get(into.data(), 1, area.offset + page(k) * sizeof into[0], page_bytes);
        good = into[1] == page(k) + 1 && good;
      }
      const double get_seconds = seconds_now() - start;
      check(good, "gets of 4 KiB");
      fault.add(fault_seconds / static_cast<double>(c.count));
      get.add(get_seconds / static_cast<double>(c.count));
      ratio.add(fault_seconds / get_seconds);
    }
    bench.drop();
  }
  check(!bench.asks() || area.array->counters.faults == c.count * static_cast<size_t>(c.rounds + 1),
        "more than one page came with a fault: HIROBA_READAHEAD=4K is needed");
  bench.free(area);
  bench.report("fault us", 1e6 * fault.median());
  bench.report("4K get us", 1e6 * get.median());
  bench.report("fault / get", ratio.median());
}

// Absent memory read in order, preloaded, and fetched by gets into private memory, in turn.
void sequential(Bench& bench, Case c) {
  const Area area = bench.make(c.count << 20, 1);
  const size_t bytes = c.count << 20;
  std::vector<uint64_t> into(area.count);
  Samples raw, read, load, read_ratio, load_ratio;
  for (int round = 0; round <= c.rounds; ++round) {
    double read_rate = 0, load_rate = 0;
    if (bench.asks()) {
      bool good = true;
      const double start = seconds_now();
      for (size_t i = 0; i < area.count; i += page_words)
        good = static_cast<volatile const uint64_t*>(area.words)[i] == i && good;
      read_rate = static_cast<double>(bytes) / (seconds_now() - start);
      check(good, "sequential faults");
      check_counted(area.words, area.count, "sequential faults");
    }
    bench.drop();
    if (bench.asks()) {
      const double start = seconds_now();
      bench.preload(area);
      load_rate = static_cast<double>(bytes) / (seconds_now() - start);
      check_counted(area.words, area.count, "preload");
    }
    bench.drop();
    if (bench.asks()) {
      std::fill(into.begin(), into.end(), ~uint64_t{0});
      const double raw_rate = raw_get(bench, area, into);
      check_counted(into.data(), into.size(), "gets of 4 MiB");
      raw.add(raw_rate), read.add(read_rate), load.add(load_rate);
      read_ratio.add(read_rate / raw_rate), load_ratio.add(load_rate / raw_rate);
    }
    bench.meet();
  }
  bench.free(area);
  bench.report("raw GB/s", 1e-9 * raw.median());
  bench.report("sequential GB/s", 1e-9 * read.median());
  bench.report("preload GB/s", 1e-9 * load.median());
  bench.report("sequential / raw", read_ratio.median());
  bench.report("preload / raw", load_ratio.median());
}

// ---- barriers ------------------------------------------------------------------------------------------------------

void empty_barrier(Bench& bench, Case c) {
  Samples s;
  for (int round = 0; round <= c.rounds; ++round) {
    const double start = seconds_now();
    for (size_t k = 0; k < c.count; ++k) bench.barrier();
    s.add((seconds_now() - start) / static_cast<double>(c.count));
  }
  bench.report("empty us", 1e6 * s.median());
}

// Rank 0 has changed every byte of `count` pages of rank 1.
void dirty_barrier(Bench& bench, Case c) {
  const Area area = bench.make(c.count * page_bytes, 1);
  uint64_t flip = 0;  // what the words now are, xor their number
  Samples s, sent;
  for (int round = 0; round <= c.rounds; ++round) {
    flip = ~flip;
    if (bench.asks()) {
      bench.preload(area);
      for (size_t i = 0; i < area.count; ++i) area.words[i] = i ^ flip;
    }
    bench.meet();
    const uint64_t before = area.array->counters.bytes_sent;
    const double start = seconds_now();
    bench.barrier();
    s.add(seconds_now() - start);
    sent.add(static_cast<double>(area.array->counters.bytes_sent - before));
    bool good = true;
    for (size_t i = 0; i < area.count; ++i) good = good && area.words[i] == (i ^ flip);
    check(good, "a barrier with changed pages");
    bench.barrier();
  }
  bench.free(area);
  bench.report("dirty ms", 1e3 * s.median());
  bench.report("dirty bytes", sent.median());
}

// Rank 0 has written `count` pages of its own, no two of them neighbours, that rank 1 has copies of.
void notices_barrier(Bench& bench, Case c) {
  const Area area = bench.make(2 * c.count * page_bytes, 0);
  Samples s;
  for (uint64_t round = 0; round <= static_cast<uint64_t>(c.rounds); ++round) {
    bool good = true;
    if (!bench.asks()) bench.preload(area);
    for (size_t k = 0; k < 2 * c.count && !bench.asks(); ++k)
      good = area.words[k * page_words] == k * page_words + (k % 2 == 0 ? round : 0) && good;
    check(good, "a barrier with notices");
    bench.barrier();
    for (size_t k = 0; k < 2 * c.count && bench.asks(); k += 2) area.words[k * page_words] += 1;
    bench.meet();
    const double start = seconds_now();
    bench.barrier();
    s.add(seconds_now() - start);
  }
  bench.free(area);
  bench.report("notices ms", 1e3 * s.median());
}

// ---- ranks that only wait, and ranks that only start ---------------------------------------------------------------

double cpu_seconds() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Rank 0 sleeps outside the library for `count` seconds, and all others wait for it in a barrier.
void idle(Bench& bench, Case c) {
  bench.meet();
  const double start = seconds_now(), before = cpu_seconds();
  if (bench.asks()) {
    const timespec pause = {static_cast<time_t>(c.count), 0};
    nanosleep(&pause, nullptr);
  }
  bench.meet();
  const double part = (cpu_seconds() - before) / (seconds_now() - start);
  check(seconds_now() - start >= static_cast<double>(c.count), "nobody waited");
  const std::vector<uint64_t> parts = bench.exchange(static_cast<uint64_t>(1e9 * part));
  const uint64_t most = parts.size() < 2 ? 0 : *std::max_element(parts.begin() + 1, parts.end());
  bench.report("waiting %", 1e-7 * static_cast<double>(most));
  bench.report("sleeping %", 1e-7 * static_cast<double>(parts[0]));
}

void startup(Bench& bench, Case c) {
  const std::vector<uint64_t> ranks = bench.exchange(static_cast<uint64_t>(bench.memory().job().rank));
  check(ranks.size() == c.count, "this job has another number of ranks");
  for (size_t r = 0; r < ranks.size(); ++r) check(ranks[r] == r, "an exchange after the start");
  bench.report("ranks", static_cast<double>(ranks.size()));
}

constexpr struct {
  const char* name;
  void (*run)(Bench&, Case);
} cases[] = {{"put", put},
             {"put-8k", put_8k},
             {"get", get},
             {"put-bandwidth", put_bandwidth},
             {"get-bandwidth", get_bandwidth},
             {"put-again", put_again},
             {"get-again", get_again},
             {"faults", faults},
             {"sequential", sequential},
             {"empty-barrier", empty_barrier},
             {"dirty-barrier", dirty_barrier},
             {"notices-barrier", notices_barrier},
             {"idle", idle},
             {"startup", startup}};

int run(int argc, char** argv) {
  Options options;
  require(Options::from_environment(options));
  std::unique_ptr<Memory> memory;
  require(
      Memory::start(options, "the start of the benchmark", [](Transport&, const Job&) { return Status(); }, memory));
  Bench bench(std::move(memory));
  for (int i = 1; i + 2 < argc; i += 3) {
    bool known = false;
    for (const auto& c : cases) {
      if (std::strcmp(argv[i], c.name) != 0) continue;
      known = true;
      c.run(bench, {static_cast<size_t>(std::atol(argv[i + 1])), std::atoi(argv[i + 2])});
    }
    if (!known) end_job(2, "there is no case '%s'", argv[i]);
  }
  bench.finish();
  return 0;
}

}  // namespace

}  // namespace hiroba

int main(int argc, char** argv) {
  if (argc < 4 || (argc - 1) % 3 != 0) {
    std::fprintf(stderr, "usage: transport_ours CASE COUNT ROUNDS [CASE COUNT ROUNDS ...]; cases:");
    for (const auto& c : hiroba::cases) std::fprintf(stderr, " %s", c.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  return hiroba::run(argc, argv);
}
