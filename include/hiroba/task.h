/* task.h: tasks that name the data they use. The program is the sequential one: every rank creates the same tasks in
 * the same order, and each task runs once, on one rank, as soon as the tasks before it that use the same data allow it,
 * with that data in place. The library sends the messages for that. docs/tasks.md teaches it.
 *
 * A program starts with sms_startup (sms.h) or as an image (xmp.h).
 * Rank of a task: on the rank that owns the first shared data that it writes (sms_mapalloc); on the rank of
 *   hiroba_task_spec.on, if that is given; and a task that writes no shared memory, on every rank, each for itself.
 * Data: any memory. Shared memory (sms.h) is one for all ranks. Private memory is each rank's own: it orders the tasks
 * of that rank. Between hiroba_taskwait and the creation of the first task the program may use all memory as ever;
 * while tasks are under way it uses no data that they name, and a task uses no data that it does not name. Threads:
 * tasks run in `hirobarun --threads` threads of each rank, one of them the program's own, whenever that waits or has
 * created too many tasks (option task-window). Tasks are created by that thread, and by tasks: those are children, run
 * on the same rank, and are ordered among themselves. A task ends after its children. Errors: misuse ends the job with
 * one message. Functions return nothing, unless they say so.
 */
#ifndef HIROBA_TASK_H
#define HIROBA_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data ----------------------------------------------------------------------------------------------------- */

/* Blocks of `bytes` contiguous bytes: one if dims is 0; else count[d] of them along dimension d < dims, the outermost
 * first, stride[d] bytes apart. Nothing, if bytes or a count is 0; none is
 * negative. */
enum { HIROBA_SECTION_DIMS = 3 };
typedef struct hiroba_section {
  void* address;
  size_t bytes;
  int dims;
  int64_t count[HIROBA_SECTION_DIMS], stride[HIROBA_SECTION_DIMS];
} hiroba_section;

enum {
  HIROBA_IN = 1,  /* reads it */
  HIROBA_OUT = 2, /* writes all of it, and reads nothing that was there before */
  HIROBA_INOUT = 3,
  HIROBA_COMMUTATIVE = 7, /* inout, in any order with the same, one at a time */
  HIROBA_CONCURRENT = 11, /* inout, at once with the same: the tasks themselves see to it */
  HIROBA_REDUCTION = 19   /* with the same at once, each in a part of its own: hiroba_use_reduction */
};
typedef struct hiroba_access {
  int mode;
  /* The tile that contains the section, of an array that is cut into tiles: tasks depend on each other if they use
   * the same tile, and the section is moved. NULL: they do if their sections share bytes. */
  const hiroba_section* tile;
  hiroba_section section;
  uint8_t op, type; /* for a reduction: the number of the operator (hiroba_known_operator), and HIROBA_DOUBLE or such */
} hiroba_access;

/* Returns an access to `bytes` bytes from `address` on. */
static inline hiroba_access hiroba_use(int mode, const void* address, size_t bytes) {
  hiroba_access access;
  access.mode = mode, access.op = 0, access.type = 0;
  access.tile = NULL; /* NOLINT(modernize-use-nullptr): C, too */
  access.section.address = (void*)address, access.section.bytes = bytes, access.section.dims = 0;
  return access;
}
/* Returns an access to `rows` rows of `bytes` bytes, `stride` bytes apart: a box of a matrix. */
static inline hiroba_access hiroba_use_box(int mode, const void* address, size_t bytes, int64_t rows, int64_t stride) {
  hiroba_access access = hiroba_use(mode, address, bytes);
  access.section.dims = 1, access.section.count[0] = rows, access.section.stride[0] = stride;
  return access;
}

/* A reduction of `count` numbers. Tasks that name the same one run at once: each combines its values into the memory
 * at hiroba_task_part, which begins with the neutral value of the operator, and uses nothing at `address`. A task
 * that names these bytes otherwise, and a wait, come after all is combined into them: rank by rank, and of a rank
 * thread by thread, so the last bits of sums of floating-point numbers may differ from run to run. Unless written
 * data or `on` determine the rank, such a task runs on the rank of the first shared data that it reads. In a job of
 * several ranks the numbers are in shared memory, unless all ranks run the task. HIROBA_SUM and its like; C++ has
 * hiroba::reducer (task_values.hpp) for other functions. */
