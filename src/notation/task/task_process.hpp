// The tasks of this process, for other notations.
#pragma once

#include <functional>
#include <string>

namespace hiroba {

// With option power: the name of the task that a thread runs; null: none. For any thread.
const char* task_running_on(int thread);
// The trace of tasks gets these events, too. Call it before the first task.
void trace_also(std::function<std::string()> events);

}  // namespace hiroba
