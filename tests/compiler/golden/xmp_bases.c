/* What a section may stand behind: members of members, calls and parentheses, which are evaluated once; steps that are
 * known only when the program runs. */
#include <xmp.h>
#include "check.h"

struct deep {
  struct {
    int m[3][2];
  } in[2];
};
struct deep d[2]:[*];
int a[8]:[*];
static int calls;

static struct deep* called(struct deep* p) {
  calls++;
  return p;
}

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, step = -1, q[8], r[8];
  struct deep local[2] = {{{{{{0}}}}}}, *p = local;
  for (int i = 0; i < 8; i++) a[i] = i;
  d[1].in[0].m[1:2][0:2]:[next] = 4;
  xmp_sync_all(0);
  wrong += d[1].in[0].m[2][1] != 4 || d[1].in[0].m[0][1] != 0;
  called(p)->in[1].m[:][0] = d[1].in[0].m[:][1];
  (*p).in[0].m[:][:] = called(p)->in[1].m[0][0] + 5;
  (&local[1])->in[1].m[:][1] = d[1].in[0].m[:][0]:[next];
  wrong += p->in[1].m[2][0] != 4 || p->in[0].m[2][1] != 5 || local[1].in[1].m[1][1] != 4 || calls != 2;
  q[:] = a[::step]:[next];
  r[::step] = q[:];
  wrong += q[0] != 7 || r[0] != 0 || r[7] != 7;
  r[step + 3:3:step * -2] = -1;
  wrong += r[2] != -1 || r[4] != -1 || r[6] != -1 || r[3] != 3;
  int *rows[2] = {q, r + 2};
  struct {
    int* at;
  } s[2] = {{q}, {r}};
  rows[0:2][1:2] = d[1].in[0].m[1:2][0:2]:[next]; /* pointers behind a range */
  s[0:2].at[6:2] = rows[0:2][1:2] + 1;
  wrong += q[1] != 4 || q[2] != 4 || r[3] != 4 || r[4] != 4 || q[7] != 5 || r[6] != 5 || q[3] != 4 || r[5] != 5;
#pragma omp parallel for
  for (int i = 0; i < 8; i++) a[i]:[next] = 2 * i;
  xmp_sync_all(0);
  wrong += a[7] != 14;
  return verdict(wrong);
}
