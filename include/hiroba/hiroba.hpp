// hiroba.hpp: coarrays in C++. hiroba::coarray<T, N> is an array of N dimensions of which every image has a part:
//
//   hiroba::coarray<double, 2> a({100, 200}, "a");   // collective
//   a(3, 4) = 1;                                     // this image's element: a plain double&
//   a[i](3, 4) = 2;  double x = a[i](3, 4);          // image i's: loads and stores if it is on this node
//   a[i](3, 4) += 0.5;                               // atomic towards others' accumulates
//   a[i](range{0, 8}, 5) = a(range{1, 8, 2}, 0);     // sections: base, length, step
//   a[i](all, 5) += buffer;                          // of as many elements; any contiguous range is a section
//   hiroba::section{buffer} = a[all](3, 5);          // of all images: the first dimension
//   hiroba::request r = hiroba::start(buffer, a[j](3, all));  ...  r.wait();
//
// The implementation uses the calls of xmp.h, which defines the collective calls, the blocking ones, and the rules for
// threads; programs use the other calls there (xmp_sync_all, xmp_post...) with this header. Elements have any type that
// is copied by its bytes. Errors end the job with a message that names the place of the call.
#pragma once

#include <version>
#if !defined(__cpp_lib_source_location) || !defined(__cpp_lib_ranges)
#error "hiroba.hpp needs C++20 with <source_location> and <ranges>: for instance g++ -std=c++20, clang++ 16 or newer"
#endif

#include <array>
#include <complex>
#include <concepts>
#include <cstring>
#include <memory>
#include <ranges>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "collective.hpp"
#include "place.hpp"
#include "xmp.h"

namespace hiroba {

// Elements base, base + step, ...; `all` is the whole dimension.
struct range {
  int64_t base = 0, length = XMP_REST, step = 1;
};
struct whole : range {};
inline constexpr whole all = {};

// An image, and the place in the program that names it.
struct image_index {
  int image;
  std::source_location where;
  template <std::integral I>
  image_index(I i, std::source_location here = std::source_location::current())
      : image(xmp_image(static_cast<int64_t>(i))), where(here) {}
};

namespace detail {

template <typename T>
constexpr xmp_type type_of() {
  if constexpr (std::is_same_v<T, bool>) return XMP_BOOL;
  else if constexpr (std::is_integral_v<T>) {
    constexpr xmp_type by_size[] = {XMP_INT8, XMP_INT16, XMP_INT32, XMP_INT64};
    constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<xmp_type>(by_size[log] + (std::is_unsigned_v<T> ? 1 : 0));
  } else if constexpr (std::is_same_v<T, float>) return XMP_FLOAT;
  else if constexpr (std::is_same_v<T, double>) return XMP_DOUBLE;
  else if constexpr (std::is_same_v<T, long double>) return XMP_LONG_DOUBLE;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return XMP_COMPLEX_FLOAT;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return XMP_COMPLEX_DOUBLE;
  else {
    static_assert(std::is_same_v<T, std::complex<long double>>, "compound assignment is for numbers");
    return XMP_COMPLEX_LONG_DOUBLE;
  }
}

// The type in which C++ computes `T op U`: for a shift, the promoted left side.
template <typename T, typename U, xmp_operator op>
using operand = std::remove_cvref_t<decltype(std::declval<T>() +
                                             std::declval<std::conditional_t<op == XMP_SHL || op == XMP_SHR, T, U>>())>;

template <typename I>
constexpr bool is_range = std::is_base_of_v<range, std::remove_cvref_t<I>>;
template <typename I>
concept index = is_range<I> || (std::convertible_to<I, int64_t> && !std::floating_point<I>);

// A range whose memory the caller keeps, not a temporary that is destroyed before an assignment is complete.
template <typename R, typename T>
concept elements_of = std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> &&
                      std::is_same_v<std::remove_const_t<std::ranges::range_value_t<R>>, std::remove_const_t<T>>;

}  // namespace detail

// One element of an image.
template <typename T>
class element {
 public:
  element(const xmp_coarray* coarray, int image, T* own, const std::source_location& where)
      : coarray_(coarray), image_(image), own_(own), where_(where) {}
  element(const element&) = default;

  operator T() const {
    if (const void* const at = xmp_near(coarray_, image_, own_, sizeof(T))) return *static_cast<const T*>(at);
    T value;
    xmp_get(&value, coarray_, image_, own_, sizeof(T), detail::place(where_));
    return value;
  }
  const element& operator=(const T& value) const {
    if (void* const at = xmp_near(coarray_, image_, own_, sizeof(T))) *static_cast<T*>(at) = value;
    else xmp_put(coarray_, image_, own_, &value, sizeof(T), detail::place(where_));
    return *this;
  }
  const element& operator=(const element& other) const { return *this = static_cast<T>(other); }

