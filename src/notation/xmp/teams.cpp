// Node arrays as teams of collective.h.
#define SMS_NO_PLACES
#include "base/log.hpp"
#include "notation/collective/collective_process.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// Returns the images of a result of xmp_desc_of, which has no type of its own; ends the job if it is no node array.
Team images_of(const xmp_nodes* nodes, const char* where) {
  if (nodes == nullptr) end_job(1, "%s: the node array is NULL; give xmp_desc_of(p), of #pragma xmp nodes p", where);
  const void* const descriptor = nodes;
  if (is_allocated(descriptor))
    end_job(1, "%s: %s is a coarray; give xmp_desc_of(p), of #pragma xmp nodes p", where,
            static_cast<const xmp_coarray*>(descriptor)->name);
  return set_of(*nodes, where);
}

// Each rank has named a set by itself. This finds sets that differ, because two sets with a rank in common make a team
// that one of them is not.
void require_same(const Team& made, const Team& named, const xmp_nodes& nodes, const char* where) {
  int i = 0;
  while (i < made.count && i < named.count && made.rank(i) == named.rank(i)) ++i;
  if (i == made.count && i == named.count) return;
  const bool is_other = i < named.count && named.rank(i) != sms_rank;
  end_job(1,
          "%s: node array %s has images here that overlap with those that it has on rank %d; its images on two ranks "
          "must be the same, or have no rank in common",
          where, nodes.name, is_other ? named.rank(i) : made.rank(i));
}

}  // namespace

HIROBA_EXPORT void hiroba_team_from_nodes(hiroba_team team, const xmp_nodes* nodes, hiroba_team* out) {
  const char* const call = "hiroba_team_from_nodes";
  const Team parent = members_of(team, call).team;
  const std::string where = std::string(prefix()) + ": " + call;
  const Team named = images_of(nodes, where.c_str());
  for (int i = 0; i < named.count; ++i)
    if (parent.find(named.rank(i)) < 0)
      end_job(1,
              "%s: rank %d is an image of node array %s and is not in the team; give a team of all its images, as "
              "HIROBA_ALL",
              where.c_str(), named.rank(i), nodes->name);
  const int me = named.find(sms_rank);
  CallName name(call);
  name << "(" << nodes->name << ")";
  // Sets without a common rank differ in their first rank.
  split_team(name, team, me < 0 ? -1 : named.rank(0), me, out);
  if (me >= 0) require_same((*out)->members->team, named, *nodes, where.c_str());
}

}  // namespace hiroba
