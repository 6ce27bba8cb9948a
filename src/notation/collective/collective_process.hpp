// What the entry points of collective.h share: teams, what a call prepares, and how it runs.
#pragma once

#define HIROBA_NO_PLACES
#include <functional>
#include <memory>
#include <string>

#include "base/shown.hpp"
#include "collective.h"
#include "process/process.hpp"

#define HIROBA_EXPORT extern "C" __attribute__((visibility("default")))

// hiroba_team points to one.
struct hiroba_team_part {
  std::unique_ptr<hiroba::Members> members;
};

namespace hiroba {

// These end the job if it has not started.
[[HIROBA_SHOWN]] Collective& collective_of(const char* call);
inline PlannedOperations& planned_of(const char* call) { return collective_of(call).planned(); }
// Ends the job if this rank is not in the team.
Members& members_of(hiroba_team team, const char* call);
Member member_of(const Members& members);
// A team of the ranks of `parent` with this colour, for all calls that make teams; `name` is what all have in common.
void split_team(const CallName& name, hiroba_team parent, int color, int key, hiroba_team* out);
// "main.c:12", or nothing; and for the start of messages always something.
[[HIROBA_SHOWN]] const char* place();
[[HIROBA_SHOWN]] const char* prefix();

// A call whose arguments are checked.
struct Prepared {
  Members* members;
  CallName name;  // with what all ranks have in common
  Plan plan;
  std::function<void()> finish = {};  // makes the result of what was started, after it is complete
};

void perform(const char* call, Prepared prepared);
hiroba_request start(const char* call, Prepared prepared);
hiroba_request keep(const char* call, Prepared prepared);

// ---- types and operators; they end the job where there is no such thing ----
[[HIROBA_SHOWN]] size_t bytes_of_type(hiroba_type type, const char* call);
Combine combine_of(hiroba_op op, hiroba_type type, const char* call);
CallName& name_type(CallName& name, hiroba_type type);

}  // namespace hiroba
