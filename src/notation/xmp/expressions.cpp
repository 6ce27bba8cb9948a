// What expressions over sections need beside xmp_assign: room, checks, and the coarray that an address lies in.
#define SMS_NO_PLACES
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "notation/sms/process.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {
namespace {

// Descriptors of all coarrays that are allocated, for what is known by its address alone.
struct Allocated {
  std::shared_mutex mutex;
  std::vector<const xmp_coarray*> descriptors;
};

Allocated& allocated() {
  static Allocated all;
  return all;
}

}  // namespace

void remember(const xmp_coarray* coarray) {
  const std::unique_lock lock(allocated().mutex);
  allocated().descriptors.push_back(coarray);
}

void forget(const xmp_coarray* coarray) {
  const std::unique_lock lock(allocated().mutex);
  std::erase(allocated().descriptors, coarray);
}

}  // namespace hiroba

using hiroba::end_job;

XMP_EXPORT const xmp_coarray* xmp_coarray_of(const void* address, const char* place) {
  const std::shared_lock lock(hiroba::allocated().mutex);
  for (const xmp_coarray* c : hiroba::allocated().descriptors) {
    const auto offset = static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(c->data));
    if (offset < c->bytes) return c;
  }
  end_job(1, "%s: address %p lies in no coarray's part of this image; pass a coarray, or part of one", place, address);
}

XMP_EXPORT void* xmp_temporary(size_t bytes, const char* place) {
  void* const room = std::malloc(bytes == 0 ? 1 : bytes);
  if (room == nullptr) end_job(1, "%s: no memory for a temporary array of %zu bytes", place, bytes);
  return room;
}

XMP_EXPORT void xmp_shape_error(int64_t left, int64_t right, int dimension, const char* text, const char* place) {
  end_job(1, "%s: %s do not fit: %lld and %lld elements in dimension %d", place, text, static_cast<long long>(left),
          static_cast<long long>(right), dimension + 1);
}
