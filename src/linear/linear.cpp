#include "linear/linear.hpp"

#include "base/tables/phrases.hpp"
#include "linear/parts.hpp"

namespace hiroba {

Linear::Linear() : parts_(std::make_unique<LinearParts>()) {}
Linear::~Linear() = default;

void Linear::start(Memory& memory, bool reproducible) {
  parts_->memory = &memory, parts_->reproducible = reproducible;
  parts_->rank = memory.job().rank, parts_->ranks = memory.job().nranks, parts_->far = memory.job().nnodes > 1;
}

void Linear::at_barrier() { parts_->order.at_barrier(); }

namespace {

// Finds the array of these bytes, relative to `data`; `what` describes them.
template <typename What>
Status find(const Memory& memory, const char* name, const void* data, int64_t bytes, const What& what, Array*& out) {
  const auto* const at = static_cast<const char*>(data);
  if (const Status found = memory.arrays().find(data, out); !found.ok())
    return Status::error("%s: %s; shared arrays come from %s, and libhiroba_blas is for private memory", name,
                         found.message().c_str(), phrases().allocate_array);
  const int64_t left = out->data + out->distribution.bytes() - at;
  if (bytes <= left) return {};
  return Status::error("%s: %s goes over the end of array %s, by %ld bytes", name, what().c_str(), out->name,
                       bytes - left);
}

}  // namespace

Status find_vector(const Memory& memory, const char* name, const void* data, int64_t n, int64_t inc, size_t bytes,
                   SharedVector& out) {
  if (inc == 0) return Status::error("inc%s is 0; it is the distance between elements, 1 for consecutive ones", name);
  const auto element = static_cast<int64_t>(bytes);
  int64_t span = 0;
  if (__builtin_mul_overflow((n - 1), inc, &span) || __builtin_mul_overflow(span, element, &span))
    return Status::error("%s: %ld elements with distance %ld overflow the address range", name, n, inc);
  const auto what = [&] { return format("a vector of %ld elements with distance %ld", n, inc); };
  Array* array = nullptr;
  HIROBA_TRY(find(memory, name, data, std::abs(span) + element, what, array));
  const int64_t start = static_cast<const char*>(data) - array->data;
  out = {array, span < 0 ? start - span : start, inc * element, n, element};
  return {};
}

Status find_matrix(const Memory& memory, const char* name, const void* data, int64_t rows, int64_t columns, int64_t lda,
                   size_t bytes, SharedMatrix& out) {
  if (lda < columns)
    return Status::error("ld%c is %ld, and a line of the matrix has %ld elements; it is the distance between lines",
                         *name | 0x20, lda, columns);
  const auto element = static_cast<int64_t>(bytes);
  int64_t span = 0;
  if (__builtin_mul_overflow(rows - 1, lda, &span) || __builtin_add_overflow(span, columns, &span) ||
      __builtin_mul_overflow(span, element, &span))
    return Status::error("%s: %ld lines with distance %ld overflow the address range", name, rows, lda);
  const auto what = [&] {
    return format("a matrix of %ld lines of %ld elements with distance %ld", rows, columns, lda);
  };
  Array* array = nullptr;
  HIROBA_TRY(find(memory, name, data, span, what, array));
  out = {array, static_cast<const char*>(data) - array->data, lda * element, rows, columns, element};
  return {};
}

}  // namespace hiroba