  // Does not return the old value; no accumulate to an element is lost.
  template <typename U>
  void operator+=(const U& v) const {
    update<XMP_ADD>(v);
  }
  template <typename U>
  void operator-=(const U& v) const {
    update<XMP_SUB>(v);
  }
  template <typename U>
  void operator*=(const U& v) const {
    update<XMP_MUL>(v);
  }
  template <typename U>
  void operator/=(const U& v) const {
    update<XMP_DIV>(v);
  }
  template <typename U>
  void operator%=(const U& v) const {
    update<XMP_MOD>(v);
  }
  template <typename U>
  void operator&=(const U& v) const {
    update<XMP_BITAND>(v);
  }
  template <typename U>
  void operator|=(const U& v) const {
    update<XMP_BITOR>(v);
  }
  template <typename U>
  void operator^=(const U& v) const {
    update<XMP_BITXOR>(v);
  }
  template <typename U>
  void operator<<=(const U& v) const {
    update<XMP_SHL>(v);
  }
  template <typename U>
  void operator>>=(const U& v) const {
    update<XMP_SHR>(v);
  }
  void operator++() const { update<XMP_ADD>(1); }
  void operator--() const { update<XMP_SUB>(1); }

  // a[i](2).member(&body::kind) = 7;
  template <typename M, typename C>
  element<M> member(M C::* which) const {
    return {coarray_, image_, &(own_->*which), where_};
  }

 private:
  template <xmp_operator op, typename U>
  void update(const U& v) const {
    using C = detail::operand<T, U, op>;
    const C value = static_cast<C>(v);
    xmp_update_element(coarray_, image_, own_, detail::type_of<T>(), &value, detail::type_of<C>(), op,
                       detail::place(where_));
  }

  const xmp_coarray* coarray_;
  int image_;
  T* own_;
  std::source_location where_;
};

// A section of a part, of any image, or of memory here. A copy refers to the same elements; an assignment copies the
// elements.
template <typename T>
class section {
 public:
  using value_type = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<value_type>, "elements are copied by their bytes");

  section(const xmp_section& parts, const std::source_location& where) : parts_(parts), where_(where) {}
  section(const section&) = default;
  // A section of all elements of a contiguous range: a vector, an array, a span.
  template <std::ranges::contiguous_range R>
    requires std::is_same_v<std::remove_const_t<std::ranges::range_value_t<R>>, value_type>
  section(R&& values, std::source_location where = std::source_location::current()) : where_(where) {
    parts_.address = const_cast<value_type*>(std::ranges::data(values));
    parts_.dims = 1;
    parts_.count[0] = static_cast<int64_t>(std::ranges::size(values));
    parts_.stride[0] = sizeof(T);
  }
  operator section<const T>() const { return {parts_, where_}; }

  const section& operator=(const section& from) const { return assign(from); }
  const section& operator=(const section<const value_type>& from) const
    requires(!std::is_const_v<T>)
  {
    return assign(from);
  }
  template <typename R>
    requires detail::elements_of<const R&, T>
  const section& operator=(const R& values) const {
    return assign(section<const value_type>(values, where_));
  }
  const section& operator=(const value_type& value) const {
    xmp_fill(&parts_, &value, sizeof(T), detail::place(where_));
    return *this;
  }

  // Assigns from a section with the same number of elements, or from one value.
  template <typename U>
  void operator+=(const U& from) const {
    update<XMP_ADD>(from);
  }
  template <typename U>
  void operator-=(const U& from) const {
    update<XMP_SUB>(from);
  }
  template <typename U>
  void operator*=(const U& from) const {
    update<XMP_MUL>(from);
  }
  template <typename U>
  void operator/=(const U& from) const {
    update<XMP_DIV>(from);
  }
  template <typename U>
  void operator%=(const U& from) const {
    update<XMP_MOD>(from);
  }
  template <typename U>
  void operator&=(const U& from) const {
    update<XMP_BITAND>(from);
  }
  template <typename U>
  void operator|=(const U& from) const {
    update<XMP_BITOR>(from);
  }
  template <typename U>
  void operator^=(const U& from) const {
    update<XMP_BITXOR>(from);
  }
  template <typename U>
  void operator<<=(const U& from) const {
    update<XMP_SHL>(from);
  }
  template <typename U>
  void operator>>=(const U& from) const {
    update<XMP_SHR>(from);
  }

