// The C entry points of the heap, of sms.h: they check arguments, and end the job on errors.
#define SMS_NO_PLACES
#include "base/log.hpp"
#include "base/text.hpp"
#include "process/process.hpp"
#include "sms.h"
#include "transaction/transaction.hpp"

#define SMS_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

// Returns the call for messages: "sms_malloc(64)".
[[gnu::cold]] std::string text(const char* call, size_t bytes) { return format("%s(%zu)", call, bytes); }

// A size that no machine has is a negative number, or one that has overflowed.
void check_size(const char* call, size_t bytes, const char* place) {
  if (bytes > PTRDIFF_MAX)
    end_job(1, "%s: %s: no object is so large; was the number negative?", place, text(call, bytes).c_str());
}

void* allocate(const Heap::Request& request, const char* call) {
  check_size(call, request.bytes, request.place);
  void* out = nullptr;
  const Status status = process_memory(call).heap().allocate(request, out);
  if (!status.ok())
    end_job(1, "%s: %s: %s", request.place, text(call, request.bytes).c_str(), status.message().c_str());
  return out;
}

}  // namespace

SMS_EXPORT void* sms_malloc_at(size_t bytes, const char* place) {
  if (void* const kept = Heap::allocate_kept(bytes); kept != nullptr) return kept;
  Heap::Request request;
  request.bytes = bytes, request.place = place;
  return allocate(request, "sms_malloc");
}

SMS_EXPORT void* sms_malloc_on_at(size_t bytes, int rank, const char* place) {
  Heap::Request request;
  request.bytes = bytes, request.place = place, request.home = rank;
  if (rank < 0) end_job(1, "%s: sms_malloc_on(%zu, %d): rank %d does not exist", place, bytes, rank, rank);
  return allocate(request, "sms_malloc_on");
}

SMS_EXPORT void* sms_calloc_at(size_t n, size_t bytes, const char* place) {
  Heap::Request request;
  if (__builtin_mul_overflow(n, bytes, &request.bytes))
    end_job(1, "%s: sms_calloc(%zu, %zu): the product is too large; was one of them negative?", place, n, bytes);
  request.place = place, request.zeroed = true;
  return allocate(request, "sms_calloc");
}

SMS_EXPORT void* sms_aligned_alloc_at(size_t alignment, size_t bytes, const char* place) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    end_job(1, "%s: sms_aligned_alloc(%zu, %zu): the alignment is not a power of two", place, alignment, bytes);
  check_size("sms_aligned_alloc", alignment, place);
  Heap::Request request;
  request.bytes = bytes, request.alignment = alignment, request.place = place;
  return allocate(request, "sms_aligned_alloc");
}

SMS_EXPORT void* sms_realloc_at(void* object, size_t bytes, const char* place) {
  if (object == nullptr) return sms_malloc_at(bytes, place);
  check_size("sms_realloc", bytes, place);
  if (Transaction::running() != nullptr) [[unlikely]]
    require_lockable("sms_realloc");
  Heap::Request request;
  request.bytes = bytes, request.place = place;
  void* out = nullptr;
  const Status status = process_memory("sms_realloc").heap().reallocate(object, request, out);
  if (!status.ok()) end_job(1, "%s: %s: %s", place, text("sms_realloc", bytes).c_str(), status.message().c_str());
  return out;
}

SMS_EXPORT void sms_mfree_at(void* object, const char* place) {
  if (Transaction::running() != nullptr) [[unlikely]]
    require_lockable("sms_mfree (hiroba_tx_free waits for the commit)");
  if (Heap::keep(object) || object == nullptr) return;
  const Status status = process_memory("sms_mfree").heap().free(object, place);
  if (!status.ok()) end_job(1, "%s: sms_mfree: %s", place, status.message().c_str());
}

SMS_EXPORT void sms_heap_stats(sms_heap_statistics* out) {
  Heap::Statistics s;
  const Status status = process_memory("sms_heap_stats").heap().statistics(s, true);
  if (!status.ok()) end_job(1, "sms_heap_stats: %s", status.message().c_str());
  *out = {s.live, s.used, s.returned, s.batches};
}

// Defines the functions themselves, for programs that take their address, and other languages.
SMS_EXPORT void* sms_malloc(size_t bytes) { return sms_malloc_at(bytes, "unnamed"); }
SMS_EXPORT void* sms_malloc_on(size_t bytes, int rank) { return sms_malloc_on_at(bytes, rank, "unnamed"); }
SMS_EXPORT void* sms_calloc(size_t n, size_t bytes) { return sms_calloc_at(n, bytes, "unnamed"); }
SMS_EXPORT void* sms_aligned_alloc(size_t alignment, size_t bytes) {
  return sms_aligned_alloc_at(alignment, bytes, "unnamed");
}
SMS_EXPORT void* sms_realloc(void* object, size_t bytes) { return sms_realloc_at(object, bytes, "unnamed"); }
SMS_EXPORT void sms_mfree(void* object) { sms_mfree_at(object, "unnamed"); }

}  // namespace hiroba
