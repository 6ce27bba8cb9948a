// A section: equal blocks of memory at regular distances. It is what every model names, moves and compares: a part of a
// shared array, of a coarray or of private memory, what a task uses, a box that the transport sends.
//
// Values and their arithmetic, thread-safe; nothing here touches the memory that a section describes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hiroba {

// Memory of a rank.
struct RemoteAddress {
  int rank = 0;
  uint64_t offset = 0;   // in the address range, if it is not on this node
  char* here = nullptr;  // where this process can access it; null: through the transport
};

// Bytes [low, high) relative to a section's address.
struct ByteRange {
  int64_t low, high;
};

// A section with any number of dimensions, as functions take it. Valid as long as the section that it is of.
struct SectionView {
  char* address;
  size_t bytes;
  int dims;
  const int64_t *count, *stride;

  bool operator==(const SectionView& other) const {
    return address == other.address && bytes == other.bytes && dims == other.dims &&
           std::equal(count, count + dims, other.count) && std::equal(stride, stride + dims, other.stride);
  }
  // Requires a section that is not empty.
  ByteRange bounds() const {
    ByteRange out = {0, static_cast<int64_t>(bytes)};
    for (int d = 0; d < dims; ++d) {
      const int64_t span = (count[d] - 1) * stride[d];
      (span < 0 ? out.low : out.high) += span;
    }
    return out;
  }
  int64_t blocks() const {
    int64_t product = 1;
    for (int d = 0; d < dims; ++d) product *= count[d];
    return product;
  }
  // "[4][8]": the counts, for messages.
  std::string shape() const;
};

// Blocks of `bytes` contiguous bytes, count[d] times along dimension d, the outermost first, stride[d] bytes apart, at
// most `Most` dimensions. The address is that of the first block; it is null where a section is only a shape. Entries
// of the arrays beyond `dims` are not set: to clear or copy them would take longer than to move a few bytes.
template <int Most>
struct SectionOf {
  static constexpr int most_dims = Most;
  char* address = nullptr;
  size_t bytes = 0;
  int dims = 0;
  std::array<int64_t, Most> count, stride;

  SectionOf() = default;
  SectionOf(const void* at, size_t size) : address(const_cast<char*>(static_cast<const char*>(at))), bytes(size) {}
  SectionOf(const SectionOf&)
    requires(Most <= 4)
  = default;
  SectionOf(const SectionOf& other) : SectionOf(other.view()) {}
  SectionOf& operator=(const SectionOf&)
    requires(Most <= 4)
  = default;
  SectionOf& operator=(const SectionOf& other) {  // NOLINT(*-self-assignment): a copy to itself changes nothing
    address = other.address, bytes = other.bytes, dims = other.dims;
    std::copy_n(other.count.data(), dims, count.data());
    std::copy_n(other.stride.data(), dims, stride.data());
    return *this;
  }
  // Requires at most `Most` dimensions.
  explicit SectionOf(const SectionView& v) : address(v.address), bytes(v.bytes), dims(v.dims) {
    std::copy_n(v.count, dims, count.data());
    std::copy_n(v.stride, dims, stride.data());
  }

  SectionView view() const { return {address, bytes, dims, count.data(), stride.data()}; }
  operator SectionView() const { return view(); }  // NOLINT: implicit, because it is the same section

  bool operator==(const SectionOf& other) const { return view() == other.view(); }
  int64_t blocks() const { return view().blocks(); }
  size_t total() const { return bytes * static_cast<size_t>(blocks()); }
  bool empty() const {
    return bytes == 0 || std::any_of(count.data(), count.data() + dims, [](int64_t n) { return n <= 0; });
  }
  ByteRange bounds() const { return view().bounds(); }
  std::string shape() const { return view().shape(); }
  const char* end() const { return address + bounds().high; }

  void add(int64_t of_count, int64_t of_stride) { count[dims] = of_count, stride[dims++] = of_stride; }
  // The same blocks in the same order, one after the other from `at` on.
  SectionOf dense(char* at = nullptr) const {
    SectionOf out = *this;
    out.address = at;
    auto step = static_cast<int64_t>(bytes);
    for (int d = dims - 1; d >= 0; step *= count[d--]) out.stride[d] = step;
    return out;
  }
  // As many blocks, all at the same place: one value that is used again for each.
  SectionOf repeated() const {
    SectionOf out = *this;
    std::fill_n(out.stride.data(), dims, 0);
    return out;
  }
};

using Section = SectionOf<8>;

// True if they share a byte. Exact where both lie in one array, so that their strides are the same where they have
// them; elsewhere true where one begins before the other ends.
bool overlap(const SectionView& a, const SectionView& b);
// Returns the first byte of `a`, in the order of its blocks, that is in `b`, too; null if there is none. Exact, in time
// that grows with the number of blocks of `a`.
const char* common_byte(const SectionView& a, const SectionView& b);
// True if all bytes of `inner` are in `outer`; false where that is not easily seen.
bool covers(const SectionView& outer, const SectionView& inner);

}  // namespace hiroba