hiroba_access hiroba_use_reduction(hiroba_op op, hiroba_type type, void* address, int64_t count);
/* In a task: returns the address in its part for `address`, of its access number `access` (from 0 on), a reduction. */
void* hiroba_task_part(int access, const void* address);

/* ---- tasks ---------------------------------------------------------------------------------------------------- */

/* For messages and traces; lives as long as the program. */
typedef struct hiroba_task_label {
  const char *name, *place;
} hiroba_task_label;
typedef struct hiroba_task_spec {
  const hiroba_task_label* label;
  int on;       /* the rank that runs it; HIROBA_ANYWHERE: see above */
  int priority; /* of the tasks of a rank that can run, the one with the greatest runs first; 0 to 32767 */
} hiroba_task_spec;
enum { HIROBA_ANYWHERE = -1 };

/* function(argument) is a task. The argument is passed unchanged: its target must live until the task has run. */
void hiroba_task_at(void (*function)(void*), void* argument, const hiroba_access* accesses, int count,
                    const hiroba_task_spec* spec);
/* The same with a copy of `bytes` bytes at `value`: function gets a pointer to the copy. */
void hiroba_task_copy_at(void (*function)(void*), const void* value, size_t bytes, const hiroba_access* accesses,
                         int count, const hiroba_task_spec* spec);

/* Waits until all tasks of all ranks so far have ended; all shared memory is then as after sms_barrier. Collective.
 * In a task: until its children have ended. */
void hiroba_taskwait_at(const char* place);
/* Waits until the data is here, and the tasks so far that write it have ended. Every rank makes the call, and may
 * read the data until it creates a task that writes it. In a task: among its children. If a task has failed, the
 * rest is as for hiroba_taskwait. */
void hiroba_taskwait_on_at(const hiroba_access* accesses, int count, const hiroba_task_spec* spec);

/* For many ranks: from now on (`on` is 1) a rank may leave out tasks that use none of the shared data that it uses
 * itself, and creates all others in the same order as the other ranks. The data that a rank uses does not change
 * until the next hiroba_taskwait. With 0 all create all again. Collective; no task is under way. */
void hiroba_task_parts_at(int on, const char* place);

/* A task that ends later than its function: hiroba_task_hold in the function; hiroba_task_let_go, once, in any thread.
 */
void* hiroba_task_hold(void);
void hiroba_task_let_go(void* held);
/* In the function of a task: it ends only after the request is complete, and the thread runs other tasks meanwhile. So
 * what later tasks depend on can be a preload, an overload (device.h) or a collective operation that was started. The
 * request, which is not persistent, becomes HIROBA_NO_REQUEST. May be called several times in one task. */
void hiroba_task_iwait_at(hiroba_request* request, const char* place);
/* Polls for events of held tasks: the threads that run tasks call poll(context) now and then between tasks, and
 * while they find none, one at a time, until it returns 0; then it can be given again. It must not block and not
 * give another one. Call it in a task, or in the thread that creates tasks. task_mpi.h has one for MPI. */
void hiroba_task_poll(int (*poll)(void* context), void* context);

/* Iterations that create the same tasks each time. `create` is called to record them, and again where an iteration
 * must be created again (on several nodes the first one of a run), so an argument must mean the same in each
 * iteration: iterations with two buffers in turn are one iteration of twice the tasks. `create` itself does not
 * wait. hiroba_graph_run runs it `times` times, in the order that the data allows, and waits as hiroba_taskwait
 * does, before and after; it returns as hiroba_taskwait_failed. Collective. */
typedef struct hiroba_graph hiroba_graph;
hiroba_graph* hiroba_graph_create(void (*create)(void* context), void* context, const char* place);
int hiroba_graph_run(hiroba_graph* graph, int64_t times, const char* place, void** failure);
void hiroba_graph_free(hiroba_graph* graph);

