/* The exchange of keys of Integer Sort, of the XcalableMP coarray paper (Nakao, Tran, Lee, Boku, Sato), figure 5. Its
 * lines stand as they were printed; what ends with "ours" completes them. */
#include <stdio.h>  // ours
#include <xmp.h>    // ours
#define P 8         // ours
#define _xmp_sync_all() xmp_sync_all(NULL)  // ours: the name it had then
int key[P * P * P], loc[P * P * P];  // ours
int dst_disp[P][P], recv_disp[P][P], src_disp[P], count[P], i, wrong;  // ours
#pragma xmp coarray key:[*]

int main(void) {  // ours
int comm_size = xmp_num_images(), me = xmpc_this_image();  // ours
int at = 0;  // ours: image f sends f + t + 1 keys to image t
for (i = 0; i < comm_size; i++) src_disp[i] = at, at += count[i] = me + i + 1;  // ours
for (int t = 0; t < comm_size; t++)  // ours
  for (int f = 0, to = 0; f < comm_size; f++) recv_disp[t][f] = to, to += f + t + 1;  // ours
for (int t = 0; t < comm_size; t++)  // ours
  for (i = 0; i < count[t]; i++) loc[src_disp[t] + i] = 10000 * me + 100 * t + i;  // ours
#pragma xmp gmove
dst_disp[:][:] = recv_disp[:][:];

for( i=0; i<comm_size; i++) {
    key[dst_disp[i][me]:count[i]]:[i] = loc[src_disp[i]:count[i]];
}
_xmp_sync_all();
for (int f = 0; f < comm_size; f++)  // ours
  for (i = 0; i < f + me + 1; i++) wrong += key[recv_disp[me][f] + i] != 10000 * f + 100 * me + i;  // ours
#pragma xmp reduction(+:wrong)  // ours
if (me == 0) puts(wrong ? "wrong" : "OK");  // ours
}
