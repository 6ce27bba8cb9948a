// What changed in a page since its twin was made, at byte precision, as pieces for Transport::put_packed.
//
// Exact to the byte, because another rank may write the neighbouring byte of the same page in the same epoch.
// Other threads of this rank may write the page meanwhile: each word is read once, and what was read goes both into
// the pieces and into the twin, so a later write is found by the next diff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/layout.hpp"

namespace hiroba {

// Pieces of at most one page; how many words they may need in the worst case (every second byte).
constexpr size_t max_diff_words = page_bytes / 2 * 2;

// Of a page that has changed in every byte: what is to be sent is the twin.
constexpr size_t whole_page = SIZE_MAX;

// Appends the pieces for a page at global offset `offset` to `out` (room for max_diff_words) and makes the twin equal
// to what was read. Returns the number of words written; 0 if nothing changed; whole_page, and writes none, if all did.
size_t diff_page(const void* page, void* twin, uint64_t offset, uint64_t* out);

// The other way: the bytes in which `fresh`, what the home has now, differs from the twin go into the page and the
// twin. What this rank has written since the twin stays. Threads may write other bytes of the page meanwhile.
void merge_page(const void* fresh, void* twin, void* page);

}  // namespace hiroba
