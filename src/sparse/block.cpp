#include "sparse/block.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "linear/linear.hpp"

namespace hiroba {

namespace {

constexpr int64_t sorted_together = 16384;  // sigma: rows among which the longest come first
constexpr double worth_sorting = 1.02;      // entries stored without sorting for one that is stored with it
constexpr double most_padding = 1.15;       // stored entries of SELL for one of the matrix, where the format is free

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns the rows in their order.
std::vector<int32_t> natural_order(const std::vector<int64_t>& start) {
  std::vector<int32_t> order(start.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Returns rows by descending length, among `sorted_together` of them.
std::vector<int32_t> sorted_order(const std::vector<int64_t>& start) {
  std::vector<int32_t> order = natural_order(start);
  const auto length = [&](int32_t i) { return start[static_cast<size_t>(i) + 1] - start[i]; };
  const auto n = std::ssize(order);
  for (int64_t i = 0; i < n; i += sorted_together)
    std::stable_sort(order.begin() + i, order.begin() + std::min(n, i + sorted_together),
                     [&](int32_t a, int32_t b) { return length(a) > length(b); });
  return order;
}

// Returns the number of entries that SELL would store.
int64_t padded(const std::vector<int64_t>& start, const std::vector<int32_t>& order, int64_t c) {
  int64_t all = 0;
  for (size_t i = 0; i < order.size(); i += static_cast<size_t>(c)) {
    int64_t longest = 0;
    for (size_t k = i; k < std::min(order.size(), i + static_cast<size_t>(c)); ++k) {
      const auto row = static_cast<size_t>(order[k]);
      longest = std::max(longest, start[row + 1] - start[row]);
    }
    all += longest * c;
  }
  return all;
}

// Sorts only if that saves zeros: neighbours in the matrix use neighbours in x.
std::vector<int32_t> order_of(const std::vector<int64_t>& start, int64_t c) {
  std::vector<int32_t> natural = natural_order(start), sorted = sorted_order(start);
  const auto stored = [&](const auto& order) { return static_cast<double>(padded(start, order, c)); };
  return stored(natural) <= worth_sorting * stored(sorted) ? natural : sorted;
}

}  // namespace

template <typename T>
SparseBlock<T> SparseBlock<T>::as_sell(const LocalRows<T>& rows, const std::vector<int32_t>& all) {
  SparseBlock out;
  LocalRows<T>& to = out.waiting_;
  constexpr int64_t c = slice_rows<T>;
  // A row without entries has no column that its zeros could multiply.
  const auto is_empty = [&](int32_t i) { return rows.start[i] == rows.start[static_cast<size_t>(i) + 1]; };
  std::vector<int32_t> order;
  for (const int32_t i : all) {
    if (!is_empty(i)) order.push_back(i);
    else out.empty_.push_back(rows.to[i]);
  }
  std::sort(out.empty_.begin(), out.empty_.end());
  const auto n = std::ssize(order);
  for (int64_t first = 0; first < n; first += c) {
    const int64_t here = std::min(c, n - first);
    int64_t longest = 0;
    for (int64_t l = 0; l < here; ++l) {
      const auto row = static_cast<size_t>(order[first + l]);
      out.length_.push_back(static_cast<int32_t>(rows.start[row + 1] - rows.start[row]));
      longest = std::max<int64_t>(longest, out.length_.back());
      to.to.push_back(rows.to[row]);
    }
    const size_t at = to.column.size();
    to.column.resize(at + static_cast<size_t>(longest * c), 0), to.value.resize(to.column.size(), T(0));
    for (int64_t l = 0; l < here; ++l) {
      const auto row = static_cast<size_t>(order[first + l]);
      const auto begin = static_cast<size_t>(rows.start[row]), count = static_cast<size_t>(rows.start[row + 1]) - begin;
      for (size_t k = 0; k < static_cast<size_t>(longest); ++k) {
        const size_t place = at + k * static_cast<size_t>(c) + static_cast<size_t>(l);
        // A zero multiplies an element that the row uses anyway.
        to.column[place] = rows.column[begin + std::min(k, count - 1)];
        if (k < count) to.value[place] = rows.value[begin + k];
      }
    }
    to.start.push_back(std::ssize(to.column));
  }
  out.sell_ = true, out.rows_ = n;
  return out;
}

template <typename T>
SparseBlock<T> SparseBlock<T>::make(LocalRows<T> rows, Format format) {
  const std::vector<int32_t> order = order_of(rows.start, slice_rows<T>);
  if (format == Format::automatic) {
    const auto entries = static_cast<double>(rows.column.size());
    const auto stored = static_cast<double>(padded(rows.start, order, slice_rows<T>));
    format = stored <= most_padding * entries ? Format::sell : Format::csr;
  }
  SparseBlock out;
  if (format == Format::sell) {
    out = as_sell(rows, order);
  } else {
    out.rows_ = rows.rows();
    out.waiting_ = std::move(rows);
  }
  const auto& to = out.waiting_.to;
  out.identity_ = true;
  for (size_t i = 0; i < to.size(); ++i) out.identity_ = out.identity_ && to[i] == static_cast<int32_t>(i);
  out.stored_ = std::ssize(out.waiting_.column);
  return out;
}

template <typename T>
size_t SparseBlock<T>::bytes() const {
  const auto size = [](const auto& list) { return rounded(list.size() * sizeof list[0]); };
  return size(waiting_.value) + size(waiting_.column) + size(waiting_.start) + size(waiting_.to);
}

template <typename T>
void SparseBlock<T>::place(char* memory) {
  const auto next = [&](const auto& list) {
    using Element = typename std::remove_cvref_t<decltype(list)>::value_type;
    auto* const at = reinterpret_cast<Element*>(memory);
    if (!list.empty()) std::memcpy(static_cast<void*>(at), list.data(), list.size() * sizeof(Element));
    memory += rounded(list.size() * sizeof(Element));
    return static_cast<const Element*>(at);
  };
  placed_.rows = rows_;
  placed_.value = next(waiting_.value), placed_.column = next(waiting_.column);
  placed_.start = next(waiting_.start), placed_.to = next(waiting_.to);
  if (identity_) placed_.to = nullptr;
  waiting_ = {};
}

template <typename T>
void SparseBlock<T>::clear_empty(T* y) const {
  const auto n = std::ssize(empty_);
  in_parts(n, n * static_cast<int64_t>(sizeof(T) + sizeof(int32_t)), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[empty_[i]] = T(0);
  });
}

template <typename T>
void SparseBlock<T>::multiply(const T* x, T* y, bool add) const {
  const int64_t items = sell_ ? (rows_ + slice_rows<T> - 1) / slice_rows<T> : rows_;
  const int64_t* const start = placed_.start;
  const auto kernel = sell_ ? sparse_kernels<T>().sell : sparse_kernels<T>().csr;
  const int64_t bytes = stored_ * static_cast<int64_t>(sizeof(T) + sizeof(int32_t)) + rows_ * 8;
  // Threads get equal numbers of entries, and a share of the rows, which may be empty.
  const int64_t weight = stored_ + items;
  const auto item_at = [&](int64_t at) { return row_at(start, items, at); };
  in_parts(weight, bytes, 1, [&](int64_t begin, int64_t end) {
    kernel(placed_, item_at(begin), end == weight ? items : item_at(end), x, y, add);
  });
  if (!add) clear_empty(y);
}

template <typename T>
LocalRows<T> SparseBlock<T>::entries() const {
  LocalRows<T> out;
  std::vector<int32_t> stored_as(static_cast<size_t>(rows_));  // stored rows by result
  std::vector<int32_t> results;
  for (int64_t i = 0; i < rows_; ++i)
    results.push_back(placed_.to != nullptr ? placed_.to[i] : static_cast<int32_t>(i));
  std::iota(stored_as.begin(), stored_as.end(), 0);
  std::sort(stored_as.begin(), stored_as.end(), [&](int32_t a, int32_t b) { return results[a] < results[b]; });
  constexpr int64_t c = slice_rows<T>;
  auto empty = empty_.begin();
  const auto add_empty = [&](int32_t before) {
    for (; empty != empty_.end() && *empty < before; ++empty)
      out.to.push_back(*empty), out.start.push_back(out.start.back());
  };
  for (const int32_t i : stored_as) {
    add_empty(results[i]);
    const int64_t first = sell_ ? placed_.start[i / c] + i % c : placed_.start[i], step = sell_ ? c : 1;
    const int64_t count = sell_ ? length_[i] : placed_.start[i + 1] - placed_.start[i];
    for (int64_t k = 0; k < count; ++k) {
      out.column.push_back(placed_.column[first + k * step]);
      out.value.push_back(placed_.value[first + k * step]);
    }
    out.to.push_back(results[i]);
    out.start.push_back(std::ssize(out.column));
  }
  add_empty(std::numeric_limits<int32_t>::max());
  return out;
}

#define HIROBA_INSTANTIATE(T) template class SparseBlock<T>;
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