  int64_t size() const {
    int64_t total = 1;
    for (int d = 0; d < parts_.dims; ++d) total *= parts_.count[d];
    return total;
  }
  // Returns the elements in order, fetched if they are on another node.
  std::vector<value_type> values() const {
    const auto count = static_cast<size_t>(size());
    if constexpr (std::is_same_v<value_type, bool>) {  // std::vector<bool> has no contiguous elements
      const auto out = std::make_unique<bool[]>(count);
      section<bool>(std::span(out.get(), count), where_) = *this;
      return std::vector<bool>(out.get(), out.get() + count);
    } else {
      std::vector<value_type> out(count);
      section<value_type>(out, where_) = *this;
      return out;
    }
  }
  // The same member of each element.
  template <typename M, typename C>
  section<M> member(M C::* which) const {
    xmp_section parts = parts_;
    parts.address = const_cast<M*>(&(static_cast<const C*>(parts_.address)->*which));
    return {parts, where_};
  }
  const xmp_section& parts() const { return parts_; }
  const std::source_location& where() const { return where_; }

 private:
  template <typename Other>
  const section& assign(const Other& from) const {
    xmp_assign(&parts_, &from.parts(), sizeof(T), detail::place(where_));
    return *this;
  }

  template <xmp_operator op, typename U>
  void update(const U& from) const {
    if constexpr (requires { from.parts(); }) {
      update_by<op>(from);
    } else if constexpr (std::ranges::contiguous_range<U>) {
      update_by<op>(section<const std::remove_const_t<std::ranges::range_value_t<U>>>(from, where_));
    } else {
      using C = detail::operand<value_type, U, op>;
      C value = static_cast<C>(from);
      xmp_section one = {};
      one.address = &value;
      add<op, C>(one);
    }
  }
  template <xmp_operator op, typename Other>
  void update_by(const Other& from) const {
    using C = detail::operand<value_type, typename Other::value_type, op>;
    if constexpr (std::is_same_v<C, typename Other::value_type>) {
      add<op, C>(from.parts());
    } else {
      const auto values = from.values();
      const std::vector<C> converted(values.begin(), values.end());
      xmp_section shaped = from.parts();  // keeps the shape
      shaped.coarray = nullptr;
      shaped.address = const_cast<C*>(converted.data());
      int64_t bytes = sizeof(C);
      for (int d = shaped.dims - 1; d >= 0; --d) shaped.stride[d] = bytes, bytes *= shaped.count[d];
      add<op, C>(shaped);
    }
  }
  template <xmp_operator op, typename C>
  void add(const xmp_section& from) const {
    xmp_update(&parts_, detail::type_of<value_type>(), &from, detail::type_of<C>(), op, detail::place(where_));
  }

  xmp_section parts_ = {};
  std::source_location where_;
};
template <std::ranges::contiguous_range R>
section(R&&) -> section<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// An assignment that may still be in progress: neither side may be used before wait().
class request {
 public:
  request() = default;
  explicit request(xmp_request started) : state_(started) {}
  request(request&& other) noexcept : state_(std::exchange(other.state_, {})) {}
  request& operator=(request&& other) noexcept {
    wait();
    state_ = std::exchange(other.state_, {});
    return *this;
  }
  ~request() { wait(); }
  void wait() { xmp_request_wait(&state_); }
  bool test() { return xmp_request_test(&state_) != 0; }

 private:
  xmp_request state_ = {};
};

template <typename T, typename U>
  requires std::is_same_v<T, std::remove_const_t<U>>
request start(const section<T>& to, const section<U>& from) {
  return request(xmp_assign_start(&to.parts(), &from.parts(), sizeof(T), detail::place(to.where())));
}
// The same from or to a contiguous range.
template <typename U, detail::elements_of<U> R>
request start(R&& to, const section<U>& from) {
  return start(section<std::remove_const_t<U>>(to, from.where()), from);
}
template <typename T, detail::elements_of<T> R>
request start(const section<T>& to, R&& from) {
  return start(to, section<const T>(from, to.where()));
}

// Collective: all images of the job make and destroy it together; xmp_finalize destroys the rest.
template <typename T, int N>
class coarray {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied by their bytes");
  static_assert(!std::is_const_v<T>, "a coarray has elements that can be written; a const coarray& is fine");
  static_assert(N >= 0 && N <= XMP_DIMS, "a coarray has at most 7 dimensions");

