/* Ping-pong by get, of the XcalableMP coarray paper (Nakao, Tran, Lee, Boku, Sato), figure 3. Its lines stand as they
 * were printed; what ends with "ours" completes them. */
#include <stdio.h>   // ours
#include <string.h>  // ours
#include <xmp.h>     // ours
#define MAX 1000     // ours
#define LOOP 20      // ours
#pragma xmp nodes p(2) // 2 nodes are used
char loc_buf[MAX], rmt_buf[MAX];
#pragma xmp coarray rmt_buf:[*]
int i, size = MAX, wrong;  // ours

int main(void) {  // ours
int me = xmp_node_num(), dest = 2 - me;  // ours: nodes count from 1, images from 0
memset(rmt_buf, '0' + me, MAX);  // ours
xmp_sync_all(NULL);  // ours
for(i=0;i<LOOP;i++){
  if(me == 1){
    loc_buf[0:size] = rmt_buf[0:size]:[dest];
#pragma xmp barrier
  } else {
#pragma xmp barrier
    loc_buf[0:size] = rmt_buf[0:size]:[dest];
  }
#pragma xmp barrier
}
for (i = 0; i < size; i++) wrong += loc_buf[i] != '3' - me;  // ours
#pragma xmp reduction(+:wrong)  // ours
if (me == 1) puts(wrong ? "wrong" : "OK");  // ours
}
