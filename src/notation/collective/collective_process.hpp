// Common to the entry points of collective.h: teams, prepared calls, and their execution.
#pragma once

#define HIROBA_NO_PLACES
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/shown.hpp"
#include "collective.h"
#include "process/process.hpp"

#define HIROBA_EXPORT extern "C" __attribute__((visibility("default")))

// hiroba_team points to one.
struct hiroba_team_part {
  std::unique_ptr<hiroba::Members> members;
};

namespace hiroba {

// These end the job if the process has not started.
[[HIROBA_SHOWN]] Collective& collective_of(const char* call);
inline TeamOperations& teams_of(const char* call) { return collective_of(call).teams(); }
// Ends the job if this rank is not in the team.
Members& members_of(hiroba_team team, const char* call);
Member member_of(const Members& members);
// Makes a team of the ranks of `parent` with this colour; `name` has the values that must be the same on all ranks.
void split_team(const CallName& name, hiroba_team parent, int color, int key, hiroba_team* out);
// Returns "main.c:12", or nothing; the second one always returns a begin for messages.
[[HIROBA_SHOWN]] const char* place();
[[HIROBA_SHOWN]] const char* prefix();

// A call of the program: its errors end the job with its place and name.
class CheckedCall {
 public:
  explicit CheckedCall(const char* name) : name_(name) { collective_of(name); }
  const char* name() const { return name_; }
  Call call() const { return {name_, place()}; }
  [[noreturn]] void fail(const std::string& what) const { end_job(1, "%s: %s: %s", prefix(), name_, what.c_str()); }
  void require(const Status& status) const {
    if (!status.ok()) fail(status.message());
  }

 private:
  const char* name_;
};

// Keeps a freed object reachable, so that it is no leak, and that a later use of it is found.
template <typename T>
void keep_freed(T* object) {
  static std::mutex& lock = *new std::mutex;
  static std::vector<T*>& freed = *new std::vector<T*>;
  const std::lock_guard<std::mutex> guard(lock);
  freed.push_back(object);
}

// A call whose arguments are checked.
struct Prepared {
  Members* members;
  CallName name;  // with the values that must be the same on all ranks
  Plan plan;
  std::function<void()> finish = {};  // stores the result of a started operation after its completion
};

void perform(const char* call, Prepared prepared);
hiroba_request start(const char* call, Prepared prepared);
hiroba_request keep(const char* call, Prepared prepared);
// The next operation that this thread starts calls `finish` after its completion, and then gives it up.
void finish_next(std::function<void()> finish);
// Ends the job if the buffer at `data` is a copy that the running call has made, of fewer bytes.
void require_in_copies(const void* data, size_t bytes, const char* which, const char* call);
// These end the job with a message that begins with `place` if there is no such request.
void wait(hiroba_request* request, const Call& call, const char* place);
bool test(hiroba_request* request, const char* call, const char* place);

// ---- types and operators; they end the job if there is no such one --------------------------------------------------
[[HIROBA_SHOWN]] size_t bytes_of_type(hiroba_type type, const char* call);
Combine combine_of(hiroba_op op, hiroba_type type, const char* call);
CallName& name_type(CallName& name, hiroba_type type);

}  // namespace hiroba
