// Transactions against sequential oracles: `transactions random TRANSACTIONS THREADS SEED` runs random ones in all
// ranks; an order of all that have committed must explain what each has read, and the end. `transactions features`
// tries the calls of transaction.h and transaction.hpp; `transactions stream` has output in one.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <queue>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "heap.hpp"
#include "sms.h"
#include "transaction.hpp"

namespace {

[[noreturn]] void wrong(const std::string& what) {
  std::printf("rank %d: wrong: %s\n", sms_rank, what.c_str());
  std::fflush(stdout);
  std::_Exit(3);
}
void expect(bool right, const char* what) {
  if (!right) wrong(what);
}

template <typename T>
T* shared_array(int elements) {
  const int dim[] = {elements, -1}, div[] = {sms_nprocs, -1};
  return static_cast<T*>(sms_mapalloc(dim, div, sizeof(T), 0, sms_nprocs));
}

// ---- random transactions -------------------------------------------------------------------------------------------

// The version counts the transactions that have written the variable. The check is a function of both others; the
// deltas of all variables add up to 0. So each attempt can see whether it sees values of one moment.
struct Variable {
  int64_t version, delta, check;
};
constexpr int variables = 24, spread = 256, most_uses = 6;  // variables lie on several pages and homes
struct Record {
  int32_t uses;
  struct Use {
    int32_t variable, writes;
    int64_t version;
  } use[most_uses];
};

int64_t check_of(int variable, const Variable& v) { return v.version * 1000003 + v.delta * 31 + variable; }

Variable load(Variable* at, int variable) {
  Variable v;
  v.version = hiroba_tx_load_int64(&at->version), v.delta = hiroba_tx_load_int64(&at->delta);
  v.check = hiroba_tx_load_int64(&at->check);
  if (v.check != check_of(variable, v)) wrong("an attempt has seen half of another transaction");
  return v;
}

void store(Variable* at, int variable, Variable v) {
  v.check = check_of(variable, v);
  hiroba_tx_write(at, &v, sizeof v);
}

Record transact(std::vector<Variable*>& all, std::mt19937_64& random) {
  const bool sum = random() % 8 == 0;
  const int uses = 1 + static_cast<int>(random() % most_uses), first = static_cast<int>(random() % variables);
  const int step = 1 + static_cast<int>(random() % 5), writes = static_cast<int>(random() % (uses + 1));
  const auto change = static_cast<int64_t>(random() % 100);
  const bool alone = random() % 200 == 0;
  return hiroba::atomically([&] {
    Record record = {};
    if (alone) hiroba::irrevocable();
    if (sum) {
      int64_t total = 0;
      for (int i = 0; i < variables; ++i) total += load(all[i], i).delta;
      if (total != 0) wrong("an attempt has seen values of two moments");
      return record;
    }
    record.uses = uses;
    int64_t rest = 0;
    for (int i = 0; i < uses; ++i) {
      const int number = (first + i * step) % variables;
      Variable v = load(all[number], number);
      const bool write = i < writes && writes > 1;
      record.use[i] = {number, write, v.version};
      if (!write) continue;
      const int64_t mine = i + 1 == writes ? -rest : change + i;
      rest += mine, ++v.version, v.delta += mine;
      store(all[number], number, v);
    }
    return record;
  });
}

// A graph with an edge from each transaction to those that must come after it; it must have no circle.
class History {
 public:
  explicit History(const std::vector<std::vector<Record>>& threads) : after_(count(threads)), writer_(variables) {
    int id = 0;
    for (const auto& thread : threads)
      for (const Record& record : thread) {
        for (int i = 0; i < record.uses; ++i)
          if (record.use[i].writes != 0) add_writer(record.use[i].variable, record.use[i].version + 1, id);
        ++id;
      }
    id = 0;
    for (const auto& thread : threads)
      for (size_t i = 0; i < thread.size(); ++i, ++id) {
        if (i > 0) after_[static_cast<size_t>(id) - 1].push_back(id);
        for (int use = 0; use < thread[i].uses; ++use) connect(thread[i].use[use], id);
      }
  }
  bool has_order() const {
    std::vector<int> before(after_.size());
    for (const auto& later : after_)
      for (const int id : later) ++before[static_cast<size_t>(id)];
    std::queue<int> next;
    for (size_t id = 0; id < before.size(); ++id)
      if (before[id] == 0) next.push(static_cast<int>(id));
    size_t ordered = 0;
    for (; !next.empty(); next.pop(), ++ordered)
      for (const int id : after_[static_cast<size_t>(next.front())])
        if (--before[static_cast<size_t>(id)] == 0) next.push(id);
    return ordered == after_.size();
  }
  int64_t last_version(int variable) const { return static_cast<int64_t>(writer_[variable].size()) - 1; }

