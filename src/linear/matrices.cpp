// Level 2: products of matrices with vectors, and updates of rank 1.
#include "linear/parts.hpp"

namespace hiroba {

namespace {

// Returns the tile of a matrix for results [begin, end).
MatrixTile tile_for(const SharedMatrix& a, bool transposed, int64_t begin, int64_t end) {
  return transposed ? MatrixTile{0, a.rows, begin, end - begin} : MatrixTile{begin, end - begin, 0, a.columns};
}

ProductPlan make_plan(const LinearParts& p, const SharedMatrix& a, bool transposed, const SharedVector& y) {
  ProductPlan plan = {a, y, transposed, false, {}};
  plan.by_result = p.ranks == 1 || p.reproducible || (transposed ? columns_with(a, y) : rows_with(a, y));
  if (!plan.by_result) plan.tiles = tiles_of(p.rank, a);
  else
    for_runs_of(p.rank, y, 0, y.length,
                [&](int64_t begin, int64_t end) { plan.tiles.push_back(tile_for(a, transposed, begin, end)); });
  return plan;
}

const ProductPlan& plan_of(LinearParts& p, const SharedMatrix& a, bool transposed, const SharedVector& y) {
  constexpr size_t most = 16;
  for (const ProductPlan& plan : p.plans)
    if (plan.transposed == transposed && plan.a == a && plan.y == y) return plan;
  if (p.plans.size() == most) p.plans.erase(p.plans.begin());
  return p.plans.emplace_back(make_plan(p, a, transposed, y));
}

// Returns a whole vector, times a factor, conjugated if requested: in place, or as a copy.
template <typename T>
const T* whole(const SharedVector& v, T factor, bool conjugate, Scratch& scratch) {
  if (v.stride() == 1 && factor == T(1) && !conjugate) return v.element<T>(0);
  T* const out = scratch.take<T>(v.length);
  const T* const from = v.element<T>(0);
  for (int64_t i = 0; i < v.length; ++i) out[i] = times(factor, conjugated(from[i * v.stride()], conjugate));
  return out;
}

// y[begin..end) = beta y + sums.
template <typename T>
void end_product(const SharedVector& y, T beta, int64_t begin, int64_t end, const T* sums) {
  scal(end - begin, beta, y.element<T>(begin), y.stride(), true);
  add(end - begin, sums, y.element<T>(begin), y.stride());
}

template <typename T>
Status fetch_tiles(const LinearParts& p, const SharedMatrix& a, const std::vector<MatrixTile>& tiles) {
  for (const MatrixTile& tile : tiles)
    for (int64_t i = tile.row; i < tile.row + tile.rows; ++i)
      HIROBA_TRY(p.fetch(a.row(i), tile.column, tile.column + tile.columns));
  return {};
}

}  // namespace

template <typename T>
Status Linear::gemv(const Call& call, Op op, T alpha, const SharedMatrix& a, const SharedVector& x, T beta,
                    const SharedVector& y, Pending<T>& out) {
  LinearParts& p = *parts_;
  if (alpha == T(0)) return scal(call, beta, y, true);
  const ProductPlan& plan = plan_of(p, a, op.transposed, y);
  const bool moves = p.ranks > 1 && plan.by_result && p.reproducible;
  HIROBA_TRY(p.enter(call, {{a.array, false, moves}, {x.array, false, p.ranks > 1}, {y.array, true, false}}));
  HIROBA_TRY(p.fetch(x, 0, x.length));
  if (moves && p.far) HIROBA_TRY(fetch_tiles<T>(p, a, plan.tiles));
  p.wait();
  const T* const terms = whole(x, op.transposed ? alpha : T(1), false, p.x);

  const auto multiply_tile = [&](const MatrixTile& tile, T* result) {
    const Product<T> product = {
        op.transposed,        op.conjugate, alpha,        a.element<T>(tile.row, tile.column),
        a.row_step / a.bytes, tile.rows,    tile.columns, terms + (op.transposed ? tile.row : tile.column)};
    multiply(product, y.length, result, p.sums);
  };
  const auto result_of = [&](const MatrixTile& tile) { return op.transposed ? tile.column : tile.row; };
  if (plan.by_result) {
    for (const MatrixTile& tile : plan.tiles) {
      const int64_t begin = result_of(tile), count = op.transposed ? tile.columns : tile.rows;
      T* const sums = p.y.take<T>(count);
      std::fill_n(sums, count, T(0));
      multiply_tile(tile, sums);
      end_product(y, beta, begin, begin + count, sums);
    }
    return {};
  }
  out.values.resize(static_cast<size_t>(y.length * (is_complex<T> ? 2 : 1)));
  T* const sums = reinterpret_cast<T*>(out.values.data());
  for (const MatrixTile& tile : plan.tiles) multiply_tile(tile, sums + result_of(tile));
  out.finish = [y, beta, rank = p.rank](Real<T>* values) {
    const T* const all = reinterpret_cast<const T*>(values);
    for_runs_of(rank, y, 0, y.length,
                [&](int64_t begin, int64_t end) { end_product(y, beta, begin, end, all + begin); });
  };
  return {};
}

template <typename T>
Status Linear::ger(const Call& call, T alpha, const SharedVector& x, bool conjugate_x, const SharedVector& y,
                   bool conjugate_y, const SharedMatrix& a) {
  LinearParts& p = *parts_;
  if (alpha == T(0)) return {};
  const bool others = p.ranks > 1;
  HIROBA_TRY(p.enter(call, {{x.array, false, others}, {y.array, false, others}, {a.array, true, false}}));
  HIROBA_TRY(p.fetch(x, 0, x.length));
  HIROBA_TRY(p.fetch(y, 0, y.length));
  p.wait();
  const T* const u = whole(x, alpha, conjugate_x, p.x);
  const T* const v = whole(y, T(1), conjugate_y, p.y);
  for (const MatrixTile& tile : tiles_of(p.rank, a))
    ger_by_threads(tile.rows, tile.columns, u + tile.row, v + tile.column, a.element<T>(tile.row, tile.column),
                   a.row_step / a.bytes);
  return {};
}

#define HIROBA_INSTANTIATE(T)                                                                          \
  template Status Linear::gemv<T>(const Call&, Op, T, const SharedMatrix&, const SharedVector&, T,     \
                                  const SharedVector&, Pending<T>&);                                   \
  template Status Linear::ger<T>(const Call&, T, const SharedVector&, bool, const SharedVector&, bool, \
                                 const SharedMatrix&);
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
