// Matrix times vector: the listing "C + SMSライブラリ関数" of the mSMS paper (Midorikawa, jh190039-ISH), as printed.
// Added is only what the print leaves out: the value of N, and the declarations of i and k on the two lines below (k
// runs inside a parallel loop, so every thread has its own). As printed, it stores the last product and not the sum,
// it puts vec2 on rank 1, so it needs two ranks, and N must be a multiple of their number.
// clang-format off
static int i;
static _Thread_local int k;
#include <sms.h> // SMSライブラリ関数利用によるC プログラム
#define N 840
int main(int argc, char *argv[])
{ int size, st, ed; // 各ノードの担当領域
  double *vec1, *vec2; // 1次元配列 vec1[N], vec2[N] のためのポインタ
  double (*array) [N]; // 2次元配列 array[N][N] のためのポインタ
  int dim[3]={N, N,-1}, div[3]={1, 1,-1}; // dim: 配列サイズ, div:分散マップ分割数

  sms_startup(&argc, &argv);

  vec1 = (double*)sms_alloc(sizeof(double), N, 0); // vec1[N] node0に割り付け
  vec2 = (double*)sms_alloc(sizeof(double), N, 1); // vec2[N] node1に割り付け
  div[0]=sms_nprocs; // arrayをバンド分割, 全ノードに分散マッピング
  array= (double(*)[N]) sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);

  size=N/sms_nprocs;
  st=size * sms_rank; ed=size * (sms_rank+1); //各ノード担当領域
  #pragma omp parallel for // 各ノードでは, マルチスレッド実行
  for(i=st; i<ed; i++) { // 全ノードで for(i=0; i<N; i++) を並列実行
    for(k=0; k<N; k++) vec2[i]= array[i][k] * vec1[k]; // 行列ベクトル積
  }

  sms_barrier();
  sms_shutdown();
}