 private:
  static size_t count(const std::vector<std::vector<Record>>& threads) {
    size_t sum = 0;
    for (const auto& thread : threads) sum += thread.size();
    return sum;
  }
  void add_writer(int variable, int64_t version, int id) {
    auto& writers = writer_[static_cast<size_t>(variable)];
    if (static_cast<int64_t>(writers.size()) <= version) writers.resize(static_cast<size_t>(version) + 1, -1);
    int& writer = writers[static_cast<size_t>(version)];
    if (writer >= 0) wrong("two transactions have written the same version: an update is lost");
    writer = id;
  }
  void connect(const Record::Use& use, int id) {
    const auto& writers = writer_[static_cast<size_t>(use.variable)];
    const auto seen = static_cast<size_t>(use.version);
    if (use.version > 0) {
      if (seen >= writers.size() || writers[seen] < 0) wrong("a transaction has read what none has written");
      after_[static_cast<size_t>(writers[seen])].push_back(id);
    }
    if (use.writes == 0 && seen + 1 < writers.size() && writers[seen + 1] >= 0)
      after_[static_cast<size_t>(id)].push_back(writers[seen + 1]);
  }

  std::vector<std::vector<int>> after_;
  std::vector<std::vector<int>> writer_;  // by variable and version
};

void random_transactions(int each, int threads, unsigned seed) {
  auto* const memory = shared_array<Variable>(variables * spread);
  const int lists = sms_nprocs * threads;
  auto* const records = shared_array<Record>(lists * each);
  std::vector<Variable*> all(variables);
  for (int i = 0; i < variables; ++i) all[static_cast<size_t>(i)] = &memory[i * spread];
  if (sms_rank == 0)
    for (int i = 0; i < variables; ++i) all[static_cast<size_t>(i)]->check = check_of(i, {});
  sms_barrier();
  std::vector<std::vector<Record>> own(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      std::mt19937_64 random(seed * 7919U + static_cast<unsigned>(sms_rank * threads + t));
      for (int i = 0; i < each; ++i) own[static_cast<size_t>(t)].push_back(transact(all, random));
    });
  for (std::thread& thread : running) thread.join();
  for (int t = 0; t < threads; ++t)
    std::memcpy(&records[(sms_rank * threads + t) * each], own[static_cast<size_t>(t)].data(),
                static_cast<size_t>(each) * sizeof(Record));
  sms_barrier();
  if (sms_rank == 0) {
    std::vector<std::vector<Record>> histories;
    for (int list = 0; list < lists; ++list)
      histories.emplace_back(&records[list * each], &records[list * each] + each);
    const History history(histories);
    expect(history.has_order(), "no order of the transactions explains what they have read");
    int64_t sum = 0;
    for (int i = 0; i < variables; ++i) {
      const Variable& v = *all[static_cast<size_t>(i)];
      sum += v.delta;
      expect(v.check == check_of(i, v), "a variable is half written");
      if (history.last_version(i) >= 0) expect(v.version == history.last_version(i), "the last write is not there");
    }
    expect(sum == 0, "the sum has changed");
  }
  sms_barrier();
}

// ---- features ------------------------------------------------------------------------------------------------------

struct Node {
  hiroba::shared_value<Node*> next;
  hiroba::shared_value<int64_t> value;
};
struct Shared {
  hiroba::shared_value<int64_t> a, b, queue, total;
  hiroba::shared_value<Node*> list;
  int8_t bytes[16];
  double real;
};

void widths(Shared* s) {
  hiroba::atomically([&] {
    for (int i = 0; i < 16; ++i) hiroba_tx_store_int8(&s->bytes[i], static_cast<int8_t>(i * 3 - 20));
    hiroba_tx_store_double(&s->real, 2.5);
    char copy[9];
    hiroba_tx_read(copy, s->bytes + 3, sizeof copy);  // across words, of this transaction's stores
    for (int i = 0; i < 9; ++i) expect(copy[i] == (i + 3) * 3 - 20, "a load misses a store of its transaction");
    const char more[5] = {1, 2, 3, 4, 5};
    hiroba_tx_write(s->bytes + 6, more, sizeof more);
    expect(hiroba_tx_load_int8(&s->bytes[7]) == 2 && hiroba_tx_load_int8(&s->bytes[5]) == -5, "bytes are mixed up");
  });
  expect(hiroba_tx_load_double(&s->real) == 2.5 && hiroba_tx_load_int8(&s->bytes[10]) == 5, "a commit lost bytes");
}

