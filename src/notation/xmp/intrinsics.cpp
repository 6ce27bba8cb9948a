// The transformational functions of xmp_global.h: xmp_transpose, xmp_matmul, xmp_gather and its like.
#define SMS_NO_PLACES
#include <algorithm>
#include <cstdarg>
#include <cstring>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

std::string counted(int number, const char* what) { return format("%d %s%s", number, what, number == 1 ? "" : "s"); }

// A call that all images of the executing set make, with aligned arrays as its arguments.
class Intrinsic {
 public:
  Intrinsic(const char* name, const char* place)
      : call_{name, place},
        where_(*place == '\0' ? name : format("%s: %s", place, name)),
        elements_(coarrays(name, place).collective().teams(), executing(), sms_rank, call_) {}

  // The array of an argument; ends the job if it is none.
  const xmp_aligned& array(xmp_desc_t descriptor, const char* argument) const {
    const xmp_aligned* const found = find_aligned(descriptor);
    if (found == nullptr)
      end_job(1, "%s: %s is not the descriptor of an aligned array; give xmp_desc_of(a) of #pragma xmp align a",
              where(), argument);
    require_all_nodes(*found, layout_of(*found, where()), executing(), call_.name, place());
    return *found;
  }
  AlignedPart part(const xmp_aligned& a) const { return {&layout_of(a, where()), static_cast<char*>(a.data)}; }

  void require_dims(const xmp_aligned& a, int dims) const {
    if (a.dims != dims)
      end_job(1, "%s: array %s has %s, and this call needs %d", where(), a.name, counted(a.dims, "dimension").c_str(),
              dims);
  }
  void require_type(const xmp_aligned& a, const xmp_aligned& b) const {
    if (a.type != b.type || a.element != b.element)
      end_job(1, "%s: the elements of %s and %s have different types; declare both alike", where(), a.name, b.name);
  }
  // Ends the job unless dimension d of a has as many elements as dimension e of b.
  void require_same(const xmp_aligned& a, int d, const xmp_aligned& b, int e) const {
    if (a.extent[d] != b.extent[e])
      end_job(1, "%s: dimension %d of %s has %ld elements, and dimension %d of %s has %ld; they must be equal", where(),
              d + 1, a.name, a.extent[d], e + 1, b.name, b.extent[e]);
  }
  void require_shape(const xmp_aligned& a, const xmp_aligned& b) const {
    require_dims(a, b.dims);
    for (int d = 0; d < a.dims; ++d) require_same(a, d, b, d);
  }
  Type arithmetic(const xmp_aligned& a, const char* kind, bool allowed) const {
    if (a.type < 0 || !allowed) end_job(1, "%s: the elements of %s have a type that is not %s", where(), a.name, kind);
    return static_cast<Type>(a.type);
  }
  Type integer(const xmp_aligned& a) const {
    return arithmetic(a, "an integer", a.type <= static_cast<int>(Type::uint64));
  }

  // The elements of an array, of the same shape as another, that belong to this node's of the other: in the order of
  // own_elements(), converted to T, which has the number `to`.
  template <typename T>
  std::vector<T> beside(const xmp_aligned& a, const xmp_aligned& other) {
    const Type type = integer(a);
    const AlignedLayout& from = layout_of(a, where());
    const AlignedLayout to = layout_of(other, where()).without_shadow(a.element);
    const size_t count = own_elements(to, sms_rank).size();
    std::vector<char> read(std::max<size_t>(1, count * a.element));
    move({&to, read.data(), whole(to), {}}, {&from, static_cast<char*>(a.data), whole(from), {}}, a.element);
    std::vector<T> out(count);
    convert(reinterpret_cast<char*>(out.data()), type_for<T>(), sizeof(T), read.data(), type,
            static_cast<int64_t>(a.element), static_cast<int64_t>(count));
    return out;
  }
  static std::vector<TransferSide::Dim> whole(const AlignedLayout& layout) {
    std::vector<TransferSide::Dim> out;
    for (int d = 0; d < layout.dims(); ++d) out.push_back({0, 1, layout.dim(d).extent});
    return out;
  }
  void move(const TransferSide& to, const TransferSide& from, size_t element) {
    require_done(Transfer::of_sections(executing(), sms_rank, to, from, element).perform(elements_.teams(), call_));
  }
  void require_done(const Status& status) const { require_at(status, where()); }

  const char* where() const { return where_.c_str(); }
  const char* place() const { return *call_.place == '\0' ? call_.name : call_.place; }
  const Call& call() const { return call_; }
  ElementExchange& elements() { return elements_; }

 private:
  const Call call_;
  const std::string where_;
  ElementExchange elements_;
};

