/* A coindexed object is an expression, and stands wherever one may. */
#include <math.h>
#include <string.h>
#include <xmp.h>
#include "check.h"

int a[4]:[*], x:[*];
double d[4]:[*];
char text[8]:[*] = "hiroba";

static int twice(int value) { return 2 * value; }
static int sum(int one, double other) { return one + (int)other; }
static int of_next(int next) { return x:[next]; }

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, i = 3, y;
  a[1]:[next] = 5;
  a[2]:[next] = i * i;
  d[0]:[next] = a[1]:[next] / 2.0;
  x:[next] = twice(a[2]:[next]);
  xmp_sync_all(0);
  wrong += a[1] != 5 || a[2] != 9 || d[0] != 2.5 || x != 18;
  y = a[1]:[next] + 1;
  wrong += y != 6 || twice(a[2]:[next]) != 18 || sum(a[1]:[next], d[0]:[next]) != 7 || of_next(next) != 18;
  wrong += a[a[1]:[next] - 3]:[next] != 9;     /* an index by another image's value */
  wrong += a[2]:[x:[next] - 18 + next] != 9;   /* an image, too */
  wrong += fabs(-d[0]:[next]) != 2.5 || -a[1]:[next] != -5 || (double)a[1]:[next] / 2 != 2.5 || !x:[next];
  wrong += (x:[next] > 3 && a[1]:[next] != 5) || (x:[next] == 0 || a[1]:[next] == 0);
  y = x:[next] > 3 ? a[1]:[next] : a[2]:[next];
  wrong += y != 5;
  y = x:[next] < 3 ? 1 : a[2]:[next];
  wrong += y != 9;
  switch (a[1]:[next]) {
    case 4: wrong++; break;
    case 5: y = a[2]:[next]; break;
    default: wrong++;
  }
  for (y = x:[next]; y > a[2]:[next]; y -= a[1]:[next]) wrong += y != 18 && y != 13;
  wrong += y != 8;
  while (y < x:[next]) y++;
  do y--;
  while (y > a[1]:[next]);
  wrong += y != 5;
  int first[] = {a[1]:[next], [2] = a[2]:[next]}, many[a[1]:[next]];
  wrong += first[0] != 5 || first[2] != 9 || sizeof many != 5 * sizeof(int);
  y = (a[1]:[next], a[2]:[next]);
  wrong += y != 9 || sizeof a[1]:[next] != sizeof(int) || sizeof(x:[next]) != sizeof(int);
  wrong += text[2]:[next] != 'r' || strlen(text) != 6;
  i = 0;
  y = a[i++ + 1]:[next]; /* evaluated once */
  wrong += y != 5 || i != 1;
  xmp_sync_all(0);
  y = a[3]:[next] = d[3]:[next] = 7.75; /* the value of an assignment */
  xmp_sync_all(0);
  wrong += y != 7 || a[3] != 7 || d[3] != 7.75;
  return verdict(wrong);
}
