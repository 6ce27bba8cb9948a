// Started operations of the module hiroba_collective. Fortran passes an array as it is, with the distance of its
// elements along each axis. Where it passed an address it would copy a section whose elements are not one after
// another, and an expression, and would take the copy back, or free it, when the call returns; the operation goes on
// after that. So what is given is copied here, and lives as long as the operation, and what is received for such a
// section is brought there when the operation is complete.
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "notation/collective/collective_process.hpp"

namespace hiroba {

namespace {

// An array as gfortran and flang pass it for dimension(..) to a procedure of C (CFI_cdesc_t).
struct FortranArray {
  struct Axis {
    ptrdiff_t lower, extent, step;  // step: bytes; extent: -1 of the last axis of an array of assumed size
  };
  char* base;
  size_t element;
  int32_t version;
  int8_t rank;
  int8_t about[3];
  Axis axes[15];

  std::span<const Axis> all() const { return {axes, static_cast<size_t>(rank)}; }
  // Returns false if it is one element, maybe of an array, or of assumed size: then all of it is contiguous.
  bool has_size() const { return base != nullptr && rank > 0 && axes[rank - 1].extent >= 0; }
  size_t bytes() const {
    size_t out = element;
    for (const Axis& axis : all()) out *= static_cast<size_t>(axis.extent);
    return out;
  }
  bool is_contiguous() const {
    auto step = static_cast<ptrdiff_t>(element);
    for (const Axis& axis : all()) {
      if (axis.extent > 1 && axis.step != step) return false;
      step *= axis.extent;
    }
    return true;
  }
  // Calls visit(element) for each element, in Fortran's order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for_each(rank - 1, base, visit);
  }

 private:
  template <typename Visit>
  void for_each(int axis, char* at, const Visit& visit) const {
    if (axis < 0) return visit(at);
    for (ptrdiff_t i = 0; i < axes[axis].extent; ++i) for_each(axis - 1, at + i * axes[axis].step, visit);
  }
};

struct CopiedBuffer {
  const void* data = nullptr;
  size_t bytes = 0;
};
thread_local std::array<CopiedBuffer, 2> copies_of_call;

// The buffers of one call, as contiguous memory that lives until the operation is complete.
class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  ~Buffers() { copies_of_call = {}; }

  const void* send(const FortranArray* array) {
    if (!array->has_size()) return array->base;
    sent_bytes_ = array->bytes();
    return copy(*array, sent_);
  }
  void* recv(const FortranArray* array) {
    if (!array->has_size() || array->is_contiguous()) return array->base;
    std::memcpy(&taken_, array, offsetof(FortranArray, axes) + array->all().size_bytes());  // it has no more axes
    return copy(*array, received_);  // what is given in place, and what is not overwritten, is there
  }
  // For the call that follows.
  void keep() const {
    copies_of_call = {CopiedBuffer{sent_.get(), sent_bytes_}, CopiedBuffer{received_.get(), taken_.bytes()}};
    finish_next([sent = sent_, received = received_, taken = taken_] {
      const char* from = received.get();
      if (from == nullptr) return;
      taken.for_each([&](char* element) { std::memcpy(element, from, taken.element), from += taken.element; });
    });
  }

 private:
  using Copy = std::shared_ptr<char[]>;
  static void* copy(const FortranArray& array, Copy& out) {
    if (array.base == HIROBA_IN_PLACE) return array.base;
    out.reset(new char[array.bytes() + 1]);
    char* to = out.get();
    if (array.is_contiguous()) return std::memcpy(to, array.base, array.bytes());
    array.for_each([&](const char* element) { std::memcpy(to, element, array.element), to += array.element; });
    return out.get();
  }

  Copy sent_, received_;
  size_t sent_bytes_ = 0;
  FortranArray taken_ = {};
};

}  // namespace

