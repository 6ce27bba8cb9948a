/* The second file of xmp_static.c. */
#include <xmp.h>

static int field[10]:[*] = {1, 1, 1, 1, 1};
static int calls:[*];

int sum_of_other_file(int image) {
  int sum = 0, mine[10];
  calls = xmpc_this_image();
  xmp_sync_all(0);
  mine[:] = field[:]:[image];
  for (int i = 0; i < 10; i++) sum += mine[i];
  return sum + calls:[image];
}