// The elements of an array on this node, as what other elements get, or are got from.
struct Own {
  Own(const Intrinsic& in, const xmp_aligned& a)
      : element(a.element), data(static_cast<char*>(a.data)), all(own_elements(*in.part(a).layout, sms_rank)) {}
  // Copies those that `chosen` has, or all, one after the other.
  std::vector<char> packed(const std::vector<size_t>& chosen) const {
    std::vector<char> out(chosen.size() * element);
    for (size_t i = 0; i < chosen.size(); ++i) std::memcpy(out.data() + i * element, data + all[chosen[i]].at, element);
    return out;
  }
  void unpack(const std::vector<size_t>& chosen, const std::vector<char>& values) const {
    for (size_t i = 0; i < chosen.size(); ++i)
      std::memcpy(data + all[chosen[i]].at, values.data() + i * element, element);
  }

  const size_t element;
  char* const data;
  const std::vector<OwnElement> all;
};

std::vector<size_t> all_of(const Own& own) {
  std::vector<size_t> out(own.all.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = i;
  return out;
}

// The numbers of the elements of `of` that index arrays name, one for each element of `domain` on this node.
std::vector<int64_t> named_elements(Intrinsic& in, const xmp_aligned& of, const xmp_aligned& domain,
                                    std::span<const xmp_desc_t> indices) {
  if (std::ssize(indices) != of.dims)
    end_job(1, "%s: array %s has %s, and %s given; give one for each", in.where(), of.name,
            counted(of.dims, "dimension").c_str(),
            indices.size() == 1 ? "1 index array is" : format("%zu index arrays are", indices.size()).c_str());
  std::vector<int64_t> out;
  for (int d = 0; d < of.dims; ++d) {
    const xmp_aligned& index = in.array(indices[d], "an index array");
    in.require_shape(index, domain);
    const std::vector<int64_t> values = in.beside<int64_t>(index, domain);
    out.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0 || values[i] >= of.extent[d])
        end_job(1, "%s: %s has the index %ld, and dimension %d of %s has 0..%ld", in.where(), index.name, values[i],
                d + 1, of.name, of.extent[d] - 1);
      out[i] = out[i] * of.extent[d] + values[i];
    }
  }
  return out;
}

// It holds the elements of an array on this node that a mask has, with how many of all of them precede each.
struct Masked {
  std::vector<size_t> chosen;
  std::vector<int64_t> before;
};
Masked masked(Intrinsic& in, const xmp_aligned& a, const Own& own, const xmp_aligned& v, xmp_desc_t mask) {
  Masked out;
  in.require_dims(v, 1);
  in.require_type(v, a);
  int64_t all = count_elements(*in.part(a).layout);
  if (mask == nullptr) {
    out.chosen = all_of(own);
    for (const OwnElement& each : own.all) out.before.push_back(each.number);
  } else {
    const xmp_aligned& given = in.array(mask, "the mask");
    in.require_shape(given, a);
    const std::vector<int64_t> values = in.beside<int64_t>(given, a);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0) out.chosen.push_back(i), out.before.push_back(own.all[i].number);
    in.require_done(in.elements().count_before(out.before, all, all));
  }
  if (all > v.extent[0])
    end_job(1, "%s: %ld elements of %s are chosen, and %s has %ld", in.where(), all, a.name, v.name, v.extent[0]);
  return out;
}

}  // namespace

XMP_EXPORT void xmp_transpose_at(xmp_desc_t to, xmp_desc_t from, int /*opt*/, const char* place) {
  Intrinsic in("xmp_transpose", place);
  const xmp_aligned &x = in.array(to, "the first argument"), &a = in.array(from, "the second argument");
  in.require_dims(x, 2), in.require_dims(a, 2), in.require_type(x, a);
  in.require_same(x, 0, a, 1), in.require_same(x, 1, a, 0);
  const AlignedPart target = in.part(x), source = in.part(a);
  in.move({target.layout, target.data, Intrinsic::whole(*target.layout), {}},
          {source.layout, source.data, Intrinsic::whole(*source.layout), {1, 0}}, x.element);
}

XMP_EXPORT void xmp_matmul_at(xmp_desc_t to, xmp_desc_t left, xmp_desc_t right, const char* place) {
  Intrinsic in("xmp_matmul", place);
  const xmp_aligned &x = in.array(to, "the first argument"), &a = in.array(left, "the second argument"),
                    &b = in.array(right, "the third argument");
  for (const xmp_aligned* each : {&x, &a, &b}) in.require_dims(*each, 2), in.require_type(x, *each);
  in.require_same(x, 0, a, 0), in.require_same(x, 1, b, 1), in.require_same(a, 1, b, 0);
  const Type type = in.arithmetic(x, "a number", true);
  in.require_done(
      multiply(in.elements().teams(), executing(), sms_rank, in.call(), type, in.part(x), in.part(a), in.part(b)));
}

XMP_EXPORT void xmp_gather_at(xmp_desc_t to, xmp_desc_t from, int count, const xmp_desc_t indices[],
                              const char* place) {
  Intrinsic in("xmp_gather", place);
  const xmp_aligned &x = in.array(to, "the first argument"), &a = in.array(from, "the second argument");
  in.require_type(x, a);
  const std::vector<int64_t> numbers = named_elements(in, a, x, {indices, static_cast<size_t>(count)});
  const Own own(in, x);
  std::vector<char> values(numbers.size() * x.element);
  in.require_done(in.elements().get(in.part(a), numbers, values.data()));
  own.unpack(all_of(own), values);
}

