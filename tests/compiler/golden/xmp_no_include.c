#include "check.h"

int a[4]:[*];

int main(void) {
  a[1] = xmp_node_num();
#pragma xmp sync_all
  const int last = xmp_num_nodes() - 1;
  return verdict(a[1]:[last] != last + 1);
}
