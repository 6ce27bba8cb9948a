// Synchronisation, locks and atomics of xmp.h.
#define SMS_NO_PLACES
#include <algorithm>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// Returns the beginning of messages.
const char* place_of(const Call& call) { return *call.place == '\0' ? call.name : call.place; }

}  // namespace

void synchronise(const Team& set, const Call& call) {
  ImageSync& sync = coarrays(call.name, call.place).image_sync();
  if (set.is_all(sms_nprocs)) begin_barrier(call.name);
  else require_all_ranks(call.name);
  require_at(sync.sync_all(set, call), place_of(call));
}

void synchronise_shared(const Team& set, const Call& call) {
  if (set.is_all(sms_nprocs)) return synchronise(set, call);
  require_all_ranks(call.name);
  require_at(coarrays(call.name, call.place).image_sync().sync_ranks(set.ranks(), call), place_of(call));
}

namespace {

void set_success(int* status) {
  if (status != nullptr) *status = XMP_STAT_SUCCESS;
}

void sync_with(std::span<const int> images, const Call& call) {
  ImageSync& sync = coarrays(call.name, call.place).image_sync();
  const Team set = executing();
  std::vector<int> ranks;
  for (const int image : images) ranks.push_back(rank_of_image(set, image, "the executing set", call.text().c_str()));
  // Two images that name each other synchronise once.
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  require_at(sync.sync_ranks(ranks, call), place_of(call));
}

CoarraySection lock_of(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* call, const char* place) {
  static_assert(sizeof(xmp_lock_t) == 24);
  if (coarray == nullptr) end_job(1, "%s: %s of a lock that is not in a coarray", place, call);
  return section_of(coarray, image, lock, sizeof *lock, place);
}

CoarraySection word_of(const xmp_coarray* coarray, int image, const void* address, size_t bytes, const char* call,
                       const char* place) {
  if (coarray == nullptr) end_job(1, "%s: %s of a variable that is not a coarray", place, call);
  return section_of(coarray, image, address, bytes, place);
}

uint64_t add(const CoarraySection& word, size_t bytes, int64_t value, const char* call, const char* place) {
  uint64_t old = 0;
  require_at(coarrays(call).atomics().add(word, static_cast<unsigned>(bytes), static_cast<uint64_t>(value), old),
             place);
  return old;
}

uint64_t swap(const CoarraySection& word, size_t bytes, uint64_t expected, uint64_t desired, const char* call,
              const char* place) {
  uint64_t old = 0;
  require_at(coarrays(call).atomics().swap(word, static_cast<unsigned>(bytes), expected, desired, old), place);
  return old;
}

int64_t widen(uint64_t value, size_t bytes) {
  return bytes == 4 ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
}

}  // namespace

XMP_EXPORT void xmp_sync_memory_at(int* status, const char* place) {
  const Call call = {"xmp_sync_memory", place};
  require_at(coarrays(call.name, place).image_sync().sync_memory(call), call.name);
  set_success(status);
}

XMP_EXPORT void xmp_sync_all_at(int* status, const char* place) {
  synchronise(executing(), {"xmp_sync_all", place});
  set_success(status);
}

XMP_EXPORT void xmp_barrier_at(const char* place) { synchronise(executing(), {"xmp_barrier", place}); }

XMP_EXPORT void xmp_barrier_on(const xmp_node_reference* on, const char* place) {
  coarrays("xmp_barrier_on", place);
  const Team set = participants(on, place);
  if (set.count > 0) synchronise(set, {"xmp_barrier_on", place});
}

XMP_EXPORT void xmp_sync_image_at(int image, int* status, const char* place) {
  sync_with({&image, 1}, {"xmp_sync_image", place});
  set_success(status);
}

XMP_EXPORT void xmp_sync_images_at(int count, const int images[], int* status, const char* place) {
  const Call call = {"xmp_sync_images", place};
  coarrays(call.name, place);
  if (count < 0) end_job(1, "%s with %d images", call.text().c_str(), count);
  sync_with({images, static_cast<size_t>(count)}, call);
  set_success(status);
}

XMP_EXPORT void xmp_sync_images_all_at(int* status, const char* place) {
  std::vector<int> images;
  for (int i = 0; i < xmp_executing.count; ++i) images.push_back(i);
  sync_with(images, {"xmp_sync_images_all", place});
  set_success(status);
}

XMP_EXPORT void xmp_sync_memory(int* status) { xmp_sync_memory_at(status, ""); }
XMP_EXPORT void xmp_sync_all(int* status) { xmp_sync_all_at(status, ""); }
XMP_EXPORT void xmp_sync_image(int image, int* status) { xmp_sync_image_at(image, status, ""); }
XMP_EXPORT void xmp_sync_images(int count, const int images[], int* status) {
  xmp_sync_images_at(count, images, status, "");
}
XMP_EXPORT void xmp_sync_images_all(int* status) { xmp_sync_images_all_at(status, ""); }
XMP_EXPORT void xmp_barrier(void) { xmp_barrier_at(""); }

