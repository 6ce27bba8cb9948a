/* Bit-fields: a value can be read from another image; to change it, the struct around it is assigned. */
#include <xmp.h>
#include "check.h"

typedef struct flags {
  int level : 4, : 2;
  unsigned on : 1;
  int plain;
  struct {
    int inner : 4;
  };
  struct {
    unsigned deep : 3;
  } more;
} flags;
flags v[4]:[*], w:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, before = (me + n - 1) % n, wrong = 0, a[3];
  v[1].level = -me - 1, v[2].inner = 3, v[2].more.deep = 5, w.on = 1, w.plain = me;
  xmp_sync_all(0);
  wrong += v[1].level:[next] != -next - 1 || -v[1]:[next].level != next + 1;
  wrong += !w:[next].on || v[2].inner:[0] + v[2].more.deep:[0] != 8 || w.plain:[next] != next;
  if (w:[next].on) a[:] = v[1].level:[next] * 2;
  wrong += a[2] != -2 * next - 2;
  flags copy = v[1]:[next];
  copy.level = me;
  xmp_sync_all(0);
  v[1]:[next] = copy;
  xmp_sync_all(0);
  wrong += v[1].level != before;
  v[1].level = 2;
  xmp_sync_all(0);
  return verdict(wrong + (v[1].level:[next] != 2));
}
