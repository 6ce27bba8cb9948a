#include "loops/progression.hpp"

#include <algorithm>
#include <numeric>

namespace hiroba {

namespace {

struct Bezout {
  int64_t gcd, x;  // gcd = a * x + b * something
};

Bezout bezout(int64_t a, int64_t b) {
  int64_t x = 1, next = 0;
  while (b != 0) {
    const int64_t q = a / b;
    a -= q * b, std::swap(a, b);
    x -= q * next, std::swap(x, next);
  }
  return {a, x};
}

// Replaces a step that leaves no gap by 1.
Progression closed(Progression p) {
  if (p.count == 1) return {p.first, 1, p.width, 1};
  return p.step <= p.width ? Progression{p.first, 1, (p.count - 1) * p.step + p.width, 1} : p;
}

// Returns the smallest integer of form a.first + i * a.step = b.first + shift + j * b.step, with i and j in range.
std::optional<int64_t> common_member(const Progression& a, const Progression& b, int64_t shift) {
  const int64_t apart = b.first + shift - a.first;
  const Bezout found = bezout(a.step, b.step);
  if (apart % found.gcd != 0) return std::nullopt;
  const int64_t period = b.step / found.gcd;  // of i
  const auto wide = static_cast<__int128>(apart / found.gcd) * found.x % period;
  auto i = static_cast<int64_t>((wide + period) % period);
  const int64_t least = std::max<int64_t>(0, (apart + a.step - 1) / a.step);
  if (i < least) i += (least - i + period - 1) / period * period;
  if (i >= a.count) return std::nullopt;  // before it is multiplied: it may be large
  const int64_t at = a.first + i * a.step;
  return at > b.first + shift + (b.count - 1) * b.step ? std::nullopt : std::optional(at);
}

}  // namespace

bool Progression::spread(int64_t by, int64_t times) {
  if (times <= 1 || by == 0) return true;
  if (by < 0) first += by * (times - 1), by = -by;
  if (count == 1) {
    step = by, count = times;
    return true;
  }
  const int64_t small = std::min(step, by), large = std::max(step, by), of_small = by < step ? times : count;
  if (large % small == 0 && large <= small * of_small) {
    const int64_t span = (count - 1) * step + (times - 1) * by;
    step = small, count = span / small + 1;
    return true;
  }
  const int64_t span = (count - 1) * step + (times - 1) * by;
  step = std::gcd(step, by), count = span / step + 1;
  return false;
}

std::optional<int64_t> common(const Progression& a, const Progression& b) {
  const Progression p = closed(a), q = closed(b);
  if (p.first >= q.end() || q.first >= p.end()) return std::nullopt;
  std::optional<int64_t> best;
  // Member u of a's width and member v of b's are equal where their firsts differ by u - v.
  for (int64_t shift = 1 - p.width; shift < q.width; ++shift)
    if (const auto at = common_member(p, q, shift))
      best = std::min(best.value_or(INT64_MAX), *at + std::max<int64_t>(0, -shift));
  return best;
}

}  // namespace hiroba
