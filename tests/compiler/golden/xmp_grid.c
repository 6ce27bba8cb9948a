/* Node arrays of two dimensions: p[y][x] is p(x,y). */
#include <xmp.h>
#include "check.h"

#pragma xmp nodes p[*][1], q(1,*), line(*)
int a:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0, hits = 0, last = n - 1;
  a = 0;
  xmp_sync_all(0);
#pragma xmp task on p[last][0]
  hits += 1;
#pragma xmp task on p(1,n)
  hits += 10;
#pragma xmp task on q(1,last + 1)
  hits += 100;
#pragma xmp task on q[last][0]
  hits += 1000;
#pragma xmp task on p[0:n][*]
  hits += xmp_num_images() == n ? 0 : 5;
#pragma xmp task on q(:,1:n:2)
  wrong += xmpc_this_image() != me / 2;
  wrong += hits != (me == last ? 1111 : 0);
#pragma xmp barrier on p
#pragma xmp barrier on line(1:n)
  int ndims, size, rank;
  xmp_nodes_ndims(xmp_desc_of(p), &ndims);
  xmp_nodes_size(xmp_desc_of(q), 2, &size);
  xmp_nodes_rank(xmp_desc_of(line), &rank);
  wrong += ndims != 2 || size != n || rank != me + 1;
  xmp_array_ndims(xmp_desc_of(a), &ndims);
  wrong += ndims != 0;
  return verdict(wrong);
}
