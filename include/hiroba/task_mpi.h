/* task_mpi.h: tasks that end when requests of MPI are complete, so that the messages of an existing MPI program can be
 * tasks. No thread waits for a message: the threads that run tasks test the requests between tasks and while they find
 * nothing to do. docs/tasks.md has an example.
 *
 *   void receive(void* halo) {  // a task with out(halo)
 *     MPI_Request request;
 *     MPI_Irecv(halo, 100, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &request);
 *     hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
 *   }                           // a task with in(halo) runs when the message is there
 *
 * TAMPI_Iwait and TAMPI_Iwaitall, the names of the Task-Aware MPI library, are the same functions: include this file
 * instead of TAMPI.h, and start MPI with MPI_THREAD_MULTIPLE, not with MPI_TASK_MULTIPLE. TAMPI's other mode is not
 * here: a task that calls MPI_Recv or MPI_Wait blocks its thread.
 *
 * MPI must be initialised, with MPI_THREAD_MULTIPLE where a rank has several threads that run tasks. Messages of tasks
 * that can run at the same time need tags of their own. Errors: misuse ends the job with one message; so does a request
 * that fails, if its communicator returns errors (MPI_ERRORS_RETURN). */
#ifndef HIROBA_TASK_MPI_H
#define HIROBA_TASK_MPI_H

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_calls.h"
#include "sms.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the function of a task: it ends only after the requests are complete; then *status, or statuses[i], is set.
 * Requests become MPI_REQUEST_NULL, and are not persistent. The statuses and the messages' data must stay until the
 * task has ended; the array of requests does not need to. May be called several times in one task. */
static inline void hiroba_mpi_iwait(MPI_Request* request, MPI_Status* status);
static inline void hiroba_mpi_iwaitall(int count, MPI_Request* requests, MPI_Status* statuses);

static inline int TAMPI_Iwait(MPI_Request* request, MPI_Status* status) {
  hiroba_mpi_iwait(request, status);
  return MPI_SUCCESS;
}
static inline int TAMPI_Iwaitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  hiroba_mpi_iwaitall(count, requests, statuses);
  return MPI_SUCCESS;
}

/* ---- how it is done ------------------------------------------------------------------------------------------- */

/* The requests of one call: the task is let go when none is left. */
typedef struct hiroba_mpi_call {
  void* held;
  int left;
} hiroba_mpi_call;
/* The owner of a request, in the order of hiroba_mpi_pending.requests. */
typedef struct hiroba_mpi_owner {
  hiroba_mpi_call* call;
  MPI_Status* status; /* NULL: not requested */
} hiroba_mpi_owner;
typedef struct hiroba_mpi_list {
  int count, room;
  MPI_Request* requests;
  hiroba_mpi_owner* owners;
} hiroba_mpi_list;
/* One for all files that include this. `lock` guards `given` and `polled`, and is held for a few instructions;
 * `tested` and the arrays as long as it belong to the thread that polls. */
typedef struct hiroba_mpi_requests {
  int lock, polled, may;
  hiroba_mpi_list given, tested;
  int* indices;
  MPI_Status* statuses;
} hiroba_mpi_requests;
__attribute__((weak)) hiroba_mpi_requests hiroba_mpi_pending;

