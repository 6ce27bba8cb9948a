/* Ping-pong by put, of the XcalableMP coarray paper (Nakao, Tran, Lee, Boku, Sato), figure 2. Its lines stand as they
 * were printed; what ends with "ours" completes them. */
#include <stdio.h>   // ours
#include <string.h>  // ours
#include <xmp.h>     // ours
#define MAX 1000     // ours
#define LOOP 50      // ours
#pragma xmp nodes p(2) // 2 nodes are used
char loc_buf[MAX], rmt_buf[MAX];
#pragma xmp coarray rmt_buf:[*]
int i, size = MAX - 1, wrong;  // ours

int main(void) {  // ours
int me = xmp_node_num(), dest = 2 - me;  // ours: nodes count from 1, images from 0
memset(loc_buf, '0', MAX);
memset(rmt_buf, '1', MAX);
xmp_sync_all(NULL);  // ours
for(i=0;i<LOOP;i++){
  if(me == 1){
    rmt_buf[0:size]:[dest] = loc_buf[0:size];
#pragma xmp sync_memory
    while (rmt_buf[size-1] != '0') {
#pragma xmp sync_memory
    }
    rmt_buf[size-1] = '1';
  } else {
    while (rmt_buf[size-1] != '0') {
#pragma xmp sync_memory
    }
    rmt_buf[size-1] = '1';
    rmt_buf[0:size]:[dest] = loc_buf[0:size];
#pragma xmp sync_memory
  }
}
xmp_sync_all(NULL);  // ours
for (i = 0; i < size - 1; i++) wrong += rmt_buf[i] != '0';  // ours
wrong += rmt_buf[size - 1] != '1' || rmt_buf[size] != '1';  // ours
#pragma xmp reduction(+:wrong)  // ours
if (me == 1) puts(wrong ? "wrong" : "OK");  // ours
}
