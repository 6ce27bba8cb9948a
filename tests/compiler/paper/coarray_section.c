/* The section of two dimensions of the XcalableMP coarray paper (Nakao, Tran, Lee, Boku, Sato), figure 1. Its lines
 * stand as they were printed; what ends with "ours" completes them. */
#include <stdio.h>  // ours
#include <xmp.h>    // ours
int a[1024][1024], b[1024][1024];
#pragma xmp coarray a:[*]
int wrong;  // ours

int main(void) {  // ours
int me = xmpc_this_image();  // ours
int p = 3, q = 20, r = 5, s = 30, step = 7, t = 100, u = 9;  // ours
for (int i = 0; i < 1024; i++) for (int j = 0; j < 1024; j++) a[i][j] = me * 5000000 + 1024 * i + j;  // ours
xmp_sync_all(NULL);  // ours
if (me == 3) { b[p:q][r:s:step] = a[t:q][u:s:step]:[1]; }
for (int i = 0; i < q && me == 3; i++)  // ours
  for (int j = 0; j < s; j++) wrong += b[p + i][r + j * step] != 5000000 + 1024 * (t + i) + u + j * step;  // ours
wrong += b[p][r + 1] != 0 || b[p + q][r] != 0;  // ours
xmp_sync_all(NULL);  // ours
#pragma xmp reduction(+:wrong)  // ours
if (me == 0) puts(wrong ? "wrong" : "OK");  // ours
}
