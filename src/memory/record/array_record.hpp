// Notes what happens to pages of arrays in this rank's record (option report, base/record/record.hpp).
//
// The functions require recording(). Those before describe_array() are for any thread, also in the fault handler; the
// others are for the thread that makes collective calls.
#pragma once

#include "base/record/record.hpp"
#include "memory/array.hpp"

namespace hiroba {

class ArrayTable;

using PageCounts = std::atomic<uint64_t> (ArrayRecord::*)[ArrayRecord::cells];

// Returns the number of the array in the record; most_arrays if there is no room.
uint32_t record_number(Array& array);
void note_page(PageCounts counts, Array& array, uint64_t page, uint64_t pages = 1);
// Pages of one home have arrived.
void note_fetched(Array& array, uint64_t page, uint64_t pages);
void note_written_by_others(const ArrayTable& arrays, uint64_t page, uint64_t pages);

// `alone`: the pages on other nodes that this rank alone has long been writing.
void describe_array(Array& array, uint64_t alone);
// The array is being freed; the next one of this name and size continues its record.
void end_array_record(Array& array, uint64_t alone);

}  // namespace hiroba
