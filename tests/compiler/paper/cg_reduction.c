/* The reduction of Conjugate Gradient, of the XcalableMP coarray paper (Nakao, Tran, Lee, Boku, Sato), figure 7. Its
 * lines stand as they were printed; what ends with "ours" completes them. */
#include <stdio.h>   // ours
#include <string.h>  // ours
#include <xmp.h>     // ours
#define NUM_COLS 2   // ours
#define N 20         // ours
#define P 8          // ours
#pragma xmp nodes pros(NUM_COLS, NUM_ROWS)
double w[N], w1[N], q[N], wrong;  // ours
int count[P][3], start[P], length[P];  // ours
#pragma xmp coarray w:[*]
#pragma xmp coarray w1:[*]

int main(void) {  // ours
int n = xmp_num_images(), me = xmpc_this_image(), dest = n - 1 - me, i, k, m;  // ours
int l2nprocs = n == 1 ? 0 : n == 2 ? 1 : 2;  // ours
for (i = 0; i < N; i++) w[i] = w1[i] = (me + 1) * (i + 1);  // ours
for (k = 0; k < n; k++) start[k] = 2 * k, length[k] = k + 3;  // ours
for (k = 0; k < n; k++) for (i = 0; i < l2nprocs; i++) count[k][i] = N - i;  // ours
xmp_sync_all(NULL);  // ours
for( i=(l2nprocs-1); i>=0; i-- ){
    k = me ^ 1 << i, m = i;  // ours
    w[i:count[k][i]] += w1[m:count[k][i]]:[k];
#pragma xmp barrier
    if( i != 0 ){
        memcpy( &w1[i], &w[i], sizeof(double)*(count[k][i]));
    }
#pragma xmp barrier
}

if( l2nprocs == 0 )
    memcpy( &q[0], &w[0], sizeof( double )*length[me] );
else
    q[0:length[dest]] = w[start[dest]:length[dest]]:[dest];
for (i = 0; i < length[dest]; i++) {  // ours
  int at = start[dest] + i, all = n * (n + 1) / 2, pair = 2 * (dest | 1) + 1;  // ours: element 0 has one neighbour's
  wrong += q[i] != (double)(at + 1) * (at == 0 ? pair : all);  // ours
}  // ours
#pragma xmp reduction(+:wrong)  // ours
if (me == 0) puts(wrong ? "wrong" : "OK");  // ours
}
