// Computes the changes of a page since its twin was made, as pieces (transport/packed.hpp).
//
// Exact to the byte, or to scalars of 2, 4 or 8 bytes: another rank may write the neighbouring scalar of the same page
// in the same epoch, and if two write the same scalar, the value of one remains, not bytes of both. Other threads of
// this rank may write the page at the same time: each scalar is read once, and the value read goes both into the pieces
// and into the twin, so the next diff finds a later write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/layout.hpp"
#include "transport/transport.hpp"

namespace hiroba {

static_assert(page_bytes == Packed::page);

// A page with more changed places than this is sent as a masked piece.
constexpr size_t most_plain_pieces = 8;
// Limits the words of the pieces of a page: never many more than the page has.
constexpr size_t max_diff_words = most_masked_words;
static_assert(page_bytes / 8 + 2 * most_plain_pieces <= max_diff_words);

// The result for a page that has changed in every scalar: its twin is to be sent.
constexpr size_t whole_page = SIZE_MAX;

// Appends the pieces for a page at global offset `offset` to `out` (room for max_diff_words) and copies the changes
// into the twin. Returns the number of words written; 0 if nothing changed; whole_page, with no words written, if all
// changed.
size_t diff_page(const void* page, void* twin, uint64_t offset, size_t scalar, uint64_t* out);

// Merges the other way: copies the scalars in which `fresh`, the home's present content, differs from the twin into the
// page and the twin. Other scalars, which this rank may have written since the twin, stay; threads may write them at
// the same time.
void merge_page(const void* fresh, void* twin, size_t scalar, void* page);

}  // namespace hiroba