#ifndef HIROBA_NO_PLACES
#define HIROBA_TASK_TEXT2(x) #x
#define HIROBA_TASK_TEXT(x) HIROBA_TASK_TEXT2(x)
#define HIROBA_TASK_PLACE __FILE__ ":" HIROBA_TASK_TEXT(__LINE__)
/* One per thread and place, because tasks create tasks. */
#define HIROBA_SPEC(name, on_, priority_)                                     \
  __extension__({                                                             \
    static const hiroba_task_label hiroba_label_ = {name, HIROBA_TASK_PLACE}; \
    static __thread hiroba_task_spec hiroba_spec_;                            \
    hiroba_spec_.label = &hiroba_label_;                                      \
    hiroba_spec_.on = (on_), hiroba_spec_.priority = (priority_);             \
    &hiroba_spec_;                                                            \
  })
#define hiroba_task(function, argument, accesses, count) \
  hiroba_task_at(function, argument, accesses, count, HIROBA_SPEC(#function, HIROBA_ANYWHERE, 0))
#define hiroba_task_on(rank, function, argument, accesses, count) \
  hiroba_task_at(function, argument, accesses, count, HIROBA_SPEC(#function, rank, 0))
#define hiroba_task_copy(function, value, bytes, accesses, count) \
  hiroba_task_copy_at(function, value, bytes, accesses, count, HIROBA_SPEC(#function, HIROBA_ANYWHERE, 0))
#define hiroba_task_parts(on) hiroba_task_parts_at(on, HIROBA_TASK_PLACE)
#define hiroba_task_iwait(request) hiroba_task_iwait_at(request, HIROBA_TASK_PLACE)
#define hiroba_taskwait() hiroba_taskwait_at(HIROBA_TASK_PLACE)
#define hiroba_taskwait_on(accesses, count) \
  hiroba_taskwait_on_at(accesses, count, HIROBA_SPEC("taskwait", HIROBA_ANYWHERE, 0))
#endif

/* Returns true if the caller is the function of a task. */
int hiroba_task_inside(void);
/* Returns the number of the thread that runs the calling task, from 0 on, and of all that run tasks of this rank. */
int hiroba_task_thread(void);
int hiroba_task_threads(void);
/* Runs other tasks until done(context) is not 0. */
void hiroba_task_work_until(int (*done)(void* context), void* context);

/* ---- for other interfaces ------------------------------------------------------------------------------------- */

/* Returns room for the argument of a task, HIROBA_TASK_ARGUMENT bytes aligned to 16; NULL if another rank runs it.
 * Then hiroba_task_submit: body(argument, 1) runs it and destroys the argument; 0 only destroys it, 2 only runs it. */
enum { HIROBA_TASK_ARGUMENT = 112 };
void* hiroba_task_create(const hiroba_access* accesses, int count, const hiroba_task_spec* spec);
void hiroba_task_submit(void* argument, void (*body)(void* argument, int run));
/* In a body: it has failed. The wait returns `failure`; children of the same parent that have not begun are not run.
 * `why` is text for messages. hiroba_taskwait_failed and hiroba_taskwait_on_failed wait like hiroba_taskwait and
 * hiroba_taskwait_on and return the rank that has failed, -1 if none has; then all tasks of all ranks have ended.
 * All other waits end the job with a message if a task has failed, and so does hiroba_task_uncaught, for a failure
 * that such a call has returned. hiroba_taskwait_here does not check for failures, and waits for no other rank. */
void hiroba_task_fail(void* failure, const char* why);
int hiroba_taskwait_failed(const char* place, void** failure);
int hiroba_taskwait_on_failed(const hiroba_access* accesses, int count, const hiroba_task_spec* spec, void** failure);
void hiroba_taskwait_here(const hiroba_access* accesses, int count, const hiroba_task_spec* spec);
__attribute__((noreturn)) void hiroba_task_uncaught(void);

#ifdef __cplusplus
}
#endif
#endif
