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
  parts_.image_sync.fence_posted();
  parts_.pass_order(place, true, false);
  old = parts_.world->transport->words().perform(place.rank, RemoteWords::adding(bytes), place.offset, value, 0);
  parts_.pass_order(place, false, true);
  return {};
}

Status CoarrayAtomics::swap(const CoarraySection& word, unsigned bytes, uint64_t expected, uint64_t desired,
                            uint64_t& old) {
  RemoteAddress place;
  HIROBA_TRY(locate(word, bytes, place));
  parts_.image_sync.fence_posted();
  parts_.pass_order(place, true, true);
  old = parts_.world->transport->words().perform(place.rank, RemoteWords::swapping(bytes), place.offset, desired,
                                                 expected);
  return {};
}

}  // namespace hiroba
