#include "coarray/atomics.hpp"

#include "coarray/parts.hpp"

namespace hiroba {

Status CoarrayAtomics::locate(const CoarraySection& word, unsigned bytes, RemoteAddress& out) const {
  if (bytes != 4 && bytes != 8)
    return Status::error("atomic access to %u bytes; integers of 4 or 8 bytes can be accessed so", bytes);
  HIROBA_TRY(parts_.locate(word, out));
  if (out.offset % bytes == 0) return {};
  return Status::error("atomic access to a word of %u bytes that is not aligned: its address is no multiple of %u",
                       bytes, bytes);
}

Status CoarrayAtomics::add(const CoarraySection& word, unsigned bytes, uint64_t value, uint64_t& old) {
  RemoteAddress place;
  HIROBA_TRY(locate(word, bytes, place));
  Transport& transport = *parts_.world->transport;
  parts_.image_sync.fence_posted();
  parts_.pass_order(place, true, false);
  old = bytes == 8 ? transport.words().fetch_add64(place.rank, place.offset, value)
                   : transport.words().fetch_add32(place.rank, place.offset, static_cast<uint32_t>(value));
  parts_.pass_order(place, false, true);
  return {};
}

Status CoarrayAtomics::swap(const CoarraySection& word, unsigned bytes, uint64_t expected, uint64_t desired,
                            uint64_t& old) {
  RemoteAddress place;
  HIROBA_TRY(locate(word, bytes, place));
  Transport& transport = *parts_.world->transport;
  parts_.image_sync.fence_posted();
  parts_.pass_order(place, true, true);
  old = bytes == 8 ? transport.words().compare_swap64(place.rank, place.offset, expected, desired)
                   : transport.words().compare_swap32(place.rank, place.offset, static_cast<uint32_t>(expected),
                                                      static_cast<uint32_t>(desired));
  return {};
}

}  // namespace hiroba