void aborts(Shared* s) {
  s->a = 1;
  static int undone;
  undone = 0;
  try {
    hiroba::atomically([&] {
      s->a = 2;
      hiroba_tx_on_abort([](void*) { ++undone; }, nullptr);
      hiroba::abort(7);
    });
    wrong("an abort is not thrown");
  } catch (const hiroba::transaction_aborted& aborted) {
    expect(aborted.value == 7 && s->a == 1 && undone == 1, "an abort is not complete");
  }
  try {
    hiroba::atomically([&] { s->a = 3, throw 5; }, hiroba::commit_on_exception);
  } catch (int value) {
    expect(value == 5 && s->a == 3, "an exception that commits");
  }
  hiroba::atomically([&] {
    s->b = 1;
    try {
      hiroba::nested([&] { s->b = 2, s->a = 9, throw 1; });
    } catch (int) {
    }
    expect(s->b == 1 && s->a == 3, "a nested transaction is not undone alone");
  });
  expect(hiroba::or_else(
             [&] {
               s->a = 4, hiroba::retry();
               return 1;
             },
             [&] { return s->a == 3 ? 2 : 3; }) == 2,
         "or_else");
}

// Half of the ranks' threads put, half take; each waits for the other by retry.
void queue(Shared* s, int each) {
  sms_barrier();
  std::thread puts([&] {
    for (int i = 0; i < each; ++i)
      hiroba::atomically([&] {
        if (s->queue >= 3) hiroba::retry();
        s->queue += 1;
      });
  });
  for (int i = 0; i < each; ++i)
    hiroba::atomically([&] {
      if (s->queue == 0) hiroba::retry();
      s->queue -= 1, s->total += 1;
    });
  puts.join();
  sms_barrier();
  expect(s->queue == 0 && s->total == int64_t{sms_nprocs} * each, "the queue");
}

// Nodes are allocated, published, made private again, used without transactions there, and freed.
void list(Shared* s, int each) {
  for (int i = 0; i < each; ++i) {
    hiroba::atomically([&] {
      Node* const node = static_cast<Node*>(hiroba_tx_malloc(sizeof(Node)));
      node->value = sms_rank * each + i, node->next = s->list;
      s->list = node;
    });
    Node* const taken = hiroba::atomically([&] {
      Node* const first = s->list;
      if (first != nullptr) s->list = first->next;
      return first;
    });
    if (taken == nullptr) wrong("a list that cannot be empty");
    if (sms_nnodes > 1) hiroba_tx_fence();
    const int64_t value = taken->value.plain();
    taken->value.plain() = -1;
    expect(value >= 0 && value < int64_t{sms_nprocs} * each, "a node that is private is in use");
    if (sms_nnodes > 1) hiroba_tx_fence();
    hiroba::atomically([&] { s->total += value, hiroba_tx_free(taken); });
  }
  sms_barrier();
  const int64_t all = int64_t{sms_nprocs} * each;
  expect(s->list.plain() == nullptr && s->total == all * (all - 1) / 2, "the list");
}

void features() {
  auto* const own = shared_array<Shared>(sms_nprocs * 64);
  sms_barrier();
  const int next = (sms_rank + 1) % sms_nprocs;  // the home is likely elsewhere
  widths(&own[next * 64]);
  aborts(&own[next * 64]);
  sms_barrier();
  queue(&own[1], 20);
  sms_barrier();
  if (sms_rank == 0) own[1].total = 0;
  sms_barrier();
  list(&own[1], 20);
  static int committed;
  hiroba::atomically([&] {
    hiroba::irrevocable();
    own[2].a += 1;
    hiroba_tx_on_commit([](void*) { ++committed; }, nullptr);
  });
  sms_barrier();
  expect(committed == 1 && own[2].a.plain() == sms_nprocs, "irrevocable transactions");
  sms_barrier();
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (argc > 1 && std::strcmp(argv[1], "random") == 0)
    random_transactions(std::atoi(argv[2]), std::atoi(argv[3]), static_cast<unsigned>(std::atoi(argv[4])));
  else if (argc > 1 && std::strcmp(argv[1], "stream") == 0) hiroba::atomically([] { std::cout << "refused\n"; });
  else features();
  hiroba_tx_statistics counts;
  hiroba_tx_stats(&counts);
  uint64_t sum = 0;
  for (const uint64_t count : counts.histogram) sum += count;
  expect(sum == counts.commits && counts.commits > 0, "the counts");
  if (sms_rank == 0) std::printf("done\n");
  sms_shutdown();
}
