/* Members of structs, whole structs, sections of members. */
#include <xmp.h>
#include "check.h"

typedef struct {
  float weight;
  int id[3];
} item;
struct box {
  int x;
  item items[4];
  struct {
    long inner;
  };
};
struct box v[3]:[*], one:[*];
item list[5]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  v[2].x:[next] = 7;
  v[1].items[3].id[2]:[next] = me;
  v[2]:[next].inner = 9; /* the image may stand before the member, too */
  one.items[0].weight:[next] = 0.5f;
  list[4].id[0:3]:[next] = v[0].items[0].id[:];
  list[0:4].id[1]:[next] = 3; /* one member of several */
  xmp_sync_all(0);
  int before = (me + n - 1) % n;
  wrong += v[2].x != 7 || v[1].items[3].id[2] != before || v[2].inner != 9 || one.items[0].weight != 0.5f;
  wrong += list[3].id[1] != 3 || list[4].id[1] != 0 || list[3].id[0] != 0;
  struct box t = v[1]:[next], all[3];
  wrong += t.items[3].id[2] != me || t.x != 0;
  xmp_sync_all(0);
  t.x = 11;
  one:[next] = t;
  all[:] = v[:]:[next];
  wrong += all[2].x != 7 || all[1].items[3].id[2] != me;
  xmp_sync_all(0);
  wrong += one.x != 11 || one.items[3].id[2] != before || one:[next].items[3].id[2] != me;
  xmp_sync_all(0);
  v[0:2]:[next] = t; /* a struct to several */
  xmp_sync_memory(0);
  v[0:3].x:[next] += 1;
  xmp_sync_all(0);
  wrong += v[0].x != 12 || v[1].x != 12 || v[2].x != 8;
  return verdict(wrong);
}
