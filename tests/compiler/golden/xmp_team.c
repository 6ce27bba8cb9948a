/* Node arrays as teams of collective.h: a whole one, a part, one that differs between images, the images of a task. */
#include <hiroba/collective.h>
#include <xmp.h>
#include "check.h"

#pragma xmp nodes p[*], grid(1,*)
#pragma xmp nodes odd(*) = p(1::2), own[*] = p[*], column[*] = grid[:][0]
#define TEAM(nodes, out) hiroba_team_from_nodes(HIROBA_ALL, xmp_desc_of(nodes), out)

static int sum_of(int value, hiroba_team team) {
  int sum = 0;
  hiroba_allreduce(&value, &sum, 1, HIROBA_INT, HIROBA_SUM, team);
  return sum;
}

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0;
  hiroba_team all, some, self, line, first, inner;
  hiroba_team_from_nodes(HIROBA_ALL, xmp_desc_of(p), &all);
  TEAM(odd, &some);
  TEAM(own, &self);
  TEAM(column, &line);
  wrong += hiroba_team_rank(all) != me || sum_of(me, all) != n * (n - 1) / 2;
  wrong += (some == HIROBA_NO_TEAM) != (me % 2 == 1);
  if (me % 2 == 0) wrong += hiroba_team_rank(some) != me / 2 || sum_of(1, some) != (n + 1) / 2;
  wrong += hiroba_team_size(self) != 1 || hiroba_team_member(self, 0) != me;
  wrong += sum_of(1, line) != n;
#pragma xmp nodes begin[n > 1 ? 2 : 1] = p[0:n > 1 ? 2 : 1]
  TEAM(begin, &first);
#pragma xmp task on begin
  {
#pragma xmp nodes executing[*] = *
    hiroba_team_from_nodes(first, xmp_desc_of(executing), &inner);
    wrong += hiroba_team_rank(inner) != me || sum_of(1, inner) != xmp_num_images();
    hiroba_team_free(&inner);
  }
  hiroba_team_free(&first);
  hiroba_team_free(&line);
  hiroba_team_free(&self);
  hiroba_team_free(&some);
  hiroba_team_free(&all);
  return verdict(wrong);
}
