// Level 1: each rank computes the elements of y, or of the only vector, that it owns.
#include "linear/parts.hpp"

namespace hiroba {

namespace {

// Fetches the elements of x that this rank needs to compute its elements of y.
Status fetch_for(const LinearParts& p, const SharedVector& x, const SharedVector& y) {
  if (!p.far) return {};
  Status status;
  for_runs_of(p.rank, y, 0, y.length, [&](int64_t begin, int64_t end) {
    if (status.ok()) status = p.fetch(x, begin, end);
  });
  HIROBA_TRY(std::move(status));
  p.wait();
  return {};
}

// Calls work(first, count) for each run of elements of y that this rank owns, when it can read those of x.
template <typename Work>
Status write_y(LinearParts& p, const Call& call, const SharedVector& x, const SharedVector& y, const Work& work) {
  const bool others = p.ranks > 1 && !same_owners(x, y);
  HIROBA_TRY(p.enter(call, {{x.array, false, others}, {y.array, true, false}}));
  if (others) HIROBA_TRY(fetch_for(p, x, y));
  for_runs_of(p.rank, y, 0, y.length, [&](int64_t i, int64_t end) { work(i, end - i); });
  return {};
}

// A sum over a vector x, and y if there are two. Ranks add numbers(Sum::Value); result(numbers) completes it.
template <typename Sum, typename T, int count, typename ToNumbers, typename Result>
Status sum(LinearParts& p, const Call& call, const SharedVector& x, const SharedVector& y, const ToNumbers& numbers,
           const Result& result, Pending<T>& out) {
  using R = typename Pending<T>::R;
  const SumBlocks blocks(x.length);
  // Blocks are whole, including elements of other ranks, if their sums must be the same for any number of ranks.
  const bool whole = p.reproducible;
  const bool others = p.ranks > 1 && (whole || !same_owners(x, y));
  HIROBA_TRY(p.enter(call, {{x.array, false, whole && p.ranks > 1}, {y.array, false, others}}));
  const auto owns = [&](int64_t b) { return run_at(x.step < 0 ? reversed(x) : x, blocks.begin(b)).owner == p.rank; };
  if (p.far && whole)
    for (int64_t b = 0; b < blocks.count; ++b)
      if (owns(b)) {
        HIROBA_TRY(p.fetch(x, blocks.begin(b), blocks.end(b)));
        HIROBA_TRY(p.fetch(y, blocks.begin(b), blocks.end(b)));
      }
  if (p.far && whole) p.wait();
  else if (others) HIROBA_TRY(fetch_for(p, y, x));

  typename Sum::Value sums[SumBlocks::most_blocks];
  sum_blocks(blocks, sizeof(T), sums, [&](int64_t b) {
    typename Sum::Value of_block{};
    const auto stretch = [&](int64_t i, int64_t end) {
      of_block += Sum::of(end - i, x.element<T>(i), x.stride(), y.element<T>(i), y.stride());
    };
    if (!whole) for_runs_of(p.rank, x, blocks.begin(b), blocks.end(b), stretch);
    else if (owns(b)) stretch(blocks.begin(b), blocks.end(b));
    return of_block;
  });
  if (!whole) add_by_pairs(sums, blocks.count);
  const int64_t kept = whole ? blocks.count : 1;
  for (int64_t b = 0; b < kept; ++b) {
    const Numbers<R, count> of_block = numbers(sums[b]);
    out.values.insert(out.values.end(), of_block.value, of_block.value + count);
  }
  out.finish = [result, kept](R* values) {
    auto* const all = reinterpret_cast<Numbers<R, count>*>(values);
    add_by_pairs(all, kept);
    for (R& value : all->value) value += 0;  // a zero is positive, for any number of ranks
    result(*all);
  };
  return {};
}

}  // namespace

template <typename T>
Status Linear::axpy(const Call& call, T a, const SharedVector& x, const SharedVector& y) {
  if (a == T(0)) return {};
  return write_y(*parts_, call, x, y, [&](int64_t i, int64_t n) {
    axpy_by_threads(n, a, x.element<T>(i), x.stride(), y.element<T>(i), y.stride());
  });
}

template <typename T>
Status Linear::copy(const Call& call, const SharedVector& x, const SharedVector& y) {
  return write_y(*parts_, call, x, y, [&](int64_t i, int64_t n) {
    copy_by_threads(n, x.element<T>(i), x.stride(), y.element<T>(i), y.stride());
  });
}

template <typename T>
Status Linear::scal(const Call& call, T a, const SharedVector& x, bool clears) {
  LinearParts& p = *parts_;
  HIROBA_TRY(p.enter(call, {{x.array, true, false}}));
  for_runs_of(p.rank, x, 0, x.length,
              [&](int64_t i, int64_t end) { scal_by_threads(end - i, a, x.element<T>(i), x.stride(), clears); });
  return {};
}

template <typename T>
Status Linear::dot(const Call& call, bool conjugate, const SharedVector& x, const SharedVector& y, T* result,
                   Pending<T>& out) {
  using R = Real<T>;
  constexpr int count = is_complex<T> ? 2 : 1;
  using Sums = Numbers<R, count>;
  const auto numbers = [conjugate](const Products<R>& products) {
    const T value = value_of<T>(products, conjugate);
    if constexpr (is_complex<T>) return Sums{value.real(), value.imag()};
    else return Sums{value};
  };
  const auto write = [result](const Sums& sums) {
    if constexpr (is_complex<T>) *result = T(sums.value[0], sums.value[1]);
    else *result = sums.value[0];
  };
  return sum<DotSum<T>, T, count>(*parts_, call, x, y, numbers, write, out);
}

template <typename T>
Status Linear::nrm2(const Call& call, const SharedVector& x, Real<T>* result, Pending<T>& out) {
  using R = Real<T>;
  using Sums = Numbers<R, 3>;
  const auto numbers = [](const Squares<R>& s) { return Sums{s.big, s.medium, s.small}; };
  const auto write = [result](const Sums& s) { *result = Squares<R>{s.value[0], s.value[1], s.value[2]}.root(); };
  return sum<SquareSum<T>, T, 3>(*parts_, call, x, x, numbers, write, out);
}

template <typename T>
Status Linear::asum(const Call& call, const SharedVector& x, Real<T>* result, Pending<T>& out) {
  using R = Real<T>;
  using Sums = Numbers<R, 1>;
  return sum<AbsoluteSum<T>, T, 1>(
      *parts_, call, x, x, [](const R& value) { return Sums{value}; },
      [result](const Sums& sums) { *result = sums.value[0]; }, out);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T)                                                                                   \
  template Status Linear::axpy<T>(const Call&, T, const SharedVector&, const SharedVector&);                    \
  template Status Linear::copy<T>(const Call&, const SharedVector&, const SharedVector&);                       \
  template Status Linear::scal<T>(const Call&, T, const SharedVector&, bool);                                   \
  template Status Linear::dot<T>(const Call&, bool, const SharedVector&, const SharedVector&, T*, Pending<T>&); \
  template Status Linear::nrm2<T>(const Call&, const SharedVector&, Real<T>*, Pending<T>&);                     \
  template Status Linear::asum<T>(const Call&, const SharedVector&, Real<T>*, Pending<T>&);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