XMP_EXPORT void xmp_scatter_at(xmp_desc_t to, xmp_desc_t from, int count, const xmp_desc_t indices[],
                               const char* place) {
  Intrinsic in("xmp_scatter", place);
  const xmp_aligned &x = in.array(to, "the first argument"), &a = in.array(from, "the second argument");
  in.require_type(x, a);
  std::vector<int64_t> numbers = named_elements(in, x, a, {indices, static_cast<size_t>(count)}), orders;
  const Own own(in, a);
  if (!has_first_copy(*in.part(a).layout, sms_rank)) numbers.clear();
  for (size_t i = 0; i < numbers.size(); ++i) orders.push_back(own.all[i].number);
  in.require_done(
      in.elements().put(in.part(x), numbers, orders, numbers.empty() ? nullptr : own.packed(all_of(own)).data()));
}

XMP_EXPORT void xmp_pack_at(xmp_desc_t to, xmp_desc_t from, xmp_desc_t mask, const char* place) {
  Intrinsic in("xmp_pack", place);
  const xmp_aligned &v = in.array(to, "the first argument"), &a = in.array(from, "the second argument");
  const Own own(in, a);
  Masked chosen = masked(in, a, own, v, mask);
  const std::vector<char> values = own.packed(chosen.chosen);
  if (!has_first_copy(*in.part(a).layout, sms_rank)) chosen.before.clear();
  in.require_done(in.elements().put(in.part(v), chosen.before, chosen.before, values.data()));
}

XMP_EXPORT void xmp_unpack_at(xmp_desc_t to, xmp_desc_t from, xmp_desc_t mask, const char* place) {
  Intrinsic in("xmp_unpack", place);
  const xmp_aligned &a = in.array(to, "the first argument"), &v = in.array(from, "the second argument");
  const Own own(in, a);
  const Masked chosen = masked(in, a, own, v, mask);
  std::vector<char> values(chosen.before.size() * a.element);
  in.require_done(in.elements().get(in.part(v), chosen.before, values.data()));
  own.unpack(chosen.chosen, values);
}

XMP_EXPORT void xmp_sort_at(xmp_desc_t from, xmp_desc_t to, int down, const char* place) {
  Intrinsic in(down != 0 ? "xmp_sort_down" : "xmp_sort_up", place);
  const xmp_aligned &a = in.array(from, "the first argument"), &b = in.array(to, "the second argument");
  in.require_dims(a, 1), in.require_dims(b, 1), in.require_type(a, b), in.require_same(a, 0, b, 0);
  const Type type = in.arithmetic(a, "one with an order", a.type >= 0 && has_order(static_cast<Type>(a.type)));
  in.require_done(sort_elements(in.elements(), type, in.part(a), in.part(b), down != 0));
}

// ---- without a place -----------------------------------------------------------------------------------------------

namespace {

// The index arrays of a call, as many as the array that they name elements of has dimensions.
std::vector<xmp_desc_t> index_arrays(xmp_desc_t of, va_list list) {
  const xmp_aligned* const array = find_aligned(of);
  std::vector<xmp_desc_t> out;
  for (int d = 0; array != nullptr && d < array->dims; ++d) out.push_back(va_arg(list, xmp_desc_t));
  return out;
}

}  // namespace

XMP_EXPORT void xmp_transpose(xmp_desc_t x, xmp_desc_t a, int opt) { xmp_transpose_at(x, a, opt, ""); }
XMP_EXPORT void xmp_matmul(xmp_desc_t x, xmp_desc_t a, xmp_desc_t b) { xmp_matmul_at(x, a, b, ""); }
XMP_EXPORT void xmp_gather(xmp_desc_t x, xmp_desc_t a, ...) {
  va_list list;
  va_start(list, a);
  const std::vector<xmp_desc_t> indices = index_arrays(a, list);
  va_end(list);
  xmp_gather_at(x, a, static_cast<int>(indices.size()), indices.data(), "");
}
XMP_EXPORT void xmp_scatter(xmp_desc_t x, xmp_desc_t a, ...) {
  va_list list;
  va_start(list, a);
  const std::vector<xmp_desc_t> indices = index_arrays(x, list);
  va_end(list);
  xmp_scatter_at(x, a, static_cast<int>(indices.size()), indices.data(), "");
}
XMP_EXPORT void xmp_pack(xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask) { xmp_pack_at(v, a, mask, ""); }
XMP_EXPORT void xmp_unpack(xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask) { xmp_unpack_at(a, v, mask, ""); }
XMP_EXPORT void xmp_sort_up(xmp_desc_t from, xmp_desc_t to) { xmp_sort_at(from, to, 0, ""); }
XMP_EXPORT void xmp_sort_down(xmp_desc_t from, xmp_desc_t to) { xmp_sort_at(from, to, 1, ""); }

}  // namespace hiroba
