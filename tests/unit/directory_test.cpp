// Sequences of tasks through a directory and a crew: each task sees what the sequential program would have shown it.
#include "task/flow/directory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdlib>
#include <deque>
#include <random>

#include "crew_here.hpp"

namespace hiroba {
namespace {

using Number = uint64_t;

constexpr int rows = 12, columns = 16, tile_rows = 4, tile_columns = 4;

Number mix(Number x, Number y) {
  x = (x ^ y) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

struct Box {
  int row, column, rows, columns;
};

struct Access {
  TaskAccess::Mode mode;
  Box box;
  bool by_tile;
};

struct Step {
  Number id;
  std::vector<Access> accesses;
  std::vector<Step> children;
  int priority = 0;
};

struct Matrix {
  Number cell[rows][columns] = {};
  std::atomic<bool> busy[rows][columns] = {};  // a task with commutative access is at it
  std::atomic<int> overlaps{0};                // of these

  template <typename Visit>
  void for_each(const Box& b, const Visit& visit) {
    for (int i = b.row; i < b.row + b.rows; ++i)
      for (int j = b.column; j < b.column + b.columns; ++j) visit(i, j);
  }
  // A task; the rest of it are its children.
  void perform(const Step& step) {
    Number seen = step.id;
    for (const Access& a : step.accesses)
      if (a.mode == TaskAccess::in || a.mode == TaskAccess::inout)
        for_each(a.box, [&](int i, int j) { seen = mix(seen, cell[i][j]); });
    for (const Access& a : step.accesses) for_each(a.box, [&](int i, int j) { change(step, a.mode, seen, i, j); });
  }

 private:
  void change(const Step& step, TaskAccess::Mode mode, Number seen, int i, int j) {
    const auto place = static_cast<Number>(i * columns + j);
    Number& x = cell[i][j];
    if (mode == TaskAccess::out || mode == TaskAccess::inout) x = mix(seen, place);
    if (mode == TaskAccess::concurrent) std::atomic_ref(x).fetch_add(step.id, std::memory_order_relaxed);
    if (mode != TaskAccess::commutative) return;
    if (busy[i][j].exchange(true, std::memory_order_relaxed)) ++overlaps;
    x += step.id;
    busy[i][j].store(false, std::memory_order_relaxed);
  }
};

TaskSection section_of(Matrix& m, const Box& b) {
  TaskSection out(&m.cell[b.row][b.column], static_cast<size_t>(b.columns) * sizeof(Number));
  out.dims = 1, out.count[0] = b.rows, out.stride[0] = columns * sizeof(Number);
  return out;
}

Box tile_of(const Box& b) {
  return {b.row / tile_rows * tile_rows, b.column / tile_columns * tile_columns, tile_rows, tile_columns};
}

// Runs a step, and within it its children, which have a directory of their own.
void create(Worker& worker, Domain& domain, Directory& directory, Matrix& m, const Step& step) {
  std::vector<TaskAccess> accesses;
  std::deque<TaskSection> tiles;
  for (const Access& a : step.accesses) {
    TaskAccess access = {a.mode, nullptr, section_of(m, a.box)};
    if (a.by_tile) access.tile = &tiles.emplace_back(section_of(m, tile_of(a.box)));
    accesses.push_back(access);
  }
  const auto body = [&m, &step] {
    m.perform(step);
    if (step.children.empty()) return;
    Worker& here = *Crew::here();
    Domain& own = Crew::children_of(*here.current());
    own.sequence = std::make_shared<Directory>();
    for (const Step& child : step.children) create(here, own, *static_cast<Directory*>(own.sequence.get()), m, child);
  };
  run_with_accesses(worker, domain, directory, accesses, body, step.priority);
}

void perform_all(Matrix& m, const Step& step) {
  m.perform(step);
  for (const Step& child : step.children) perform_all(m, child);
}

class RandomSteps {
 public:
  explicit RandomSteps(uint64_t seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  // What is added to data in any order is used for nothing else by the same task.
  Step step(bool with_children) {
    Step out = {random_() | 1, {}, {}, below(8) == 0 ? below(4) : 0};
    const int n = 1 + below(3);
    for (int i = 0; i < n; ++i) {
      const Access a = access();
      const bool clashes = std::any_of(out.accesses.begin(), out.accesses.end(), [&](const Access& b) {
        return std::max(a.mode, b.mode) > TaskAccess::inout && meet(tile_of_all(a.box), tile_of_all(b.box));
      });
      if (!clashes) out.accesses.push_back(a);
    }
    if (with_children && below(10) == 0) add_children(out);
    return out;
  }

 private:
  // With the accesses of the parent, or parts of them.
  void add_children(Step& parent) {
    const int n = 1 + below(12);
    for (int i = 0; i < n; ++i) {
      Access a = parent.accesses[static_cast<size_t>(below(static_cast<int>(parent.accesses.size())))];
      if (a.box.rows > 1 && below(2) == 0) a.box.rows = 1 + below(a.box.rows - 1);
      parent.children.push_back({random_() | 1, {a}, {}});
    }
  }
  static Box tile_of_all(const Box& b) {
    const Box first = tile_of(b), last = tile_of({b.row + b.rows - 1, b.column + b.columns - 1, 1, 1});
    return {first.row, first.column, last.row + tile_rows - first.row, last.column + tile_columns - first.column};
  }
  static bool meet(const Box& a, const Box& b) {
    return a.row < b.row + b.rows && b.row < a.row + a.rows && a.column < b.column + b.columns &&
           b.column < a.column + a.columns;
  }
  Access access() {
    constexpr std::array modes = {TaskAccess::in,    TaskAccess::in,          TaskAccess::in,        TaskAccess::out,
                                  TaskAccess::inout, TaskAccess::commutative, TaskAccess::concurrent};
    const TaskAccess::Mode mode = modes[static_cast<size_t>(below(modes.size()))];
    Box box = {below(rows), below(columns), 1, 1};
    if (below(2) == 0) {
      box = tile_of(box);
      if (below(2) == 0) return {mode, box, true};
      if (below(2) == 0) box.rows = 1;  // an edge
      return {mode, box, true};
    }
    box.rows = 1 + below(std::min(6, rows - box.row)), box.columns = 1 + below(columns - box.column);
    return {mode, box, false};
  }

  std::mt19937_64 random_;
};

void run_program(uint64_t seed, int threads, size_t window, int tasks) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << threads << " threads (DIRECTORY_SEED=" << seed << ")");
  RandomSteps random(seed);
  CrewHere here(threads, window);
  Directory directory;
  Matrix real, mirror;
  std::deque<Step> steps;
  for (int phase = 0; phase < 2; ++phase) {
    for (int t = 0; t < tasks; ++t) {
      const Step& step = steps.emplace_back(random.step(true));
      perform_all(mirror, step);
      create(here.worker(), here.domain, directory, real, step);
    }
    here.wait();
    directory.clear();
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        ASSERT_EQ(mirror.cell[i][j], real.cell[i][j]) << "phase " << phase << ", element " << i << ", " << j;
    ASSERT_EQ(0, real.overlaps.load()) << "tasks with commutative access ran at once";
  }
}

class DirectoryTest : public testing::TestWithParam<int> {};

TEST_P(DirectoryTest, RandomProgramsGiveWhatTheSequentialOneGives) {
  const char* const given = std::getenv("DIRECTORY_SEED");
  if (given != nullptr) return run_program(std::strtoull(given, nullptr, 10), GetParam(), 8192, 150);
  for (uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed)
    run_program(seed * 10 + static_cast<uint64_t>(GetParam()), GetParam(), 8192, 150);
}

TEST_P(DirectoryTest, AlsoWithASmallWindow) {
  for (uint64_t seed = 1001; seed <= 1004 && !HasFailure(); ++seed) run_program(seed, GetParam(), 64, 1500);
}

INSTANTIATE_TEST_SUITE_P(Threads, DirectoryTest, testing::Values(1, 2, 4));

// ---- edges ---------------------------------------------------------------------------------------------------------

TaskAccess access(TaskAccess::Mode mode, Number& x) { return {mode, nullptr, TaskSection(&x, sizeof x)}; }

TEST(DirectoryEdges, ATaskMayWaitForManyMoreThanANodeHasEdges) {
  for (const int readers : {1, 7, 8, 9, 15, 16, 200}) {
    CrewHere here(1);  // which runs nothing before it waits
    Directory directory;
    Number x = 0;
    int ended = 0, seen = -1;
    const auto run = [&](TaskAccess::Mode mode, const TaskFunction& f) {
      run_with_accesses(here.worker(), here.domain, directory, {access(mode, x)}, f);
    };
    for (int i = 0; i < readers; ++i) run(TaskAccess::in, [&] { ++ended; });
    run(TaskAccess::inout, [&] { seen = ended; });
    here.wait();
    EXPECT_EQ(readers, seen);
  }
}

// The window is so full that the thread runs a predecessor while it makes room for more edges: the node that it then
// gets is that of the predecessor.
TEST(DirectoryEdges, APredecessorThatEndsWhileEdgesAreAddedIsNoLongerOne) {
  CrewHere here(1, 64);
  Directory directory;
  constexpr size_t nodes = 511;  // the pool has one more
  std::vector<Number> x(nodes);
  for (Number& one : x)
    run_with_accesses(here.worker(), here.domain, directory, {access(TaskAccess::out, one)}, [&one] { one = 1; });
  std::vector<TaskAccess> reads;
  for (size_t i = 1; i < Task::most_edges; ++i) reads.push_back(access(TaskAccess::in, x[i]));
  reads.push_back(access(TaskAccess::in, x[0]));  // the oldest, which runs first
  Number sum = 0;
  run_with_accesses(here.worker(), here.domain, directory, reads, [&] {
    for (size_t i = 0; i < Task::most_edges; ++i) sum += x[i];
  });
  const double end = seconds_now() + 5;
  here.worker().work_until([&] { return here.domain.ended.load() == here.domain.created || seconds_now() > end; });
  ASSERT_EQ(here.domain.created, here.domain.ended.load()) << "a task waits for itself";
  EXPECT_EQ(Task::most_edges, sum);
}

TEST(DirectoryEdges, TheWindowBoundsTheTasksThatHaveNotEnded) {
  CrewHere here(1, 1024);
  Directory directory;
  Number x = 0;
  int64_t begun = 0, ended = 0, most = 0;
  for (int i = 0; i < 20000; ++i) {
    ++begun;
    run_with_accesses(here.worker(), here.domain, directory, {access(TaskAccess::inout, x)}, [&] { ++ended, ++x; });
    most = std::max(most, begun - ended);
  }
  here.wait();
  EXPECT_EQ(20000u, x);
  EXPECT_LE(most, 1024);
}

TEST(DirectoryEdges, AListOfTasksForgetsThoseThatHaveEnded) {
  CrewHere here(1, 512);
  Directory directory;
  Number x = 0;
  Entry& entry = directory.find(TaskSection(&x, sizeof x));
  for (int i = 0; i < 20000; ++i)
    run_with_accesses(here.worker(), here.domain, directory, {access(TaskAccess::in, x)}, [] {});
  EXPECT_LE(entry.users.size(), 2000u);
  here.wait();
}

TEST(DirectoryEdges, ASectionIsFoundAgainAmongThousands) {
  Directory directory;
  std::vector<Number> x(5000);
  std::vector<Entry*> entries;
  for (Number& one : x) entries.push_back(&directory.find(TaskSection(&one, sizeof one)));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(entries[i], &directory.find(TaskSection(&x[i], sizeof x[i])));
  EXPECT_EQ(x.size(), directory.size());
  const Entry& all = directory.find(TaskSection(x.data(), x.size() * sizeof x[0]));
  EXPECT_EQ(x.size(), all.others.size());
}

// ---- modes ---------------------------------------------------------------------------------------------------------

TEST(DirectoryModes, CommutativeTasksExcludeOneAnotherInAllTheirSections) {
  CrewHere here(4);
  Directory directory;
  std::array<Number, 3> x = {};
  std::array<std::atomic<bool>, 3> busy = {};
  std::atomic<int> overlaps{0};
  for (size_t i = 0; i < 9 * 300; ++i) {
    std::vector<size_t> used = {i % 3};
    if (i / 3 % 3 != used[0]) used.push_back(i / 3 % 3);
    std::vector<TaskAccess> accesses;
    for (const size_t k : used) accesses.push_back(access(TaskAccess::commutative, x[k]));
    run_with_accesses(here.worker(), here.domain, directory, accesses, [&, used] {
      for (const size_t k : used)
        if (busy[k].exchange(true, std::memory_order_relaxed)) ++overlaps;
        else ++x[k];
      for (const size_t k : used) busy[k].store(false, std::memory_order_relaxed);
    });
  }
  here.wait();
  EXPECT_EQ(0, overlaps.load());
  for (const Number n : x) EXPECT_EQ(5u * 300, n);
}

TEST(DirectoryModes, ConcurrentTasksRunAtOnce) {
  CrewHere here(2);
  Directory directory;
  Number x = 0;
  std::atomic<int> inside{0};
  for (int i = 0; i < 2; ++i)
    run_with_accesses(here.worker(), here.domain, directory, {access(TaskAccess::concurrent, x)}, [&] {
      ++inside;
      for (const double end = seconds_now() + 20; inside.load() < 2 && seconds_now() < end;) sched_yield();
    });
  here.wait();
  EXPECT_EQ(2, inside.load());
}

TEST(DirectoryModes, TheGreatestPriorityRunsFirst) {
  CrewHere here(1);
  std::vector<int> order;
  Task& gate = here.create([] {});
  for (const int priority : {0, 3, 1, 7, 2, 0, 5}) {
    Task& task = here.create([&order, priority] { order.push_back(priority); }, priority);
    Wiring wiring(here.worker(), task);
    wiring.after(TaskRef(&gate));
    wiring.submit();
  }
  here.submit(gate);
  here.wait();
  EXPECT_EQ((std::vector<int>{7, 5, 3, 2, 1, 0, 0}), order);
}

// Each task has data of its own: entries of tasks that have ended go, and what is under way keeps its edges, to entries
// that overlap, too.
TEST(DirectoryTest, ForgetsDataOfTasksThatHaveEnded) {
  constexpr size_t n = 300000;
  CrewHere here(3, 512);
  Directory directory;
  std::vector<int> x(n), whole(4);
  std::atomic<int> started{0}, wrong{0};
  std::atomic<bool> go{false};
  const auto held = [&] {
    ++started;
    while (!go.load()) sched_yield();
    whole[1] = 1;
  };
  const auto access = [](int* at, size_t count) {
    return TaskAccess{TaskAccess::inout, nullptr, TaskSection(at, count * sizeof *at)};
  };
  run_with_accesses(here.worker(), here.domain, directory, {access(&whole[1], 1)}, held);
  while (started.load() == 0) sched_yield();  // by another thread than this one
  for (size_t i = 0; i < n; ++i) {
    run_with_accesses(here.worker(), here.domain, directory, {access(&x[i], 1)}, [&x, i] { x[i] = 1; });
    ASSERT_LE(directory.size(), size_t{1} << 15);
  }
  EXPECT_EQ(n + 1, directory.added());
  run_with_accesses(here.worker(), here.domain, directory, {access(whole.data(), 4)}, [&] { wrong += whole[1] != 1; });
  go.store(true);
  here.wait();
  EXPECT_EQ(0, wrong.load());
  EXPECT_EQ(static_cast<long>(n), std::count(x.begin(), x.end(), 1));
}

}  // namespace
}  // namespace hiroba
