// Sorting by samples: each rank sorts its elements, samples of all give each rank an equal share of the values, and
// each rank sorts its share. Equal values are told apart by their numbers, so that shares are equal even if all values
// are.
#include "template/sort.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

namespace {

constexpr int64_t samples_each = 32;

template <typename T>
struct Keyed {
  T value;
  int64_t number;
};

template <typename T>
constexpr bool ordered = requires(T a) { a < a; };

template <typename T>
bool precedes(T a, T b) {
  if (a != a) return false;
  return b != b || a < b;
}

template <typename T>
Status sort_of(ElementExchange& elements, const AlignedPart& from, const AlignedPart& to, bool down) {
  const auto comes_first = [&](const Keyed<T>& a, const Keyed<T>& b) {
    const bool first = down ? precedes(b.value, a.value) : precedes(a.value, b.value);
    if (first) return true;
    const bool last = down ? precedes(a.value, b.value) : precedes(b.value, a.value);
    return !last && a.number < b.number;
  };
  std::vector<Keyed<T>> own;
  if (has_first_copy(*from.layout, elements.me()))
    for (const OwnElement& each : own_elements(*from.layout, elements.me())) {
      own.push_back({{}, each.number});
      std::memcpy(&own.back().value, from.data + each.at, sizeof(T));
    }
  std::sort(own.begin(), own.end(), comes_first);

  const int64_t members = elements.team().count, total = count_elements(*from.layout);
  const auto count = static_cast<int64_t>(own.size());
  const int64_t mine = count == 0 ? 0 : std::min(count, 1 + count * members * samples_each / total);
  std::vector<Keyed<T>> given, samples;
  for (int64_t i = 0; i < mine; ++i) given.push_back(own[(2 * i + 1) * count / (2 * mine)]);
  std::vector<size_t> counts;
  HIROBA_TRY(elements.exchange(std::vector<std::vector<Keyed<T>>>(members, given), samples, counts));
  std::sort(samples.begin(), samples.end(), comes_first);

  std::vector<std::vector<Keyed<T>>> shares(members);
  auto begin = own.begin();
  for (int64_t m = 0; m < members; ++m) {
    auto end = own.end();
    if (m + 1 < members) {
      const Keyed<T>& border = samples[(m + 1) * samples.size() / members];
      end = std::lower_bound(begin, own.end(), border, comes_first);
    }
    shares[m].assign(begin, end);
    begin = end;
  }
  HIROBA_TRY(elements.exchange(shares, own, counts));
  std::sort(own.begin(), own.end(), comes_first);

  int64_t before = 0, all = 0;
  HIROBA_TRY(elements.sums(static_cast<int64_t>(own.size()), before, all));
  std::vector<int64_t> numbers(own.size());
  std::vector<char> values(own.size() * sizeof(T));
  for (size_t i = 0; i < own.size(); ++i) {
    numbers[i] = before + static_cast<int64_t>(i);
    std::memcpy(values.data() + i * sizeof(T), &own[i].value, sizeof(T));
  }
  return elements.put(to, numbers, numbers, values.data());
}

}  // namespace

bool has_order(Type type) {
  return with_type(type, []<typename T>() { return ordered<T>; });
}

Status sort_elements(ElementExchange& elements, Type type, const AlignedPart& from, const AlignedPart& to, bool down) {
  return with_type(type, [&]<typename T>() -> Status {
    if constexpr (ordered<T>) return sort_of<T>(elements, from, to, down);
    else return Status();
  });
}

}  // namespace hiroba
