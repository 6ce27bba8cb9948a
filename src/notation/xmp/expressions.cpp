// Functions for expressions over sections: temporary arrays, checks, and the coarray of an address.
#define SMS_NO_PLACES
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

XMP_EXPORT int xmp_checking;
int xmp_checking = 0;

namespace {

// Descriptors of all allocated coarrays, to find one by an address; and the last freed ones of the library, so that a
// use of one gives a message.
struct Allocated {
  std::shared_mutex mutex;
  std::vector<xmp_coarray*> descriptors;
  std::deque<std::unique_ptr<const OwnCoarray>> freed;
};

Allocated& allocated() {
  static Allocated& all = *new Allocated;  // never destroyed: the job may end after the program's own destructors
  return all;
}

}  // namespace

OwnCoarray::OwnCoarray(const char* name_of, const char* place_of)
    : xmp_coarray{},
      name_text(name_of == nullptr ? "coarray" : name_of),
      place_text(place_of == nullptr ? "unnamed" : place_of) {
  name = name_text.c_str(), place = place_text.c_str();
}

void register_coarray(xmp_coarray* coarray) {
  const std::unique_lock lock(allocated().mutex);
  allocated().descriptors.push_back(coarray);
}

bool is_allocated(const void* coarray) {
  const std::shared_lock lock(allocated().mutex);
  const auto& all = allocated().descriptors;
  return std::find(all.begin(), all.end(), coarray) != all.end();
}

void require_allocated(const xmp_coarray* coarray, const char* place) {
  if (!is_allocated(coarray)) end_job(1, "%s: the coarray is not allocated, or has been freed already", place);
}

void deregister_coarray(xmp_coarray* c) {
  constexpr size_t most = 100;
  delete static_cast<Coarray*>(c->opaque);
  c->opaque = nullptr, c->data = nullptr, c->images = nullptr;
  const std::unique_lock lock(allocated().mutex);
  std::erase(allocated().descriptors, c);
  if (c->codims != OwnCoarray::mark) return;
  allocated().freed.emplace_back(static_cast<const OwnCoarray*>(c));
  if (allocated().freed.size() > most) allocated().freed.pop_front();
}

void deregister_all_coarrays() {
  for (xmp_coarray* c : std::vector(allocated().descriptors)) deregister_coarray(c);
}

XMP_EXPORT const xmp_coarray* xmp_coarray_of(const void* address, const char* place) {
  const std::shared_lock lock(allocated().mutex);
  for (const xmp_coarray* c : allocated().descriptors) {
    const auto offset = static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(c->data));
    if (offset < c->bytes) return c;
  }
  end_job(1, "%s: address %p lies in no coarray's part of this image; pass a coarray, or part of one", place, address);
}

XMP_EXPORT void xmp_touch(const xmp_section* section, size_t element, int writes, const char* place) {
  coarrays("xmp_touch", place).assignments().touch(section_of(*section, element, place), writes != 0);
}

XMP_EXPORT void* xmp_temporary(size_t bytes, const char* place) {
  void* const room = std::malloc(bytes == 0 ? 1 : bytes);
  if (room == nullptr) end_job(1, "%s: no memory for a temporary array of %zu bytes", place, bytes);
  return room;
}

XMP_EXPORT void xmp_shape_error(int64_t left, int64_t right, int dimension, const char* text, const char* place) {
  end_job(1, "%s: %s do not fit: %ld and %ld elements in dimension %d", place, text, left, right, dimension + 1);
}

}  // namespace hiroba
