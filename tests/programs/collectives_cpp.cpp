// collective.hpp: every operation in both forms, on ranges, spans and single objects; lambdas; teams; continuations.
// Prints "done". With an argument, one mistake: collectives_cpp CASE.
#include <sms.h>

#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <hiroba.hpp>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

using hiroba::in_place;
using hiroba::started;
using hiroba::team;

namespace {

int failures = 0;

void expect(bool right, const char* what, hiroba::location where = hiroba::location::current()) {
  if (right) return;
  ++failures;
  std::fprintf(stderr, "%s:%u: rank %d: %s\n", where.file_name(), where.line(), sms_rank, what);
}
#define EXPECT(condition) expect(condition, #condition)

int64_t sum_of_ranks(int n) { return int64_t{n} * (n - 1) / 2; }

// x -> slope * x + offset, combined as functions: the order matters.
struct line {
  int64_t slope, offset;
  bool operator==(const line&) const = default;
};
constexpr auto after = [](const line& a, const line& b) {
  return line{a.slope * b.slope % 1009, (a.offset * b.slope + b.offset) % 1009};
};
line line_of(int rank, size_t i) { return {2 + rank, static_cast<int64_t>(i % 100) + rank}; }
line lines_of(int ranks, size_t i) {
  line out = line_of(0, i);
  for (int r = 1; r < ranks; ++r) out = after(out, line_of(r, i));
  return out;
}

void reductions(const team& all) {
  const int n = all.size(), me = all.rank();
  EXPECT(hiroba::allreduce(me, hiroba::sum) == sum_of_ranks(n));
  EXPECT(hiroba::allreduce(std::complex<double>(1, me), hiroba::sum, all).imag() == double(sum_of_ranks(n)));
  EXPECT(hiroba::allreduce(me == 0, hiroba::logical_or, all));
  EXPECT(hiroba::allreduce(uint16_t(1 << me), hiroba::bit_xor) == (1 << n) - 1);
  for (const size_t count : {size_t{1}, size_t{100}, size_t{50000}}) {  // eager, in a lane, by slices
    std::vector<double> mine(count, me), most(count);
    hiroba::allreduce(mine, most, hiroba::max);
    EXPECT(most.front() == n - 1 && most.back() == n - 1);
    hiroba::allreduce(in_place, mine, hiroba::min);
    EXPECT(mine.back() == 0);
    std::vector<line> lines(count), joined(count);
    for (size_t i = 0; i < count; ++i) lines[i] = line_of(me, i);
    hiroba::allreduce(lines, joined, after, all);
    bool right = true;
    for (size_t i = 0; i < count; ++i) right = right && joined[i] == lines_of(n, i);
    EXPECT(right);
    started s = hiroba::iscan(lines, joined, after);
    s.wait();
    EXPECT(joined.back() == lines_of(me + 1, count - 1));
    hiroba::exscan(lines, joined, after);
    if (me > 0) EXPECT(joined.back() == lines_of(me, count - 1));
    hiroba::ireduce(std::span(lines), std::span(joined), after, n - 1).wait();
    if (me == n - 1) EXPECT(joined.front() == lines_of(n, 0));
  }
}

// A NaN of any rank is the maximum and the minimum of all, in a lane, eager, by slices, and along a tree.
template <typename T>
void extremes_of_nan(const team& all) {
  const int n = all.size(), me = all.rank();
  for (int who = 0; who < n; ++who)
    for (const size_t count : {size_t{1}, size_t{9}, size_t{2000}, size_t{20000}}) {
      std::vector<T> mine(count, me == who ? std::numeric_limits<T>::quiet_NaN() : T(me)), most(count), least(count);
      hiroba::allreduce(mine, most, hiroba::max);
      hiroba::iallreduce(mine, least, hiroba::min).wait();
      for (size_t i = 0; i < count; ++i)
        if (!std::isnan(most[i]) || !std::isnan(least[i])) return EXPECT(!"a NaN is lost");
      hiroba::scan(mine, most, hiroba::max);
      EXPECT(std::isnan(most.back()) == (me >= who));
      hiroba::reduce(mine, least, hiroba::min, who);
      EXPECT(me != who || std::isnan(least.back()));
    }
}

void scatters_of_sums(const team& all) {
  const int n = all.size(), me = all.rank();
  std::vector<int64_t> each(static_cast<size_t>(3 * n)), counts(static_cast<size_t>(n));
  std::iota(each.begin(), each.end(), me);
  std::array<int64_t, 3> block = {};
  hiroba::reduce_scatter(each, block, hiroba::sum);
  for (int k = 0; k < 3; ++k) EXPECT(block[static_cast<size_t>(k)] == sum_of_ranks(n) + n * (3 * me + k));
  for (int i = 0; i < n; ++i) counts[static_cast<size_t>(i)] = i == 0 ? 3 * n : 0;
  std::vector<int64_t> whole(me == 0 ? each.size() : 0);
  hiroba::ireduce_scatter(each, whole, counts, hiroba::sum).wait();
  if (me == 0) EXPECT(whole.back() == sum_of_ranks(n) + n * (3 * n - 1));
}

void moves(const team& all) {
  const int n = all.size(), me = all.rank();
  const auto ranks = static_cast<size_t>(n);
  line one = line_of(me, 7);
  hiroba::broadcast(one, n - 1);
  EXPECT(one == line_of(n - 1, 7));
  std::vector<float> x(20000, static_cast<float>(me));
  hiroba::ibroadcast(x, 0).wait();
  EXPECT(x.back() == 0);
  std::vector<int> got(ranks), mine(ranks);
  hiroba::gather(me, got, 0);
  if (me == 0) EXPECT(got.back() == n - 1);
  hiroba::allgather(me, got);
  EXPECT(got.front() == 0 && got.back() == n - 1);
  int back = -1;
  hiroba::scatter(got, back, n - 1);
  EXPECT(back == me);
  for (size_t i = 0; i < ranks; ++i) mine[i] = 100 * me + static_cast<int>(i);
  hiroba::alltoall(mine, got, all);
  for (int i = 0; i < n; ++i) EXPECT(got[static_cast<size_t>(i)] == 100 * i + me);
  started s = hiroba::ialltoall(in_place, mine);
  while (!s.test()) std::this_thread::yield();
  EXPECT(mine == got);
  const std::array<int, 1> right = {(me + 1) % n}, left = {(me + n - 1) % n};
  hiroba::neighbor_alltoall(me, right, back, left);
  EXPECT(back == left[0]);
  hiroba::barrier();
  hiroba::ibarrier(all).wait();
}

// Rank r has r + 1 elements; they are laid out backwards.
void moves_of_parts(const team& all) {
  const int n = all.size(), me = all.rank();
  std::vector<int64_t> counts, displs(static_cast<size_t>(n));
  int64_t next = 0;
  for (int i = 0; i < n; ++i) counts.push_back(i + 1);
  for (size_t i = counts.size(); i-- > 0;) displs[i] = next, next += counts[i];
  std::vector<int64_t> mine(static_cast<size_t>(me + 1), me), got(static_cast<size_t>(next)), back(mine.size());
  const auto right = [&] {
    for (size_t i = 0; i < counts.size(); ++i)
      if (got[static_cast<size_t>(displs[i])] != static_cast<int64_t>(i)) return false;
    return true;
  };
  hiroba::allgatherv(mine, got, {counts, displs});
  EXPECT(right());
  hiroba::igatherv(mine, got, {counts, displs}, 0).wait();
  if (me == 0) EXPECT(right());
  hiroba::scatterv(got, {counts, displs}, back, 0);
  EXPECT(back == mine);
  std::vector<int64_t> to(static_cast<size_t>(n), me + 1), out(static_cast<size_t>(n * (me + 1)), me);
  hiroba::alltoallv(out, {to}, got, {counts, displs});
  EXPECT(right());
}

void continuations(const team& all) {
  std::vector<line> x(5000, line_of(all.rank(), 1)), y(x.size());
  std::atomic<int> called{0};
  hiroba::iallreduce(x, y, [](const line& a, const line& b) { return after(a, b); }).then([&] { ++called; });
  std::vector<started> two(2);
  int number = all.rank();
  two[1] = hiroba::ibroadcast(number, 0);
  EXPECT(hiroba::wait_any(two) == 1 && number == 0);
  EXPECT(hiroba::wait_any(two) == -1);
  while (hiroba::allreduce(called.load(), hiroba::min) == 0) continue;
  EXPECT(y.back() == lines_of(all.size(), 1));
}

// Elements that an operator of C gets are aligned for numbers, also while elements of three bytes are on their way.
void alignment() {
  struct triple {
    char bytes[3];
  };
  static const auto add = [](void* mine, const void* theirs, int64_t count, void* context) {
    if (reinterpret_cast<uintptr_t>(mine) % 16 != 0 || reinterpret_cast<uintptr_t>(theirs) % 16 != 0)
      *static_cast<std::atomic<bool>*>(context) = false;
    for (int64_t i = 0; i < count; ++i) static_cast<double*>(mine)[i] += static_cast<const double*>(theirs)[i];
  };
  std::atomic<bool> aligned{true};
  const hiroba_operator own = {add, &aligned, "own sum"};
  const auto n = static_cast<size_t>(team::all().size());
  std::vector<triple> triples(200001), joined(triples.size());
  std::vector<double> x(160000, 1), y(x.size());
  started first = hiroba::iallreduce(triples, joined, [](const triple& a, const triple&) { return a; });
  hiroba_request request;
  hiroba_iallreduce(x.data(), y.data(), static_cast<int64_t>(x.size()), HIROBA_DOUBLE, &own, HIROBA_ALL, &request);
  hiroba_wait(&request);
  EXPECT(aligned);
  EXPECT(y.back() == static_cast<double>(n));
}

void teams(const team& all) {
  const int me = all.rank(), n = all.size();
  const team odd_even = all.split(me % 2, -me);
  EXPECT(odd_even.size() == (n + 1 - me % 2) / 2);
  EXPECT(odd_even.member(odd_even.rank()) == me);
  const int size = hiroba::allreduce(1, hiroba::sum, odd_even);
  EXPECT(size == odd_even.size());
  const std::array<int, 1> last = {n - 1};
  team only = all.of(last);
  EXPECT(only.has_me() == (me == n - 1));
  team moved = std::move(only);
  if (moved.has_me()) EXPECT(hiroba::allreduce(me, hiroba::sum, moved) == me);
  xmp_nodes line = {}, back = {};
  line.dims = back.dims = 1;
  xmp_nodes_define(&line);
  const xmp_node_reference backwards = {&line, {{n - 1, n, -1}}};
  back.of = &backwards;
  xmp_nodes_define(&back);
  const team turned = all.of(back);
  EXPECT(turned.size() == n && turned.rank() == n - 1 - me);
  EXPECT(hiroba::allreduce(1, hiroba::sum, turned) == n);
}

// ---- mistakes ------------------------------------------------------------------------------------------------------

void mistake(const std::string& name) {
  std::vector<int> three(3), four(4);
  if (name == "sizes") hiroba::allreduce(three, four, hiroba::sum);
  if (name == "gather_sizes") hiroba::gather(three, four, 0);
  if (name == "parts") hiroba::allgatherv(three, four, {});
  if (name == "throws_started" || name == "throws_blocking") {
    const auto bad = [](int, int) -> int { throw std::runtime_error("no sum of these"); };
    std::vector<int> out(3);
    if (name == "throws_blocking") hiroba::allreduce(three, out, bad);
    else hiroba::iallreduce(three, out, bad).wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const team late = team::all().split(0);  // destroyed after the end of the job
  if (argc > 1) mistake(argv[1]);
  const team all = team::all();
  reductions(all);
  extremes_of_nan<float>(all);
  extremes_of_nan<double>(all);
  scatters_of_sums(all);
  moves(all);
  moves_of_parts(all);
  continuations(all);
  alignment();
  teams(all);
  failures = hiroba::allreduce(failures, hiroba::sum);
  if (failures == 0 && sms_rank == 0) std::puts("done");
  sms_shutdown();
  return failures == 0 ? 0 : 1;
}
