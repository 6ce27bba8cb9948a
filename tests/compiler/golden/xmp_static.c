/* A static coarray of each of two files may have one name, and functions have their own. With xmp_static-2.c. */
#include <xmp.h>
#include "check.h"

static int field[10]:[*];
static int other:[*] = 4;
int sum_of_other_file(int image);

static int counted(int image) {
  static int calls:[*] = 100, plain = 1, field[3]:[*];
  calls++;
  field[2] = calls + plain;
  xmp_sync_all(0);
  int got = calls:[image] + field[2]:[image];
  xmp_sync_all(0);
  return got;
}

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  field[9] = me;
  xmp_sync_all(0);
  wrong += field[9]:[next] != next || other:[next] != 4;
  wrong += sum_of_other_file(next) != 5 + next;
  wrong += counted(next) != 101 + 102;
  wrong += counted(next) != 102 + 103;
  return verdict(wrong);
}
