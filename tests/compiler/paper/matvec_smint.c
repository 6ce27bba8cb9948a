/* The matrix-vector product of the mSMS paper (Midorikawa et al., jh190039-ISH, 2019) in SMint. Its lines stand as they
 * were printed, with N filled in; what ends with "ours" completes them. As printed, vec2[i] is the last product. */
#include <stdio.h>  // ours
#include <smint.h> // #pragma SMint 利用プログラム
#define N 200
#pragma SMint shared ::[1](0,1); // node0にマップ
double vec1[N];
#pragma SMint shared ::[](1,1); // node1にマップ,省略記述
double vec2[N];
#pragma SMint shared ::[NPROCS][](0,NPROCS); //全ノードに分散マップ
double array[N][N];
int i, k, wrong;  // ours
#pragma omp threadprivate(k)  // ours

int main(int argc, char *argv[])
{ int size, st, ed; // 各ノードの担当領域
  #pragma SMint single  // ours
  for (i = 0; i < N; i++) for (vec1[i] = i + 1, k = 0; k < N; k++) array[i][k] = 2 * i + k;  // ours
  #pragma SMint parallel for // 全ノードで並列実行
  #pragma omp parallel for //各ノードでマルチスレッド実行
  for(i=0; i<N; i++) {
    for(k=0; k<N; k++)
      vec2[i]= array[i][k] * vec1[k]; // 行列ベクトル積
  }
  // バリア同期は自動挿入
  for (i = 0; i < N; i++) wrong += vec2[i] != (2.0 * i + N - 1) * N;  // ours
  if (sms_rank == 0) puts(wrong ? "wrong" : "OK");  // ours
}
