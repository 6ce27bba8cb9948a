// Random programs of tasks against a sequential oracle: every rank performs each task at once on a private mirror of
// all data, and creates it; after a wait, shared and mirrored data are equal on every rank. A program is made from its
// seed alone, which is printed with what differs.
#include <task.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <vector>

#include "programs.h"

namespace {

using Number = uint64_t;

// A section of an array, in elements.
struct Box {
  int array;
  int64_t row, column, rows, columns;
};

struct Access {
  int mode;
  Box box;
  bool by_tile;
  hiroba_op op = HIROBA_SUM;  // of a reduction
};

struct Array {
  int64_t rows, columns, tile_rows, tile_columns;
  Number* shared = nullptr;  // null: private to each rank
  std::vector<Number> own;   // the private one
  std::vector<Number> mirror;
  Number* data() { return shared != nullptr ? shared : own.data(); }
};

struct Step {
  uint64_t id;
  std::vector<Access> accesses;
  int children, on, priority;
};

std::vector<Array> arrays;

template <typename Visit>
void for_each(const Box& box, Number* base, const Visit& visit) {
  const int64_t columns = arrays[static_cast<size_t>(box.array)].columns;
  for (int64_t i = 0; i < box.rows; ++i)
    for (int64_t j = 0; j < box.columns; ++j)
      visit(base[(box.row + i) * columns + box.column + j], i * box.columns + j);
}

Number reduced(hiroba_op op, Number x, Number y) {
  if (op == HIROBA_SUM) return x + y;
  if (op == HIROBA_PROD) return x * y;
  if (op == HIROBA_MAX) return std::max(x, y);
  if (op == HIROBA_MIN) return std::min(x, y);
  return op == HIROBA_BXOR ? x ^ y : x & y;
}

// What the task computes, on shared or on mirrored memory.
void perform(const Step& step, bool mirrored) {
  const auto base = [&](const Access& a) {
    Array& array = arrays[static_cast<size_t>(a.box.array)];
    if (!mirrored && a.mode == HIROBA_REDUCTION)
      return static_cast<Number*>(hiroba_task_part(static_cast<int>(&a - step.accesses.data()), array.data()));
    return mirrored ? array.mirror.data() : array.data();
  };
  Number seen = mix(step.id);
  for (const Access& a : step.accesses)
    if (a.mode == HIROBA_IN || a.mode == HIROBA_INOUT)
      for_each(a.box, base(a), [&](Number& x, int64_t) { seen = mix2(seen, x); });
  for (const Access& a : step.accesses) {
    if (a.mode == HIROBA_OUT)
      for_each(a.box, base(a), [&](Number& x, int64_t k) { x = mix2(seen, static_cast<Number>(k)); });
    else if (a.mode == HIROBA_INOUT)
      for_each(a.box, base(a), [&](Number& x, int64_t k) { x = mix2(seen, x + static_cast<Number>(k)); });
    else if (a.mode == HIROBA_COMMUTATIVE) for_each(a.box, base(a), [&](Number& x, int64_t) { x += mix(step.id); });
    else if (a.mode == HIROBA_REDUCTION)
      for_each(a.box, base(a), [&](Number& x, int64_t k) { x = reduced(a.op, x, mix2(seen, static_cast<Number>(k))); });
  }
}

hiroba_section section_of(const Box& box) {
  Array& array = arrays[static_cast<size_t>(box.array)];
  return hiroba_use_box(0, array.data() + box.row * array.columns + box.column,
                        static_cast<size_t>(box.columns) * sizeof(Number), box.rows,
                        array.columns * static_cast<int64_t>(sizeof(Number)))
      .section;
}

int random_mode(rng& r) {
  static const int modes[] = {HIROBA_IN,    HIROBA_IN,    HIROBA_IN,          HIROBA_OUT,
                              HIROBA_INOUT, HIROBA_INOUT, HIROBA_COMMUTATIVE, HIROBA_REDUCTION};
  return modes[rng_int(&r, 8)];
}

// The tile that has an element.
Box tile_at(int array, int64_t row, int64_t column) {
  const Array& a = arrays[static_cast<size_t>(array)];
  const int64_t i = row / a.tile_rows * a.tile_rows, j = column / a.tile_columns * a.tile_columns;
  return {array, i, j, std::min(a.tile_rows, a.rows - i), std::min(a.tile_columns, a.columns - j)};
}

Access random_access(rng& r, bool tiled) {
  const int array = rng_int(&r, static_cast<int>(arrays.size()));
  const Array& a = arrays[static_cast<size_t>(array)];
  Access out = {random_mode(r),
                {array, rng_int(&r, static_cast<int>(a.rows)), rng_int(&r, static_cast<int>(a.columns)), 1, 1},
                tiled};
  if (out.mode == HIROBA_REDUCTION) {
    static const hiroba_op ops[] = {HIROBA_SUM, HIROBA_SUM, HIROBA_SUM,  HIROBA_PROD,
                                    HIROBA_MAX, HIROBA_MIN, HIROBA_BXOR, HIROBA_BAND};
    out.op = ops[rng_int(&r, 8)], out.by_tile = false;
    if (rng_once_in(&r, 2)) out.box = {array, 0, 0, 1, std::min<int64_t>(8, a.columns)};  // several tasks use the same
    else out.box.columns = 1 + rng_int(&r, static_cast<int>(a.columns - out.box.column));
  } else if (tiled || rng_once_in(&r, 2)) {
    out.box = tile_at(array, out.box.row, out.box.column);
    if (out.mode == HIROBA_IN && rng_once_in(&r, 2)) out.box.rows = 1;  // an edge
    else if (out.mode == HIROBA_IN && rng_once_in(&r, 2)) out.box.column += out.box.columns - 1, out.box.columns = 1;
  } else {
    out.box.rows = 1 + rng_int(&r, static_cast<int>(std::min<int64_t>(8, a.rows - out.box.row)));
    out.box.columns = 1 + rng_int(&r, static_cast<int>(a.columns - out.box.column));
    if (rng_once_in(&r, 16)) out.box.columns = 0;
  }
  return out;
}

void create(const Step& step, Number* checked) {
  static const hiroba_task_label label = {"step", "random_tasks.cpp"};
  const hiroba_task_spec spec = {&label, step.on, step.priority};
  std::vector<hiroba_access> accesses;
  std::vector<hiroba_section> tiles(step.accesses.size());
  for (size_t i = 0; i < step.accesses.size(); ++i) {
    const Access& a = step.accesses[i];
    hiroba_access access = hiroba_use(a.mode, nullptr, 0);
    access.section = section_of(a.box);
    if (a.mode == HIROBA_REDUCTION)
      access = hiroba_use_reduction(a.op, HIROBA_UINT64, access.section.address, a.box.columns);
    if (a.by_tile) tiles[i] = section_of(tile_at(a.box.array, a.box.row, a.box.column)), access.tile = &tiles[i];
    accesses.push_back(access);
  }
  void* const argument = hiroba_task_create(accesses.data(), static_cast<int>(accesses.size()), &spec);
  if (argument == nullptr) return;
  for (hiroba_access& access : accesses) access.tile = nullptr;  // children name what they write, by sections
  hiroba::detail::submit_task(argument, [step, checked, accesses] {
    if (step.children == 0) return perform(step, false);
    // The same by children: one that does it, and others that read what it has done, before and after.
    std::vector<Number> sums(static_cast<size_t>(step.children));
    Number state = 0;
    for (int c = 0; c < step.children; ++c) {
      if (c == step.children / 2) {
        std::vector<hiroba_access> all = accesses;
        all.push_back(hiroba_use(HIROBA_INOUT, &state, sizeof state));
        const hiroba_task_spec of_child = {&label, HIROBA_ANYWHERE, 0};
        hiroba::detail::submit_task(hiroba_task_create(all.data(), static_cast<int>(all.size()), &of_child),
                                    [&] { perform(step, false), state = step.id; });
      }
      hiroba::task(hiroba::in(state), hiroba::out(sums[static_cast<size_t>(c)]),
                   [&, c] { sums[static_cast<size_t>(c)] = state + 1; });
    }
    hiroba::taskwait();
    for (int c = 0; c < step.children; ++c)
      if (sums[static_cast<size_t>(c)] != (c < step.children / 2 ? 0 : step.id) + 1)
        __atomic_fetch_add(checked, 1, __ATOMIC_RELAXED);
  });
}

void make_arrays(rng& r) {
  arrays.clear();
  const int n = 1 + rng_int(&r, 3);
  for (int i = 0; i < n; ++i) {
    Array a;
    a.rows = 1 + rng_int(&r, 40), a.columns = 1 + rng_int(&r, 200);
    a.tile_rows = 1 + rng_int(&r, 16), a.tile_columns = 1 + rng_int(&r, 64);
    const auto elements = static_cast<size_t>(a.rows * a.columns);
    a.mirror.assign(elements, 0);
    if (rng_once_in(&r, 6)) {
      a.own.assign(elements, 0);
    } else {
      const int dim[] = {static_cast<int>(a.rows), static_cast<int>(a.columns), -1};
      const int pieces = 1 + rng_int(&r, sms_nprocs);
      const int div[] = {std::min(pieces, dim[0]), 1, -1}, by_column[] = {1, std::min(pieces, dim[1]), -1};
      a.shared =
          static_cast<Number*>(sms_mapalloc(dim, rng_once_in(&r, 4) ? by_column : div, sizeof(Number), 0, sms_nprocs));
    }
    arrays.push_back(std::move(a));
  }
}

void compare(uint64_t seed, int phase) {
  for (size_t k = 0; k < arrays.size(); ++k) {
    Array& a = arrays[k];
    for (size_t i = 0; i < a.mirror.size(); ++i)
      if (a.data()[i] != a.mirror[i])
        fail("seed %" PRIu64 ", phase %d: element [%zu][%zu] of array %zu is %" PRIx64 ", and should be %" PRIx64, seed,
             phase, i / static_cast<size_t>(a.columns), i % static_cast<size_t>(a.columns), k, a.data()[i],
             a.mirror[i]);
  }
}

// What writes private data runs on every rank, so that it stays the same there, and writes no shared data. What adds to
// data in any order does nothing else with it. A child does not use the part that its parent has of a reduction.
Step random_step(rng& r, uint64_t id) {
  Step step = {id, {}, rng_once_in(&r, 20) ? 1 + rng_int(&r, 5) : 0, HIROBA_ANYWHERE, 0};
  const int n = 1 + rng_int(&r, 4);
  bool writes[2] = {false, false};
  for (int i = 0; i < n; ++i) {
    const Access a = random_access(r, rng_once_in(&r, 2));
    const bool shared = arrays[static_cast<size_t>(a.box.array)].shared != nullptr;
    if (a.mode != HIROBA_IN && writes[!shared]) continue;
    if (std::any_of(step.accesses.begin(), step.accesses.end(), [&](const Access& other) {
          return other.box.array == a.box.array && (other.mode >= HIROBA_COMMUTATIVE || a.mode >= HIROBA_COMMUTATIVE);
        }))
      continue;
    writes[shared] = writes[shared] || a.mode != HIROBA_IN;
    step.accesses.push_back(a);
    if (a.mode == HIROBA_REDUCTION) step.children = 0;
  }
  if (!writes[false] && rng_once_in(&r, 3)) step.on = rng_int(&r, sms_nprocs);
  if (rng_once_in(&r, 4)) step.priority = rng_int(&r, 10);
  return step;
}

void run_loop(rng& r, uint64_t seed, int tasks, Number* wrong) {
  for (int t = 0; t < tasks; ++t) {
    const Step step = random_step(r, rng_next(&r));
    create(step, wrong);
    perform(step, true);
    if (!rng_once_in(&r, 60)) continue;
    const Access a = random_access(r, false);
    Array& array = arrays[static_cast<size_t>(a.box.array)];
    hiroba_access here = hiroba_use(HIROBA_IN, nullptr, 0);
    here.section = section_of(a.box);
    hiroba_taskwait_on(&here, 1);
    for_each(a.box, array.data(), [&](Number& x, int64_t) {
      if (x != array.mirror[static_cast<size_t>(&x - array.data())])
        fail("seed %" PRIu64 ": data is not here after taskwait_on", seed);
    });
  }
  hiroba::taskwait();
}

// The same tasks several times, recorded and replayed.
void run_graph(rng& r, uint64_t seed, int tasks, int phase, Number* wrong) {
  std::vector<Step> steps;
  for (int t = 0; t < tasks; ++t) steps.push_back(random_step(r, rng_next(&r)));
  hiroba::graph graph([&] {
    for (const Step& step : steps) create(step, wrong);
  });
  for (int runs = 1 + rng_int(&r, 3); runs > 0; --runs) {
    const int times = rng_int(&r, 5);
    graph.run(times);
    for (int i = 0; i < times; ++i)
      for (const Step& step : steps) perform(step, true);
    compare(seed, phase);
    sms_barrier();
  }
}

void run_program(uint64_t seed) {
  rng r = {seed};
  make_arrays(r);
  sms_barrier();
  static Number wrong = 0;
  const int phases = 1 + rng_int(&r, 3);
  for (int phase = 0; phase < phases; ++phase) {
    if (rng_once_in(&r, 3)) run_graph(r, seed, rng_int(&r, 60), phase, &wrong);
    else run_loop(r, seed, rng_int(&r, 200), &wrong);
    compare(seed, phase);
    if (wrong != 0) fail("seed %" PRIu64 ": children of a task ran in a wrong order", seed);
    sms_barrier();
  }
  for (Array& a : arrays)
    if (a.shared != nullptr) sms_free(a.shared);
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  uint64_t first = 1, count = 100;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--seed") == 0) first = strtoull(argv[i + 1], nullptr, 10), count = 1;
    if (strcmp(argv[i], "--seeds") == 0) count = strtoull(argv[i + 1], nullptr, 10);
    if (strcmp(argv[i], "--first") == 0) first = strtoull(argv[i + 1], nullptr, 10);
  }
  count = static_cast<uint64_t>(tries(static_cast<long>(count)));
  for (uint64_t seed = first; seed < first + count; ++seed) run_program(seed);
  sms_shutdown();
}