void require_in_copies(const void* data, size_t bytes, const char* which, const char* call) {
  for (const CopiedBuffer& copy : copies_of_call)
    if (data != nullptr && data == copy.data && bytes > copy.bytes)
      end_job(1, "%s: %s: the array %s has %zu bytes, and the call needs %zu", prefix(), call, which, copy.bytes,
              bytes);
}

// Defines the started form of an operation for Fortran. `parameters` have arrays send_, recv_ or both.
#define UNPACK(...) __VA_ARGS__
#define STARTED(name, parameters, arrays, arguments)                                                       \
  HIROBA_EXPORT void hiroba_fortran_##name(UNPACK parameters, hiroba_team team, hiroba_request* request) { \
    Buffers buffers;                                                                                       \
    UNPACK arrays;                                                                                         \
    buffers.keep();                                                                                        \
    hiroba_##name(UNPACK arguments, team, request);                                                        \
  }
#define BOTH (const void* const send = buffers.send(send_); void* const recv = buffers.recv(recv_))
using Given = const FortranArray*;

STARTED(ibcast, (Given recv_, int64_t count, hiroba_type type, int root), (void* const recv = buffers.recv(recv_)),
        (recv, count, type, root))
STARTED(ireduce, (Given send_, Given recv_, int64_t count, hiroba_type type, hiroba_op op, int root), BOTH,
        (send, recv, count, type, op, root))
STARTED(iallreduce, (Given send_, Given recv_, int64_t count, hiroba_type type, hiroba_op op), BOTH,
        (send, recv, count, type, op))
STARTED(iscan, (Given send_, Given recv_, int64_t count, hiroba_type type, hiroba_op op), BOTH,
        (send, recv, count, type, op))
STARTED(iexscan, (Given send_, Given recv_, int64_t count, hiroba_type type, hiroba_op op), BOTH,
        (send, recv, count, type, op))
STARTED(igather, (Given send_, Given recv_, int64_t count, hiroba_type type, int root), BOTH,
        (send, recv, count, type, root))
STARTED(iscatter, (Given send_, Given recv_, int64_t count, hiroba_type type, int root), BOTH,
        (send, recv, count, type, root))
STARTED(iallgather, (Given send_, Given recv_, int64_t count, hiroba_type type), BOTH, (send, recv, count, type))
STARTED(ialltoall, (Given send_, Given recv_, int64_t count, hiroba_type type), BOTH, (send, recv, count, type))
STARTED(ireduce_scatter_block, (Given send_, Given recv_, int64_t count, hiroba_type type, hiroba_op op), BOTH,
        (send, recv, count, type, op))
STARTED(ireduce_scatter, (Given send_, Given recv_, const int64_t counts[], hiroba_type type, hiroba_op op), BOTH,
        (send, recv, counts, type, op))
STARTED(igatherv,
        (Given send_, int64_t count, Given recv_, const int64_t counts[], const int64_t displs[], hiroba_type type,
         int root),
        BOTH, (send, count, recv, counts, displs, type, root))
STARTED(iscatterv,
        (Given send_, const int64_t counts[], const int64_t displs[], Given recv_, int64_t count, hiroba_type type,
         int root),
        BOTH, (send, counts, displs, recv, count, type, root))
STARTED(iallgatherv,
        (Given send_, int64_t count, Given recv_, const int64_t counts[], const int64_t displs[], hiroba_type type),
        BOTH, (send, count, recv, counts, displs, type))
STARTED(ialltoallv,
        (Given send_, const int64_t sendcounts[], const int64_t senddispls[], Given recv_, const int64_t recvcounts[],
         const int64_t recvdispls[], hiroba_type type),
        BOTH, (send, sendcounts, senddispls, recv, recvcounts, recvdispls, type))
STARTED(ineighbor_alltoall,
        (Given send_, int nto, const int to[], Given recv_, int nfrom, const int from[], int64_t count,
         hiroba_type type),
        BOTH, (send, nto, to, recv, nfrom, from, count, type))

}  // namespace hiroba
