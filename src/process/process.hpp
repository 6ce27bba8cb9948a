// One process of a job: its start and end, the objects of each floor, and the hooks of the notations. The interfaces
// have no handle, so the library's objects are here; no other folder keeps them in globals.
//
// Start and end are for one thread, and collective. Every error of a user ends the job here, with a message that names
// the call.
#pragma once

#include <functional>
#include <string>

#include "base/shown.hpp"
#include "coarray/coarray.hpp"
#include "linear/linear.hpp"
#include "loops/loops.hpp"
#include "memory/memory.hpp"
#include "task/task.hpp"

namespace hiroba {

// Joins the job; then calls ready(), and the registered hooks. Ends the job if this process has started already, or has
// been in a job.
void start_process(const char* call, const std::function<void()>& ready);
// Leaves the job, after all ranks have made the call.
void end_process(const char* call);
bool process_started();

// Ends the job with a message that names the call if the process has not started, or has ended.
[[HIROBA_SHOWN]] Memory& process_memory(const char* call);
[[noreturn]] void not_started(const char* call, const char* begin, const char* end);
// Its handlers exist from the start of the process on; a notation with coarrays starts it.
Coarrays& process_coarrays();

Loops& process_loops();
Tasks& process_tasks();
[[HIROBA_SHOWN]] Linear& process_linear();

// Ends the job if `status` is an error: with the message, or with "place: message".
void require(const Status& status);
void require_at(const Status& status, const char* place);

// Waits for the program's tasks before a collective call that frees shared memory, or works on it. Ends the job if
// called in a task. Collective.
[[HIROBA_SHOWN]] void end_tasks(const char* call);
// Called before each barrier of the program: waits for its tasks, unless `tasks_end` is false, and makes the checks at
// barriers (option check). Collective.
void begin_barrier(const char* call, bool tasks_end = true);
// Ends the job with a message that names the call if it reads, or writes, data of tasks that have not ended; `which` is
// the argument. Does nothing in a task.
void require_unused(const char* call, const char* place, const char* which, const void* data, size_t bytes,
                    bool to_write);
// These end the job with a message that names the call and the task whose body makes it: in any task; or in one that a
// single rank of several runs, which would wait for the others.
void require_outside_task(const char* call);
void require_all_ranks(const char* call);

// ---- hooks of notations, called in the order of registration on every rank; constructors may register them ----------
using Hook = std::function<void()>;
void at_start(Hook hook);      // at the end of the start
void at_end(Hook hook);        // after the end
void at_early_end(Hook hook);  // if the program exits before its end; other ranks may be gone

}  // namespace hiroba
