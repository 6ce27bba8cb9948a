// One process of a job: its start and end, its Memory, and its models, which it knows by what they do at the events of
// a job. The interfaces have no handle, so these objects are here; no other folder keeps the library's in globals.
//
// Start and end are for one thread, and collective. Every error of a user ends the job here, with a message that names
// the call.
#pragma once

#include <atomic>
#include <hiroba_models.inc>
#include <span>

#include "base/shown.hpp"
#include "memory/memory.hpp"

namespace hiroba {

// A model of programming, which a notation implements. All ranks have the same models in the same order, which numbers
// their messages: that of src/CMakeLists.txt, bottom up. At the end of a job the upper ones come first.
//
// Work is what a model runs for the program beside the code in which all ranks make the same calls: such as tasks.
class Model {
 public:
  virtual ~Model() = default;

  // The program uses the model: from now on it takes part in barriers, and in what calls require.
  void use() {
    if (!used()) begin_use();
  }
  bool used() const { return used_.load(std::memory_order_relaxed); }

  // ---- events, on all ranks; an error ends the job ----
  virtual Status listen(Transport&, const Job&) { return {}; }  // before the transport starts: adds handlers
  virtual Status start(Memory&, const Options&) { return {}; }  // the memory has started
  virtual void begin() {}                                       // the program can make calls. Collective
  virtual Status before_barrier() { return {}; }                // of the program, of all ranks. Collective
  // Waits for all work so far. Ends the job if the call is in work. Collective.
  virtual Status end_work(const char* /*call*/) { return {}; }
  virtual Status finish() { return {}; }                       // the last work ends. Collective
  virtual Status stop(const char* /*ends_by*/) { return {}; }  // the last remote operation ends. Collective
  virtual void ended() {}                                      // the job is over

  // Option stats, also if the program exits before its end; other ranks may be gone.
  virtual void report() const {}

  // ---- what a call requires; they end the job with a message that names it ----
  virtual void require_outside_work(const char* /*call*/) const {}
  virtual void require_all_ranks(const char* /*call*/) const {}
  virtual void require_lockable(const char* /*call*/) const {}
  struct Use {
    const char *call, *place, *which;  // which: the argument
    const void* data;
    size_t bytes;
    bool writes;
  };
  virtual void require_unused(const Use&) const {}

 private:
  void begin_use();
  std::atomic<bool> used_{false};
};

// Return the object of each model: NAME_model() for the floors that are declared with the word MODEL.
#define HIROBA_MODEL(name) Model& name##_model();
HIROBA_MODELS(HIROBA_MODEL)
#undef HIROBA_MODEL

// Returns the one object of a class. It is never destroyed: threads may use it while the program ends.
template <typename T>
T& instance() {
  static T& object = *new T;
  return object;
}
// The same for a call of the program that uses a model.
template <typename T>
T& used_instance() {
  T& object = instance<T>();
  object.use();
  return object;
}

// Joins the job; then the models begin. Ends the job if this process has started already, or has been in a job.
// `models` outlives the process.
void start_process(const char* call, std::span<Model* const> models);
// Leaves the job, after all ranks have made the call.
void end_process(const char* call);
[[HIROBA_SHOWN]] bool process_started();
// Calls `end` when this process, and not a child that it has forked, exits in the job, which it has joined before. It
// may leave the job; if it does not, the program has ended too early. Handlers that the program adds later run before.
void end_at_exit(void (*end)(int status));
// Returns true if a launcher has started this process as one of several, or as one that may be.
[[HIROBA_SHOWN]] bool launched_with_others();

// Ends the job with a message that names the call if the process has not started, or has ended.
[[HIROBA_SHOWN]] Memory& process_memory(const char* call);
[[noreturn]] void not_started(const char* call, const char* begin, const char* end);

// Ends the job if `status` is an error: with the message, or with "place: message".
[[HIROBA_SHOWN]] void require(const Status& status);
void require_at(const Status& status, const char* place);

// Waits for the program's work before a collective call that frees shared memory, or works on it. Ends the job if
// called in work. Collective.
[[HIROBA_SHOWN]] void end_work(const char* call);
// Called before each barrier of the program, which has ended its work, unless `work_ends`. Collective.
void begin_barrier(const char* call, bool work_ends = true);
// These end the job with a message that names the call: if it reads, or writes, data of work that has not ended, unless
// the call is in work; in any work; or in work that a single rank of several runs, which would wait for the others.
void require_unused(const Model::Use& use);
void require_outside_work(const char* call);
void require_all_ranks(const char* call);
// The same for locks: in code that may run again, and would take them again.
void require_lockable(const char* call);
void report_models();  // option stats

}  // namespace hiroba
