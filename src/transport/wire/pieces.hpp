// The fastest piece sizes of bulk data over TCP: README.md, "Pieces". Each wire chooses for its library.
#pragma once

#include <cstddef>

#include "base/machine/host.hpp"

namespace hiroba {

// Most libraries send small pieces eagerly; big ones cost two more messages, but are not copied.
constexpr size_t small_piece = 60 << 10, big_piece = size_t{8} << 20;

// `sent_at_once`: the library sends a small piece eagerly.
inline size_t tcp_get_piece(size_t bytes, bool deferred, bool sent_at_once) {
  static const bool paced = is_paced(tcp_congestion_control());
  size_t most_in_small_pieces = size_t{sent_at_once ? 4U : 1U} << 20;
  if (deferred && !sent_at_once) most_in_small_pieces = small_piece;
  if (!deferred && !paced) most_in_small_pieces = 256 << 10;
  return bytes <= most_in_small_pieces ? small_piece : big_piece;
}

}  // namespace hiroba