namespace {

void post(int rank, int64_t tag, const char* place) {
  ImageSync& sync = coarrays("xmp_post", place).image_sync();
  if (tag == XMP_ANY_TAG) end_job(1, "%s: xmp_post with XMP_ANY_TAG, which is for xmp_wait", place);
  require_at(sync.post(rank, tag, {"xmp_post", place}), place);
}

// Returns the image of the executing set that posted; -1 if it is another.
int wait(int rank, int64_t tag, const char* place) {
  int from = 0;
  require_at(coarrays("xmp_wait", place).image_sync().wait(rank, tag, {"xmp_wait", place}, from), place);
  return executing().find(from);
}

}  // namespace

XMP_EXPORT void xmp_post(int image, int64_t tag, const char* place) {
  coarrays("xmp_post", place);
  post(rank_of_image(executing(), image, "xmp_post", place), tag, place);
}

XMP_EXPORT void xmp_post_node(const xmp_node_reference* one, int64_t tag, const char* place) {
  coarrays("xmp_post", place);
  post(rank_of_node(*one, place), tag, place);
}

XMP_EXPORT int xmp_wait(int image, int64_t tag, const char* place) {
  coarrays("xmp_wait", place);
  const bool any = image == XMP_ANY_IMAGE;
  return wait(any ? ImageSync::any_rank : rank_of_image(executing(), image, "xmp_wait", place), tag, place);
}

XMP_EXPORT int xmp_wait_node(const xmp_node_reference* one, int64_t tag, const char* place) {
  coarrays("xmp_wait", place);
  return wait(rank_of_node(*one, place), tag, place);
}

// ---- locks ---------------------------------------------------------------------------------------------------------

XMP_EXPORT void xmp_lock_at(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* place) {
  CoarrayLocks& locks = coarrays("xmp_lock", place).locks();
  require_at(locks.lock(lock_of(coarray, image, lock, "xmp_lock", place), {"xmp_lock", place}), place);
}

XMP_EXPORT int xmp_trylock_at(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* place) {
  CoarrayLocks& locks = coarrays("xmp_trylock", place).locks();
  bool taken = false;
  require_at(locks.try_lock(lock_of(coarray, image, lock, "xmp_trylock", place), {"xmp_trylock", place}, taken), place);
  return taken ? 1 : 0;
}

XMP_EXPORT void xmp_unlock_at(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* place) {
  CoarrayLocks& locks = coarrays("xmp_unlock", place).locks();
  require_at(locks.unlock(lock_of(coarray, image, lock, "xmp_unlock", place), {"xmp_unlock", place}), place);
}

// ---- atomics -------------------------------------------------------------------------------------------------------

XMP_EXPORT void xmp_atomic_define_at(const xmp_coarray* coarray, int image, void* address, size_t bytes, int64_t value,
                                     const char* place) {
  const char* const call = "xmp_atomic_define";
  coarrays(call, place);
  const CoarraySection word = word_of(coarray, image, address, bytes, call, place);
  const uint64_t desired = bytes == 4 ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
  uint64_t old = add(word, bytes, 0, call, place);
  for (uint64_t seen = 0; (seen = swap(word, bytes, old, desired, call, place)) != old;) old = seen;
}

XMP_EXPORT int64_t xmp_atomic_ref_at(const xmp_coarray* coarray, int image, const void* address, size_t bytes,
                                     const char* place) {
  const char* const call = "xmp_atomic_ref";
  // A rank that spins on a flag also answers requests of others.
  coarrays(call, place);
  process_memory(call).transport().progress();
  return widen(add(word_of(coarray, image, address, bytes, call, place), bytes, 0, call, place), bytes);
}

XMP_EXPORT int64_t xmp_atomic_fetch_add_at(const xmp_coarray* coarray, int image, void* address, size_t bytes,
                                           int64_t value, const char* place) {
  const char* const call = "xmp_atomic_fetch_add";
  coarrays(call, place);
  return widen(add(word_of(coarray, image, address, bytes, call, place), bytes, value, call, place), bytes);
}

XMP_EXPORT int64_t xmp_atomic_cas_at(const xmp_coarray* coarray, int image, void* address, size_t bytes,
                                     int64_t expected, int64_t desired, const char* place) {
  const char* const call = "xmp_atomic_cas";
  coarrays(call, place);
  const auto narrow = [bytes](int64_t value) {
    return bytes == 4 ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
  };
  return widen(swap(word_of(coarray, image, address, bytes, call, place), bytes, narrow(expected), narrow(desired),
                    call, place),
               bytes);
}

}  // namespace hiroba
