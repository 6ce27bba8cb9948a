/* The operations of the XcalableMP coarray paper (Nakao, Tran, Lee, Boku, Sato), sections 3.2 and 3.3. Its lines stand
 * as they were printed; what ends with "ours" completes them. */
#include <stdio.h>  // ours
#include <xmp.h>    // ours
double a[6], b[6];  // ours
#pragma xmp coarray a:[*]
int wrong;  // ours

static void accumulate(int me) {  // ours
for (int i = 0; i < 6; i++) a[i] = me, b[i] = i;  // ours
xmp_sync_all(NULL);  // ours
if(me == 1) a[:]:[2] += b[:];
xmp_sync_memory(NULL);  // ours
if(me == 1) a[:]:[2] *= 5;
xmp_sync_all(NULL);  // ours
for (int i = 0; i < 6; i++) wrong += a[i] != (me == 2 ? 5 * (2 + i) : me);  // ours
xmp_sync_all(NULL);  // ours
}  // ours

static void four_kinds(int me) {  // ours
int i = 4, j = (me + 1) % 4;  // ours
double b;  // ours
for (int n = 0; n < 6; n++) a[n] = 10 * me + n;  // ours
xmp_sync_all(NULL);  // ours
b = a[i]:[j]; // get
wrong += b != 10 * j + 4;  // ours
b += 1, i = 5;  // ours
a[i]:[j] = b; // put
xmp_sync_all(NULL);  // ours
wrong += a[5] != 10 * me + 5;  // ours
b = 1, i = 4;  // ours
b += a[i]:[j]; // get-accumulate
wrong += b != 10 * j + 5;  // ours
xmp_sync_all(NULL);  // ours
a[i]:[j] += b; // put-accumulate
xmp_sync_all(NULL);  // ours
wrong += a[4] != 10 * me + 4 + 10 * me + 5;  // ours
}  // ours

int main(void) {  // ours
int me = xmpc_this_image();  // ours
accumulate(me), four_kinds(me);  // ours
#pragma xmp reduction(+:wrong)  // ours
if (me == 0) puts(wrong ? "wrong" : "OK");  // ours
}
