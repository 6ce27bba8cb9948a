// The tasks of this process, for other notations.
#pragma once

namespace hiroba {

// With option power: the name of the task that a thread runs; null: none. For any thread.
const char* task_running_on(int thread);

}  // namespace hiroba
