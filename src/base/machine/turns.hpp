// Chooses how long a thread runs before the kernel gives its core to another one that waits for it. No state.
#pragma once

namespace hiroba {

// Asks for short turns of this thread, and of the threads and processes that it starts later; its share of the core
// stays the same. Who yields loses a turn, and a thread that wakes up comes before those with longer turns: so waits on
// cores that others use, or that ranks share, take a fraction of the time (docs/measurements.md). Before Linux 6.12 it
// does nothing.
void take_short_turns();

}  // namespace hiroba
