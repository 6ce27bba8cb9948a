// Option stats, as numbers and as lines. Reads counters while no other thread changes them.
#pragma once

#include "memory/memory.hpp"
#include "sms.h"

namespace hiroba {

void add_statistics(const Counters& counters, sms_statistics& sum);

// Prints this rank's lines on stderr; its record is sealed.
void report_statistics(const Memory& memory);
// With option stats, rank 0 prints the arrays that would gain from other homes. Collective.
Status report_placement(const Memory& memory);

}  // namespace hiroba
