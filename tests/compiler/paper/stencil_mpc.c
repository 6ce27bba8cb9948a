/* The 7-point stencil of the mSMS paper (Midorikawa et al., jh190039-ISH, 2019) in MpC. Its lines stand as they were
 * printed, but for breaks in long ones, with `o` for 0, `?` and `:` filled in; what ends with "ours" completes them. */
#include <mpc.h>  // ours
#include <stdio.h>  // ours
enum { NZ = 12, NY = 10, NX = 20 };  // ours
#define o 0  // ours
static int argc, nx, ny, nz, bx, by, bz, sx, ex, sy, ey, sz, ez, t, nt = 4, z;  // ours
static char** argv;  // ours
static int y, x;  // ours
#pragma omp threadprivate(y, x)  // ours
static double check[2][NZ][NY][NX];  // ours
static double start(int z, int y, int x) { return (z * 7 + y * 5 + x * 3) % 11; }  // ours

shared double A[NZ][NY][NX]::[NPROCS][1][1](o, NPROCS); // 大域データ配列
shared double B[NZ][NY][NX]::[NPROCS][1][1](o, NPROCS); // Z分割分散マップ
main()
{
    double (*src)[NY][NX]; double (*dst)[NY][NX]; double (*tmp)[NY][NX]; // 3次元arrayを指すポインタ
    mpc_init(&argc, &argv); // sms_startup()に変換
    nx = NX, ny = NY, nz = NZ; // 配列サイズ
    bx = nx, by = ny; bz = nz / NPROCS; // ブロックサイズ, Z次元分割
    // 各ノードの計算領域を始点, 終点設定
    sx = 0; ex = bx; sy = 0; ey = by;
    sz = MYPID * bz; ez = (MYPID + 1) * bz;
    sx++, ex--, sy++, ey--, sz += MYPID == 0, ez -= MYPID == NPROCS - 1;  // ours: the edge stays 0
    for (z = sz; z < ez; z++) for (y = sy; y < ey; y++) for (x = sx; x < ex; x++) {
        A[z][y][x] = start(z, y, x); B[z][y][x] = 0; } // 配列初期化
    mpc_barrier(); // データ一貫性(ここでは通信トラフィックなし) と実行同期, sms_barrier()に変換
    src = A; dst = B;
    for (t = 0; t < nt; t++) { // 時間ステップ
        #pragma omp parallel for
        for (z = sz; z < ez; z++) for (y = sy; y < ey; y++) for (x = sx; x < ex; x++) { // 7点ステンシル計算
            dst[z][y][x] = 0.4*src[z][y][x] +
                0.1*(src[z-1][y][x] + src[z+1][y][x] + src[z][y-1][x] + src[z][y+1][x] +
                src[z][y][x-1] + src[z][y][x+1]);
        }
        sms_sync_drop(); // 実行同期, 各ノードキャッシュページ廃棄
        tmp = dst; dst = src; src = tmp; // src と dst の交換
    }
    int wrong = 0;  // ours, from here on: the same without shared memory
    for (t = 0; t <= nt; t++)
        for (z = 1; z < nz - 1; z++) for (y = 1; y < ny - 1; y++) for (x = 1; x < nx - 1; x++) {
            double (*s)[NY][NX] = check[t % 2], (*d)[NY][NX] = check[(t + 1) % 2];
            if (t == 0) d[z][y][x] = start(z, y, x);
            else d[z][y][x] = 0.4*s[z][y][x] +
                0.1*(s[z-1][y][x] + s[z+1][y][x] + s[z][y-1][x] + s[z][y+1][x] + s[z][y][x-1] + s[z][y][x+1]);
        }
    for (z = 0; z < nz; z++) for (y = 0; y < ny; y++) for (x = 0; x < nx; x++)
        wrong += src[z][y][x] != check[(nt + 1) % 2][z][y][x];
    if (MYPID == 0) puts(wrong ? "wrong" : "OK");  // ours, up to here
    mpc_exit(); // sms_shutdown()に変換
}
