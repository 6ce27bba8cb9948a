// Teams of collective.h.
#include <algorithm>

#include "notation/collective/collective_process.hpp"

namespace hiroba {

Collective& collective_of(const char* call) {
  return process_memory(process_started() ? call : Call{call, place()}.text().c_str()).collective();
}

Member member_of(const Members& members) { return teams_of("a collective operation").member_of(members); }

Members& members_of(hiroba_team team, const char* call) {
  if (team == HIROBA_ALL) return teams_of(call).all();
  if (team == HIROBA_NO_TEAM)
    end_job(1, "%s: %s: this rank is not in the team (HIROBA_NO_TEAM); only its members make calls for it", prefix(),
            call);
  if (team->members == nullptr)
    end_job(1, "%s: %s: the team was freed already, by hiroba_team_free; use HIROBA_ALL or another one", prefix(),
            call);
  return *team->members;
}

void split_team(const CallName& name, hiroba_team parent, int color, int key, hiroba_team* out) {
  require_outside_work(name);
  std::unique_ptr<Members> members;
  Members& all = members_of(parent, name);
  require_at(teams_of(name).split(all, color, key, members, {name, place()}), prefix());
  *out = members == nullptr ? HIROBA_NO_TEAM : new hiroba_team_part{std::move(members)};
}

HIROBA_EXPORT int hiroba_team_rank(hiroba_team team) { return members_of(team, "hiroba_team_rank").me; }
HIROBA_EXPORT int hiroba_team_size(hiroba_team team) { return members_of(team, "hiroba_team_size").team.count; }

HIROBA_EXPORT int hiroba_team_member(hiroba_team team, int member) {
  const Members& members = members_of(team, "hiroba_team_member");
  if (!members.team.contains(member))
    end_job(1, "%s: hiroba_team_member: there is no member %d in a team of %d", prefix(), member, members.team.count);
  return members.team.rank(member);
}

HIROBA_EXPORT void hiroba_team_split(hiroba_team team, int color, int key, hiroba_team* out) {
  split_team(CallName("hiroba_team_split"), team, color, key, out);
}

HIROBA_EXPORT void hiroba_team_from_list(hiroba_team team, int count, const int ranks[], hiroba_team* out) {
  const Members& parent = members_of(team, "hiroba_team_from_list");
  for (int i = 0; i < count; ++i) {
    if (!parent.team.contains(ranks[i]))
      end_job(1, "%s: hiroba_team_from_list: rank %d is listed, and the team has ranks 0..%d", prefix(), ranks[i],
              parent.team.count - 1);
    if (std::find(ranks, ranks + i, ranks[i]) != ranks + i)
      end_job(1, "%s: hiroba_team_from_list: rank %d is listed twice", prefix(), ranks[i]);
  }
  const int* const found = std::find(ranks, ranks + count, parent.me);
  split_team(CallName("hiroba_team_from_list"), team, found == ranks + count ? -1 : 0, static_cast<int>(found - ranks),
             out);
}

HIROBA_EXPORT void hiroba_team_free(hiroba_team* team) {
  const char* const call = "hiroba_team_free";
  if (*team == HIROBA_NO_TEAM) return;
  if (*team != HIROBA_ALL && !process_started()) return void(*team = HIROBA_NO_TEAM);
  if (*team == HIROBA_ALL) end_job(1, "%s: hiroba_team_free(HIROBA_ALL): that team stays", prefix());
  require_outside_work(call);
  Members& members = members_of(*team, call);
  if (const std::string user = collective_of(call).requests().user_of(&members, &members + 1); !user.empty())
    end_job(1, "%s: hiroba_team_free: %s is of this team; wait for it first, and free it if it is persistent", prefix(),
            user.c_str());
  // Its memory must not be reused before all have left it.
  require_at(collective_of(call).teams().barrier(members.team, {call, place()}), prefix());
  require_at(teams_of(call).agree(members, {call, place()}), prefix());
  teams_of(call).release(members);
  (*team)->members.reset();
  keep_freed(*team);
  *team = HIROBA_NO_TEAM;
}

}  // namespace hiroba
