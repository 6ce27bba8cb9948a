// What changed in a page since its twin was made, as pieces for Transport::put_packed.
//
// Exact to the byte, or to scalars of 2, 4 or 8 bytes: another rank may write the neighbouring scalar of the same page
// in the same epoch, and of two that write the same one the value of one remains, not bytes of both. Other threads of
// this rank may write the page meanwhile: each scalar is read once, and what was read goes both into the pieces and
// into the twin, so a later write is found by the next diff.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/layout.hpp"
#include "transport/transport.hpp"

namespace hiroba {

static_assert(page_bytes == Packed::page);

// Where bytes change in more places than this, their difference is a masked piece.
constexpr size_t most_plain_pieces = 8;
// How many words the pieces of a page may need: never many more than the page has.
constexpr size_t max_diff_words = most_masked_words;
static_assert(page_bytes / 8 + 2 * most_plain_pieces <= max_diff_words);

// Of a page that has changed in every scalar: what is to be sent is the twin.
constexpr size_t whole_page = SIZE_MAX;

// Appends the pieces for a page at global offset `offset` to `out` (room for max_diff_words) and makes the twin equal
// to what was read. Returns the number of words written; 0 if nothing changed; whole_page, and writes none, if all did.
size_t diff_page(const void* page, void* twin, uint64_t offset, size_t scalar, uint64_t* out);

// The other way: the scalars in which `fresh`, what the home has now, differs from the twin go into the page and the
// twin. What this rank has written to others since the twin stays. Threads may write those meanwhile.
void merge_page(const void* fresh, void* twin, size_t scalar, void* page);

}  // namespace hiroba