static inline void hiroba_mpi_lock(void) {
  while (__atomic_exchange_n(&hiroba_mpi_pending.lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
static inline void hiroba_mpi_unlock(void) { __atomic_store_n(&hiroba_mpi_pending.lock, 0, __ATOMIC_RELEASE); }

static inline void* hiroba_mpi_room(void* old, size_t bytes) {
  void* const out = realloc(old, bytes);
  if (out == NULL) sms_abort(1, "no memory for the requests that tasks wait for");
  return out;
}

static inline void hiroba_mpi_add(hiroba_mpi_list* list, MPI_Request request, hiroba_mpi_call* call,
                                  MPI_Status* status) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->requests = (MPI_Request*)hiroba_mpi_room(list->requests, (size_t)list->room * sizeof *list->requests);
    list->owners = (hiroba_mpi_owner*)hiroba_mpi_room(list->owners, (size_t)list->room * sizeof *list->owners);
  }
  list->requests[list->count] = request;
  list->owners[list->count].call = call, list->owners[list->count].status = status;
  ++list->count;
}

static inline void hiroba_mpi_refuse_failed(int error) {
  char reason[MPI_MAX_ERROR_STRING], text[MPI_MAX_ERROR_STRING + 100];
  int length;
  MPI_Error_string(error, reason, &length);
  snprintf(text, sizeof text, "a request that a task waits for has failed: %.*s", length, reason);
  sms_abort(1, text);
}

/* The requests at these places of the list are complete. */
static inline void hiroba_mpi_finish(hiroba_mpi_list* list, const int* indices, const MPI_Status* statuses, int count,
                                     int failed) {
  int i, kept = 0;
  for (i = 0; i < count; ++i) {
    const hiroba_mpi_owner owner = list->owners[indices[i]];
    if (failed && statuses[i].MPI_ERROR != MPI_SUCCESS) hiroba_mpi_refuse_failed(statuses[i].MPI_ERROR);
    if (owner.status != NULL) *owner.status = statuses[i];
    list->requests[indices[i]] = MPI_REQUEST_NULL;
    if (--owner.call->left > 0) continue;
    hiroba_task_let_go(owner.call->held);
    free(owner.call);
  }
  for (i = 0; i < list->count; ++i)
    if (list->requests[i] != MPI_REQUEST_NULL)
      list->requests[kept] = list->requests[i], list->owners[kept] = list->owners[i], ++kept;
  list->count = kept;
}

/* Takes the requests that tasks have given since; returns true if there are any. If not, the next one that gives
 * starts it. */
static inline int hiroba_mpi_take_given(hiroba_mpi_requests* p) {
  const int room = p->tested.room;
  int i;
  hiroba_mpi_lock();
  for (i = 0; i < p->given.count; ++i)
    hiroba_mpi_add(&p->tested, p->given.requests[i], p->given.owners[i].call, p->given.owners[i].status);
  p->given.count = 0;
  p->polled = p->tested.count > 0;
  hiroba_mpi_unlock();
  if (p->tested.room > room) {
    p->indices = (int*)hiroba_mpi_room(p->indices, (size_t)p->tested.room * sizeof *p->indices);
    p->statuses = (MPI_Status*)hiroba_mpi_room(p->statuses, (size_t)p->tested.room * sizeof *p->statuses);
  }
  return p->tested.count > 0;
}

/* Called by one thread at a time (hiroba_task_poll). */
static inline int hiroba_mpi_poll(void* context) {
  hiroba_mpi_requests* const p = (hiroba_mpi_requests*)context;
  int over = 0, result;
  if (!hiroba_mpi_take_given(p)) return 0;
  result = MPI_Testsome(p->tested.count, p->tested.requests, &over, p->indices, p->statuses);
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) hiroba_mpi_refuse_failed(result);
  if (over == MPI_UNDEFINED) sms_abort(1, "hiroba_mpi_iwait on a persistent request; use MPI_Isend and MPI_Irecv");
  if (over > 0) hiroba_mpi_finish(&p->tested, p->indices, p->statuses, over, result != MPI_SUCCESS);
  return 1;
}

static inline void hiroba_mpi_check(void) {
  int begun, ended = 0, level;
  char text[200];
  if (__atomic_load_n(&hiroba_mpi_pending.may, __ATOMIC_RELAXED)) return;
  MPI_Initialized(&begun);
  if (begun) MPI_Finalized(&ended);
  if (!begun || ended)
    sms_abort(1, begun ? "hiroba_mpi_iwait after MPI_Finalize; wait for the tasks before"
                       : "hiroba_mpi_iwait before MPI is initialised; call MPI_Init_thread with MPI_THREAD_MULTIPLE "
                         "before sms_startup");
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE && hiroba_task_threads() > 1) {
    snprintf(text, sizeof text,
             "hiroba_mpi_iwait: MPI was not initialised with MPI_THREAD_MULTIPLE, and %d threads run tasks; ask "
             "MPI_Init_thread for it, or run with --threads 1",
             hiroba_task_threads());
    sms_abort(1, text);
  }
  __atomic_store_n(&hiroba_mpi_pending.may, 1, __ATOMIC_RELAXED);
}

static inline void hiroba_mpi_iwaitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  hiroba_mpi_requests* const p = &hiroba_mpi_pending;
  hiroba_mpi_call* call;
  int i, done, polled, result;
  hiroba_mpi_check();
  if (count < 0) sms_abort(1, "hiroba_mpi_iwaitall: a negative number of requests");
  if (!hiroba_task_inside())
    sms_abort(1, "hiroba_mpi_iwait outside of a task; the function of a task calls it, other code MPI_Wait");
  result = MPI_Testall(count, requests, &done, statuses);
  if (result != MPI_SUCCESS) hiroba_mpi_refuse_failed(result);
  if (done) return;
  call = (hiroba_mpi_call*)hiroba_mpi_room(NULL, sizeof *call);
  call->held = hiroba_task_hold(), call->left = 0;
  hiroba_mpi_lock();
  for (i = 0; i < count; ++i) {
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i];
    if (requests[i] == MPI_REQUEST_NULL) {
      if (status != NULL) MPI_Test(&requests[i], &done, status); /* an empty one */
      continue;
    }
    hiroba_mpi_add(&p->given, requests[i], call, status);
    requests[i] = MPI_REQUEST_NULL;
    ++call->left;
  }
  polled = p->polled, p->polled = 1;
  hiroba_mpi_unlock();
  if (!polled) hiroba_task_poll(hiroba_mpi_poll, p);
}

static inline void hiroba_mpi_iwait(MPI_Request* request, MPI_Status* status) {
  hiroba_mpi_iwaitall(1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

#ifdef __cplusplus
}
#endif
#endif
