// Records what transactions do, for history.py to judge: `transactions_history FOLDER TRANSACTIONS THREADS SEED` in all
// ranks. Each thread writes a file of records: words of 8 bytes, of which the first says which record it is.
//
// Values of variables are different: of the writer, and, in the first part, with the number of writes of the variable
// before. In the second part threads meet in rounds of few transactions, which may store without a load.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sms.h"
#include "transaction.hpp"

namespace {

enum Tag : int64_t { before = 1, begin, read, written, committed, aborted, round_begins };
constexpr int variables = 8, spread = 64, most_uses = 4, small_variables = 2, small_each = 2, part_bits = 32;

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

struct Step {
  int variable;
  bool writes, blind;
};

class Recorder {
 public:
  Recorder(int64_t* shared, int number, unsigned seed) : shared_(shared), number_(number), random_(seed) {}

  void transact(bool small) {
    std::vector<Step> steps(1 + random_() % most_uses);
    for (Step& step : steps) {
      step.variable = static_cast<int>(random_() % (small ? small_variables : variables));
      step.writes = random_() % 2 == 0, step.blind = small && random_() % 2 == 0;
    }
    const bool all = !small && random_() % 8 == 0, gives_up = random_() % 32 == 0;
    add(before, now());
    try {
      hiroba::atomically([&] {
        add(begin, now());
        if (all)
          for (int i = 0; i < variables; ++i) load(i);
        else
          for (const Step& step : steps) use(step);
        if (gives_up) hiroba::abort(1);
      });
      add(committed, now());
    } catch (const hiroba::transaction_aborted&) {
      add(aborted, now());
    }
  }
  void begin_round(int number) { add(round_begins, number); }

  void write(const std::string& folder) const {
    std::FILE* const file = std::fopen((folder + "/" + std::to_string(number_)).c_str(), "wb");
    if (file == nullptr || std::fwrite(words_.data(), 8, words_.size(), file) != words_.size()) std::abort();
    std::fclose(file);
  }

 private:
  int64_t load(int variable) {
    const int64_t value = hiroba_tx_load_int64(&shared_[variable * spread]);
    add(read, variable, value);
    return value;
  }
  // A value: how many writes came before, the thread, and which of its writes it is.
  void use(const Step& step) {
    const int64_t old = step.blind ? 0 : load(step.variable);
    if (!step.writes) return;
    const int64_t version = step.blind ? 0 : (old >> 40) + 1;
    const int64_t value = version << 40 | static_cast<int64_t>(number_) << part_bits | ++writes_;
    hiroba_tx_store_int64(&shared_[step.variable * spread], value);
    add(written, step.variable, value);
  }
  void add(Tag tag, int64_t first, int64_t second = 0) { words_.insert(words_.end(), {tag, first, second}); }

  int64_t* shared_;
  int number_;
  uint32_t writes_ = 0;
  std::mt19937 random_;
  std::vector<int64_t> words_;
};

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (argc != 5) sms_abort(2, "transactions_history FOLDER TRANSACTIONS THREADS SEED");
  const int each = std::atoi(argv[2]), threads = std::atoi(argv[3]), rounds = each / 8;
  const int dim[] = {variables * spread, -1}, div[] = {sms_nprocs, -1};
  auto* const shared = static_cast<int64_t*>(sms_mapalloc(dim, div, sizeof(int64_t), 0, sms_nprocs));
  std::vector<Recorder> recorders;
  for (int t = 0; t < threads; ++t) {
    const int number = 1 + sms_rank * threads + t;
    recorders.emplace_back(shared, number, static_cast<unsigned>(std::atoi(argv[4]) * 1000 + number));
  }
  sms_barrier();
  const auto run = [&](int count, bool small) {
    std::vector<std::thread> running;
    for (Recorder& recorder : recorders)
      running.emplace_back([&recorder, count, small] {
        for (int i = 0; i < count; ++i) recorder.transact(small);
      });
    for (std::thread& thread : running) thread.join();
    sms_barrier();
  };
  run(each, false);
  for (int round = 0; round < rounds; ++round) {
    if (sms_rank == 0)
      for (int i = 0; i < small_variables; ++i) shared[i * spread] = 0;
    sms_barrier();
    for (Recorder& recorder : recorders) recorder.begin_round(round);
    run(small_each, true);
  }
  for (const Recorder& recorder : recorders) recorder.write(argv[1]);
  sms_shutdown();
}
