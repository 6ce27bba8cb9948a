"""Programs that move elements between aligned arrays and arrays of the other models (SMint, MpC, sms.h and the heap),
and between the copies of aligned arrays; and loops over seven dimensions."""

# Sections of any steps, dimensions that one side does not have, copies, elements, and moves by some of the nodes.
SMINT = """#include <smint.h>
#include <sms.h>
#include <stdio.h>
#include <xmp.h>
#define N 30
#define M 11
#pragma SMint shared ::[NPROCS][](0,NPROCS)
double s[N][M];
#pragma SMint shared ::[](0,1)
int few[8];
#pragma SMint shared ::[](0,1)
double x[1];
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][*]
#pragma xmp template t[N]
#pragma xmp template w[N]
#pragma xmp template u[N][M]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute w[cyclic(2)] onto p
#pragma xmp distribute u[cyclic][block] onto g
double a[N], b[N][M], copies[N];
int c[N];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i][j] with u[i][j]
#pragma xmp align copies[i] with u[i][*]
#pragma xmp align c[i] with w[i]
static int wrong;
static void part(double (*rows)[M], int count) {
#pragma xmp gmove
  rows[0:count][2] = a[N - 1:count:-1];
#pragma xmp gmove
  a[0:count] = rows[0:count][2];
}
int main(void) {
  int n = xmp_num_nodes(), me = xmpc_node_num();
#pragma xmp loop (i, j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) b[i][j] = 100 * i + j;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i;
#pragma xmp loop on w[i]
  for (int i = 0; i < N; i++) c[i] = -i;
#pragma xmp loop (i) on u[i][*]
  for (int i = 0; i < N; i++) copies[i] = 1000 + i;
#pragma xmp gmove
  s[:][:] = b[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) wrong += s[i][j] != 100 * i + j;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) s[i][j] += 0.5;
#pragma xmp gmove
  b[N - 1:N:-1][0:4:3] = s[:][M - 1:4:-2];
  double all[N][M], line[N];
#pragma xmp gmove
  all[:][:] = b[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      wrong += all[i][j] != (j % 3 ? 100 * i + j : 100 * (N - 1 - i) + M - 1 - j / 3 * 2 + 0.5);
#pragma xmp gmove
  s[:][3] = copies[:];
#pragma xmp gmove
  a[N - 1:N:-1] = s[:][3];
#pragma xmp gmove
  line[:] = a[:];
  for (int i = 0; i < N; i++) wrong += line[i] != 1000 + N - 1 - i || s[i][3] != 1000 + i;
  part(&s[4], 5);
  for (int i = 0; i < 5; i++) wrong += s[4 + i][2] != 1000 + i;
#pragma xmp gmove async(3)
  few[0:8] = c[1:8:3];
#pragma xmp wait_async(3)
  for (int i = 0; i < 8; i++) wrong += few[i] != -1 - 3 * i;
#pragma xmp gmove
  few[1:3] = c[7];
#pragma xmp gmove
  x[0] = a[N - 2];
#pragma xmp gmove
  few[7] = c[2];
  wrong += few[0] != -1 || few[1] != -7 || few[3] != -7 || few[4] != -13 || few[7] != -2 || x[0] != 1001;
#pragma xmp barrier
  if (me == n - 1) x[0] = 8, few[5] = 9;
#pragma xmp gmove
  a[3] = x[0];
#pragma xmp gmove
  a[8:2] = few[5];
#pragma xmp gmove
  line[:] = a[:];
  wrong += line[3] != 8 || line[8] != 9 || line[9] != 9;
#pragma xmp barrier
  for (int node = 0; node < n; node++) {
#pragma xmp task on p[node]
    {
      int first = node * ((N + n - 1) / n);
      if (first < N) {
#pragma xmp gmove out
        s[first:1][0] = a[first:1];
#pragma xmp gmove in
        a[first:1] = s[first:1][1];
      }
#pragma xmp gmove in
      s[node][4:2] = copies[N - 2:2];
    }
#pragma xmp barrier
    wrong += s[node][4] != 998 + N || s[node][5] != 999 + N;
  }
#pragma xmp gmove
  all[:][0] = a[:];
  for (int node = 0; node < n; node++) {
    int first = node * ((N + n - 1) / n);
    if (first < N) wrong += all[first][0] != s[first][1] || s[first][0] != line[first];
  }
  /* Here each node has its own row, so each gets all. */
#pragma xmp barrier
#pragma xmp gmove
  s[me][0:5] = a[10:5];
  for (int j = 0; j < 5; j++) wrong += s[me][j] != all[10 + j][0];
#pragma xmp barrier
  for (int node = 0; node < n; node++)
    for (int j = 0; j < 5; j++) wrong += s[node][j] != all[10 + j][0];
#pragma xmp barrier
#pragma xmp reduction(+:wrong)
  if (me == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Pointers to shared arrays, of any distribution; objects of the heap; and moves by nodes of a task together.
POINTERS = """#include <sms.h>
#include <stdio.h>
#include <xmp.h>
#define N 24
#pragma xmp nodes p[*]
#pragma xmp nodes some[1]=p[0:1]
#pragma xmp template t[N][N]
#pragma xmp template k[N]
#pragma xmp distribute t[*][block] onto p
#pragma xmp distribute k[cyclic] onto some
int a[N][N];
double b[N];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i] with k[i]
int main(void) {
  int n = xmp_num_nodes(), wrong = 0, line[N];
  int dim[] = {N, N, -1}, div[] = {n, 1, -1};
  int(*s)[N] = sms_mapalloc(dim, div, sizeof(int), 0, n);
  int* last = sms_alloc(sizeof(int), N, n - 1);
  double* mine = sms_malloc(N * sizeof *mine);
#pragma xmp loop (j) on t[*][j]
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) a[i][j] = i * N + j;
#pragma xmp gmove
  s[0:N][0:N] = a[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += s[i][j] != i * N + j;
#pragma xmp barrier
  for (int i = xmpc_node_num(); i < N; i += n)
    for (int j = 0; j < N; j++) s[i][j] = -s[i][j];
#pragma xmp gmove
  a[:][:] = s[0:N][0:N];
#pragma xmp gmove
  last[0:N] = a[5][:];
#pragma xmp gmove
  line[:] = a[:][7];
  for (int i = 0; i < N; i++) wrong += line[i] != -i * N - 7 || last[i] != -5 * N - i;
#pragma xmp task on some[0]
  {
    for (int i = 0; i < N; i++) b[i] = i / 2.;
#pragma xmp gmove
    mine[0:N] = b[:];
    for (int i = 0; i < N; i++) mine[i] *= 4;
#pragma xmp gmove
    b[:] = mine[0:N];
    for (int i = 0; i < N; i++) wrong += b[i] != 2 * i;
  }
#pragma xmp barrier
#pragma xmp task on t[*][0]
  {
#pragma xmp gmove
    last[2:2] = a[3][0:2];
    wrong += last[2] != -3 * N || last[3] != -3 * N - 1;
  }
#pragma xmp barrier
  sms_mfree(mine);
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
MPC = """#include <mpc.h>
#include <stdio.h>
#include <xmp.h>
#define N 12
shared double m[N][N]::[NPROCS][1](0,NPROCS);
#pragma xmp nodes p(*)
#pragma xmp template t(0:N-1)
#pragma xmp distribute t(gblock(*)) onto p
double a[N][N];
#pragma xmp align a[*][j] with t(j)
int main(int argc, char** argv) {
  int sizes[64] = {0}, wrong = 0;
  mpc_init(&argc, &argv);
  sizes[NPROCS / 2] = N;
#pragma xmp template_fix(gblock(sizes)) t(0:N-1)
#pragma xmp loop on t(j)
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) a[i][j] = i - j;
#pragma xmp gmove
  m[:][:] = a[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += m[i][j] != i - j;
#pragma xmp gmove
  a[0:4][:] = m[8:4][:];
#pragma xmp loop on t(j)
  for (int j = 0; j < N; j++)
    for (int i = 0; i < 4; i++) wrong += a[i][j] != i + 8 - j;
#pragma xmp reduction(+:wrong)
  if (MYPID == 0) puts(wrong ? "wrong" : "OK");
  mpc_exit();
  return 0;
}
"""
# reduction and bcast of arrays of which some nodes have copies, with a shadow, cyclic, whole, and a member.
REPLICATED = """#include <stdio.h>
#include <xmp.h>
#define N 7
#pragma xmp nodes p[*][*]
#pragma xmp template t[N][N]
#pragma xmp distribute t[block][cyclic] onto p
double a[N], b[N], a2[N][3];
int c[4];
struct { long v[N]; } m;
#pragma xmp align a[i] with t[i][*]
#pragma xmp shadow a[1]
#pragma xmp align a2[i][*] with t[i][*]
#pragma xmp shadow a2[1][0]
#pragma xmp align b[j] with t[*][j]
#pragma xmp align c[*] with t[*][*]
#pragma xmp align m.v[j] with t[*][j]
static int wrong;
int main(void) {
  int me = xmpc_node_num(), at[2], size[2];
  xmp_nodes_index(xmp_desc_of(p), 1, &at[0]), xmp_nodes_index(xmp_desc_of(p), 2, &at[1]);
  xmp_nodes_size(xmp_desc_of(p), 1, &size[0]), xmp_nodes_size(xmp_desc_of(p), 2, &size[1]);
#pragma xmp loop (i) on t[i][*]
  for (int i = 0; i < N; i++) {
    a[i] = i + 100 * at[1];
    for (int k = 0; k < 3; k++) a2[i][k] = at[1] * k + i;
  }
#pragma xmp loop (j) on t[*][j]
  for (int j = 0; j < N; j++) b[j] = j + 10 * at[0], m.v[j] = at[0] == 1;
  for (int k = 0; k < 4; k++) c[k] = me + k;
#pragma xmp reduction(+:a) on p[*][:]
#pragma xmp reduction(max:a2, c) on p[*][:] async(1)
#pragma xmp bcast(b, m.v) from p[0][*] on p[:][*]
#pragma xmp wait_async(1)
#pragma xmp bcast(c) from p[0][0]
#pragma xmp loop (i) on t[i][*]
  for (int i = 0; i < N; i++) {
    wrong += a[i] != i * size[1] + 100 * size[1] * (size[1] + 1) / 2;
    for (int k = 0; k < 3; k++) wrong += a2[i][k] != size[1] * k + i;
  }
#pragma xmp loop (j) on t[*][j]
  for (int j = 0; j < N; j++) wrong += b[j] != j + 10 || m.v[j] != 1;
  for (int k = 0; k < 4; k++) wrong += c[k] != size[1] - 1 + k;
#pragma xmp reduction(&&:c) async(2)
#pragma xmp wait_async(2)
  for (int k = 0; k < 4; k++) wrong += !c[k] != !(size[1] - 1 + k);
#pragma xmp reduction(+:wrong)
  if (me == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Arrays of run-time size in blocks.
SIZES = """#include <smint.h>
#include <stdio.h>
#include <xmp.h>
#pragma SMint shared ::[NPROCS](0,NPROCS)
int s[64];
static int work(int n) {
  int wrong = 0;
#pragma xmp nodes p[*]
#pragma xmp template t[n]
#pragma xmp distribute t[cyclic(2)] onto p
  int a[n];
#pragma xmp align a[k] with t[k]
#pragma xmp loop on t[k]
  for (int k = 0; k < n; k++) a[k] = k * n;
#pragma xmp gmove
  s[64 - n:n] = a[:];
#pragma xmp task on p[0]
  for (int k = 0; k < n; k++) wrong += s[64 - n + k] != k * n;
#pragma xmp gmove
  a[0] = s[64 - n + 1];
#pragma xmp task on t[0]
  wrong += a[0] != n;
#pragma xmp reduction(+:wrong)
  return wrong;
}
int main(void) {
  int wrong = work(7) + work(33) + work(64);
  if (!xmpc_node_num()) puts(wrong ? "wrong" : "OK");
  return 0;
}
"""
# A loop over all dimensions that a template can have, with locations.
SEVEN = """#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p[*][*][1]
#pragma xmp template t[2][3][2][3][2][3][4]
#pragma xmp distribute t[*][cyclic][*][block][*][*][cyclic(2)] onto p
int a[2][3][2][3][2][3][4];
#pragma xmp align a[b][c][d][e][f][g][h] with t[b][c][d][e][f][g][h]
int main(void) {
  int best = -1, k[7] = {0}, sum = 0, k0 = 0, k6 = 0;
#pragma xmp loop (b,c,d,e,f,g,h) on t[b][c][d][e][f][g][h] reduction(+:sum)
  for (int b = 0; b < 2; b++)
  for (int c = 0; c < 3; c++)
  for (int d = 0; d < 2; d++)
  for (int e = 0; e < 3; e++)
  for (int f = 0; f < 2; f++)
  for (int g = 0; g < 3; g++)
  for (int h = 0; h < 4; h++) {
    a[b][c][d][e][f][g][h] = (b * 37 + c * 17 + d * 5 + e * 3 + f * 11 + g * 7 + h) % 50;
    sum++;
  }
#pragma xmp loop (b,c,d,e,f,g,h) on t[b][c][d][e][f][g][h] reduction(lastmax:best/k0,k6,k/)
  for (int b = 0; b < 2; b++)
  for (int c = 0; c < 3; c++)
  for (int d = 0; d < 2; d++)
  for (int e = 0; e < 3; e++)
  for (int f = 0; f < 2; f++)
  for (int g = 0; g < 3; g++)
  for (int h = 0; h < 4; h++)
    if (a[b][c][d][e][f][g][h] >= best) {
      best = a[b][c][d][e][f][g][h], k0 = b, k6 = h;
      k[0] = b, k[1] = c, k[2] = d, k[3] = e, k[4] = f, k[5] = g, k[6] = h;
    }
  int rb = -1, r[7] = {0};
  for (int b = 0; b < 2; b++)
  for (int c = 0; c < 3; c++)
  for (int d = 0; d < 2; d++)
  for (int e = 0; e < 3; e++)
  for (int f = 0; f < 2; f++)
  for (int g = 0; g < 3; g++)
  for (int h = 0; h < 4; h++) {
    int v = (b * 37 + c * 17 + d * 5 + e * 3 + f * 11 + g * 7 + h) % 50;
    if (v >= rb) rb = v, r[0] = b, r[1] = c, r[2] = d, r[3] = e, r[4] = f, r[5] = g, r[6] = h;
  }
  int wrong = sum != 864 || best != rb || k0 != r[0] || k6 != r[6];
  for (int i = 0; i < 7; i++) wrong += k[i] != r[i];
#pragma xmp reduction(+:wrong)
  if (!xmpc_node_num()) puts(wrong ? "wrong" : "OK");
  return 0;
}
"""
PROGRAMS = {
    "shared_smint": SMINT,
    "shared_pointers": POINTERS,
    "shared_mpc": MPC,
    "replicated": REPLICATED,
    "shared_sizes": SIZES,
    "seven": SEVEN,
}