  explicit coarray(const std::array<int64_t, N>& extents, const char* name = "coarray",
                   std::source_location where = std::source_location::current())
      : where_(where), extents_(extents) {
    coarray_ = xmp_coarray_malloc(sizeof(T), N, extents.data(), name, detail::place(where));
  }
  coarray(coarray&& other) noexcept
      : coarray_(std::exchange(other.coarray_, nullptr)), where_(other.where_), extents_(other.extents_) {}
  coarray& operator=(coarray&& other) noexcept {
    std::swap(coarray_, other.coarray_);
    std::swap(where_, other.where_);
    std::swap(extents_, other.extents_);
    return *this;
  }
  ~coarray() {
    if (coarray_ != nullptr && xmp_executing.count > 0) xmp_free_at(coarray_, coarray_->place);
  }

  T* data() const { return static_cast<T*>(coarray_->data); }
  int64_t extent(int dimension) const { return extents_[static_cast<size_t>(dimension)]; }
  int64_t size() const { return static_cast<int64_t>(coarray_->bytes / sizeof(T)); }
  const xmp_coarray* descriptor() const { return coarray_; }  // for the calls of xmp.h

  // An image's part: indices give an element of it, a range among them a section.
  class part {
   public:
    part(const coarray& whole, const xmp_coarray* descriptor, const image_index& at)
        : whole_(whole), descriptor_(descriptor), at_(at) {}
    template <detail::index... I>
      requires(sizeof...(I) == N)
    auto operator()(const I&... index) const {
      if constexpr ((detail::is_range<I> || ...)) {
        return section<T>(whole_.cut(descriptor_, at_.image, at_.where, index...), at_.where);
      } else {
        return element<T>(descriptor_, at_.image, whole_.find(at_.where, index...), at_.where);
      }
    }

   private:
    const coarray& whole_;
    const xmp_coarray* descriptor_;
    image_index at_;
  };
  part operator[](image_index image) const { return part(*this, coarray_, image); }

  // Returns all images' parts, a[all](0, range{0, 3}): a section whose first dimension is the images.
  auto operator[](const whole&) const {
    return [this](const detail::index auto&... index) {
      static_assert(sizeof...(index) == N && (1 + ... + detail::is_range<decltype(index)>) <= XMP_DIMS);
      return section<T>(cut(coarray_, XMP_EACH_IMAGE, where_, index...), where_);
    };
  }

  // Accesses this image's own part, with plain loads and stores.
  template <detail::index... I>
    requires(sizeof...(I) == N)
  decltype(auto) operator()(const I&... index) const {
    if constexpr ((detail::is_range<I> || ...)) {
      return section<T>(cut(nullptr, 0, where_, index...), where_);
    } else {
      int64_t at = 0;
      size_t d = 0;
      ((at = at * extents_[d++] + static_cast<int64_t>(index)), ...);
      return data()[at];
    }
  }

 private:
  template <typename... I>
  T* find(const std::source_location& where, const I&... index) const {
    int64_t at = 0;
    int d = 0;
    [[maybe_unused]] const auto add = [&](int64_t i) {
      if (static_cast<uint64_t>(i) >= static_cast<uint64_t>(extent(d)))
        xmp_range_error(i, 1, 1, extent(d), d, coarray_->name, detail::place(where));
      at = at * extent(d++) + i;
    };
    (add(static_cast<int64_t>(index)), ...);
    return data() + at;
  }

  template <typename... I>
  xmp_section cut(const xmp_coarray* of, int image, const std::source_location& where, const I&... index) const {
    xmp_section out = {};
    out.coarray = of, out.image = image;
    if (image == XMP_EACH_IMAGE && of != nullptr) out.count[out.dims++] = of->images->count;
    int64_t row[N > 0 ? N : 1], at = 0;
    for (int d = N - 1, n = 1; d >= 0; --d) row[d] = d == N - 1 ? n : row[d + 1] * extent(d + 1);
    int d = 0;
    const auto add = [&](const auto& i) {
      if constexpr (detail::is_range<decltype(i)>) {
        out.count[out.dims] = xmp_length(i.base, i.length, i.step, extent(d), d, coarray_->name, detail::place(where));
        out.stride[out.dims++] = row[d] * i.step * static_cast<int64_t>(sizeof(T));
        at += i.base * row[d];
      } else {
        at += xmp_index(static_cast<int64_t>(i), extent(d), d, coarray_->name, detail::place(where)) * row[d];
      }
      ++d;
    };
    (add(index), ...);
    out.address = data() + at;
    return out;
  }

  xmp_coarray* coarray_ = nullptr;
  std::source_location where_;  // of the declaration
  std::array<int64_t, N> extents_;
};

}  // namespace hiroba
