"""Programs in XcalableMP's global view, each with forms that belong together; they print OK on any number of nodes."""

# template_fix, xmp_malloc of aligned pointers, gblock, arrays of run-time size.
LATER = """#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][1]
#pragma xmp template t[:]
#pragma xmp template u(:,:)
#pragma xmp template w[:]
#pragma xmp template v[60]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u(cyclic(2),block) onto g
#pragma xmp distribute w[gblock(*)] onto p
#pragma xmp distribute v[gblock(*)] onto p
static const int M = 12;
double *a, (*b)[M] = NULL;
extern int* far;
int* far;
static float waits[60];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1:2]
#pragma xmp align b[i][j] with u(j,i)
#pragma xmp align far[i] with w[i]
#pragma xmp align waits[i] with v[i]
#pragma xmp shadow waits[1]
static double total(const double* x, int n) {
#pragma xmp align x[i] with t[i]
  double sum = 0;
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}
static int of_size(int n) {
  int wrong = 0;
#pragma xmp template s[n][2 * n]
#pragma xmp distribute s[*][block] onto p
  int c[n][2 * n], one[n];
#pragma xmp align c[i][j] with s[i][j]
#pragma xmp align one[i] with s[i][*]
#pragma xmp shadow c[0][1]
#pragma xmp loop (j) on s[*][j]
  for (int j = 0; j < 2 * n; j++)
    for (int i = 0; i < n; i++) c[i][j] = 100 * i + j;
#pragma xmp reflect(c)
#pragma xmp loop (j) on s[*][j] reduction(+:wrong)
  for (int j = 1; j < 2 * n - 1; j++)
    for (int i = 0; i < n; i++) wrong += c[i][j - 1] + c[i][j + 1] != 200 * i + 2 * j;
  for (int i = 0; i < n; i++) one[i] = i;
  return wrong + (sizeof c != sizeof(int) * n * n * 2) + (one[n - 1] != n - 1);
}
int main(int argc, char** argv) {
  int wrong = 0, n = 40 + argc, m = M, nodes = xmp_num_nodes(), left = n;
  int* sizes = malloc(sizeof(int) * nodes);
  short half[16];
  (void)argv;
  for (int i = 0; i < nodes; i++) {
    sizes[i] = i == nodes - 1 ? left : i == 1 ? 0 : n / (nodes + 1);
    left -= sizes[i];
    half[i] = i == 0 ? 60 - 2 * (nodes - 1) : 2;
  }
#pragma xmp template_fix[block] t[0:n]
#pragma xmp TEMPLATE_FIX(cyclic(2),block) u(0:m-1,0:n)
#pragma xmp template_fix[gblock(sizes)] w[n]
#pragma xmp template_fix[gblock(half)] v
  a = (double*)xmp_malloc(xmp_desc_of(a), n);
  b = (double (*)[M])xmp_malloc(xmp_desc_of(b), n + 1, m);
  far = xmp_malloc(xmp_desc_of(far), n);
#pragma xmp loop on t[i]
  for (int i = 0; i < n; i++) a[i] = i;
  wrong += total(a, n) != n * (n - 1) / 2;
#pragma xmp reflect(a) width(/ PERIODIC /1:2)
#pragma xmp loop on t[i] reduction(+:wrong)
  for (int i = 0; i < n; i++) wrong += a[i - 1] != (i + n - 1) % n || a[i + 2] != (i + 2) % n;
#pragma xmp loop (i,j) on u(j,i)
  for (int i = 1; i <= n; i++)
    for (int j = 0; j < m; j++) b[i][j] = 100 * i + j;
  int mine = 0;
#pragma xmp loop on w[i] reduction(+:mine)
  for (int i = 0; i < n; i++) far[i] = 3 * i, mine++;
  wrong += mine != n;
#pragma xmp loop on v[i]
  for (int i = 59; i >= 0; i--) waits[i] = i;
#pragma xmp reflect(waits)
#pragma xmp loop on v[i] reduction(+:wrong)
  for (int i = 1; i < 59; i++) wrong += waits[i - 1] + waits[i + 1] != 2 * i;
  double all[n];
  int every[n];
#pragma xmp gmove
  all[:] = b[1:n][3];
#pragma xmp gmove
  every[0:n] = far[0:n];
  for (int i = 0; i < n; i++) wrong += all[i] != 100 * (i + 1) + 3 || every[i] != 3 * i;
#pragma xmp gmove
  a[0:n:1] = all[n - 1:n:-1];
  wrong += total(a, n) != 100.0 * n * (n + 1) / 2 + 3 * n;
  wrong += of_size(9) + of_size(14);
  xmp_free(a);
  a = xmp_malloc(xmp_desc_of(a), n - 1);
#pragma xmp loop on t[i]
  for (int i = 0; i < n - 1; i++) a[i] = 1;
  wrong += total(a, n - 1) != n - 1;
  xmp_free(xmp_desc_of(a));
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Members of structures, and several `*` in a node array.
MEMBERS = """#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p[*][*]
#pragma xmp template t[24][36]
#pragma xmp distribute t[block][cyclic] onto p
struct grid { int id; double a[24][36]; int (*b)[36]; };
static struct grid s;
extern struct grid far;
struct grid far;
#pragma xmp align s.a[i][j] with t[i][j]
#pragma xmp shadow s.a[1][0]
#pragma xmp align s.b[i][j] with t[i][j]
#pragma xmp align far.a[i][j] with t[i][j]
static int sum_of(int b[24][36]) {
#pragma xmp align b[i][j] with t[i][j]
  int sum = 0;
#pragma xmp loop (i,j) on t[i][j] reduction(+:sum)
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 36; j++) sum += b[i][j];
  return sum;
}
int main(void) {
  struct { float c[24]; } here;
#pragma xmp align here.c[i] with t[i][*]
  int wrong = 0;
  s.id = 7;
  s.b = (int (*)[36])xmp_malloc(xmp_desc_of(s.b), 24, 36);
#pragma xmp loop (i,j) on t[i][j]
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 36; j++) {
      s.a[i][j] = 100 * i + j;
      s.b[i][j] = s.id;
    }
#pragma xmp loop (i) on t[i][*]
  for (int i = 0; i < 24; i++) here.c[i] = i;
#pragma xmp reflect(s.a)
#pragma xmp loop (i,j) on t[i][j] reduction(+:wrong)
  for (int i = 1; i < 23; i++)
    for (int j = 0; j < 36; j++) wrong += s.a[i - 1][j] + s.a[i + 1][j] != 200 * i + 2 * j;
  wrong += sum_of(s.b) != 7 * 24 * 36;
  double row[36];
  float column[24];
#pragma xmp gmove
  far.a[:][:] = s.a[23:24:-1][:];
#pragma xmp gmove
  row[:] = far.a[3][:];
#pragma xmp gmove
  column[:] = here.c[:];
#pragma xmp gmove
  far.a[2][3] = 5;
  for (int j = 0; j < 36; j++) wrong += row[j] != 2000 + j;
  for (int i = 0; i < 24; i++) wrong += column[i] != i;
#pragma xmp task on t[2][3]
  wrong += far.a[2][3] != 5;
  wrong += sizeof s.a != sizeof(double) * 24 * 36;
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# What loops share beside their iterations.
LOOPS = """#include <stdio.h>
#include <xmp.h>
#define N 48
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
int a[N];
#pragma xmp align a[i] with t[i]
/* Numbers of iterations of four loops, of which one is long, do not run into each other. */
#define LONG 40000
#pragma xmp template v[2][2][2][LONG]
#pragma xmp distribute v[*][*][*][block] onto p
char c[2][2][2][LONG];
#pragma xmp align c[i][j][k][l] with v[i][j][k][l]
static int first_of_four(void) {
  int high = 0, at = -1;
#pragma xmp loop (i, j, k, l) on v[i][j][k][l]
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 2; k++)
        for (int l = 0; l < LONG; l++) c[i][j][k][l] = k == 0 ? l == LONG - 1 : l == 5;
#pragma xmp loop (i, j, k, l) on v[i][j][k][l] reduction(firstmax:high/at/)
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 2; k++)
        for (int l = 0; l < LONG; l++)
          if (c[i][j][k][l] > high) high = c[i][j][k][l], at = l;
  return at;
}
static double d[N];
#pragma xmp align d[i] with t[i]
/* Returns the place of the first NaN, of which each node may have some. */
static int first_nan(int from) {
  double most = -1;
  int at = -1;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) d[i] = i >= from && i < from + 7 ? __builtin_nan("") : i;
#pragma xmp loop on t[i] reduction(firstmax:most/at/)
  for (int i = 0; i < N; i++)
    if (d[i] > most || (d[i] != d[i] && most == most)) most = d[i], at = i;
  return most != most ? at : -1;
}
int main(void) {
  int wrong = 0, best = -1, where[4] = {-1, -1, -1, -1}, n = 2;
  wrong += first_of_four() != LONG - 1;
  for (int from = 0; from < N - 8; from += 3) wrong += first_nan(from) != from;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i * (N - i) % 37;
#pragma xmp loop on t[i] reduction(firstmax:best/where[1:n], where[3:]/)
  for (int i = 0; i < N; i++)
    if (a[i] > best) best = a[i], where[1] = i, where[2] = 2 * i, where[3] = i + 1;
  int most = -1, first = -1;
  for (int i = 0; i < N; i++)
    if (i * (N - i) % 37 > most) most = i * (N - i) % 37, first = i;
  wrong += best != most || where[0] != -1 || where[1] != first || where[2] != 2 * first || where[3] != first + 1;
  double low = xmpc_node_num() / 2;
  int from[2] = {xmpc_node_num(), -xmpc_node_num()};
#pragma xmp reduction(lastmin:low/from[:]/)
  wrong += low != 0 || from[0] != (xmp_num_nodes() > 1) || from[1] != -from[0];
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# What is started, and shadows that are added.
TRANSFERS = """#include <stdio.h>
#include <xmp.h>
#define N 26
#define M 9
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][*]
#pragma xmp template t[N]
#pragma xmp template u[N][M]
#pragma xmp template w[N]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][block] onto g
#pragma xmp distribute w[cyclic(2)] onto p
double a[N], b[N];
short f[N];
float h[N][M];
#pragma xmp align [i] with t[i] :: a, f
#pragma xmp shadow f[2:1]
#pragma xmp align b[i] with w[i]
#pragma xmp align h[i][j] with u[i][j]
#pragma xmp shadow h[1][1]
int main(void) {
  int wrong = 0;
  double all[N], ones[N];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i;
#pragma xmp gmove async(1)
  all[:] = a[N - 1:N:-1];
#pragma xmp gmove async(2)
  b[:] = a[:];
#pragma xmp gmove async(3)
  ones[:] = a[1];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = -i;
#pragma xmp wait_async(1)
  for (int i = 0; i < N; i++) wrong += all[i] != N - 1 - i;
#pragma xmp wait_async(2, 3)
#pragma xmp loop on w[i] reduction(+:wrong)
  for (int i = 0; i < N; i++) wrong += b[i] != i;
  for (int i = 0; i < N; i++) wrong += ones[i] != 1;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    f[i - 2] += 1;
    f[i] += 2;
    f[i + 1] += 4;
  }
#pragma xmp reduce_shadow(f) width(/ PERIODIC /2:1)
  int sum = 0;
#pragma xmp loop on t[i] reduction(+:wrong) reduction(+:sum)
  for (int i = 0; i < N; i++) wrong += f[i] != 7, sum += f[i];
  wrong += sum != 7 * N;
#pragma xmp loop (i,j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      for (int k = -1; k <= 1; k++)
        for (int l = -1; l <= 1; l++) h[i + k][j + l] += 1;
#pragma xmp reduce_shadow(h) async(5)
#pragma xmp wait_async(5)
#pragma xmp loop (i,j) on u[i][j] reduction(+:wrong)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      wrong += h[i][j] != (i == 0 || i == N - 1 ? 2 : 3) * (j == 0 || j == M - 1 ? 2 : 3);
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Loops that do more than a node's own iterations, or some of them at another time.
MARGINS = """#include <stdio.h>
#include <xmp.h>
#define N 30
#define M 17
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][*]
#pragma xmp template t[N]
#pragma xmp template u(0:M-1,0:N-1)
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u(block,block) onto g
double a[N][M], b[N][M];
int c[N], visits[N][M];
#pragma xmp align [i][j] with u(j,i) :: a, b, visits
#pragma xmp shadow a[1][1]
#pragma xmp align c[i] with t[i]
#pragma xmp shadow c[1:2]
static int visited(int times) {
  int wrong = 0;
#pragma xmp loop (i,j) on u(j,i) reduction(+:wrong)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) wrong += visits[i][j] != times, visits[i][j] = 0;
  return wrong;
}
int main(void) {
  int wrong = 0;
#pragma xmp loop (i,j) on u(j,i)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] = i * i + 3 * j;
#pragma xmp reflect(a) async(3)
#pragma xmp loop (i,j) on u(j,i) peel_and_wait(3,-1,-1)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
      visits[i][j]++;
    }
#pragma xmp loop (i,j) on u(j,i) reduction(+:wrong)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      wrong += b[i][j] != 4 * i * i + 2 + 12 * j || visits[i][j] != 1;
      visits[i][j] = 0;
    }
  wrong += visited(0);
#pragma xmp loop (i,j) on u(j,i) expand(-1,-2:-1)
  for (int i = N - 1; i >= 0; i--)
    for (int j = 0; j < M; j++) visits[i][j]++;
#pragma xmp loop (i,j) on u(j,i) MARGIN(-1,-2:-1)
  for (int i = N - 1; i >= 0; i--)
#pragma omp parallel for
    for (int j = 0; j < M; j++) visits[i][j]++;
  wrong += visited(1);
#pragma xmp loop on t[i] expand(1:2)
  for (int i = 0; i < N; i++) c[i] = i;
#pragma xmp loop on t[i] reduction(+:wrong)
  for (int i = 1; i < N - 2; i++) wrong += c[i - 1] != i - 1 || c[i + 1] != i + 1 || c[i + 2] != i + 2;
#pragma xmp loop on t[i] expand(/ unbound /1)
  for (int i = 0; i < N; i++) c[i] = 2 * i;
#pragma xmp loop on t[i] reduction(+:wrong)
  for (int i = 0; i < N; i++) wrong += c[i - 1] != 2 * i - 2 || c[i] != 2 * i || c[i + 1] != 2 * i + 2;
#pragma xmp loop on t[i] margin(1)
  for (int i = 0; i < N; i++) c[i] = -i;
  int mine = 0;
#pragma xmp loop on t[i] reduction(+:wrong) reduction(+:mine)
  for (int i = 1; i < N - 1; i++) {
    wrong += c[i] != 2 * i || (c[i - 1] != -(i - 1) && c[i - 1] != 2 * i - 2);
    mine += c[i - 1] == -(i - 1) && i > 1;
  }
  wrong += mine != (N - 1) / ((N + xmp_num_nodes() - 1) / xmp_num_nodes());
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Assignments of sections that nodes share.
ASSIGNMENTS = """#include <math.h>
#include <stdio.h>
#include <xmp.h>
#define N 24
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][*]
#pragma xmp template t[N]
#pragma xmp template u[N][N]
#pragma xmp template c(0:N-1,0:N-1)
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][cyclic(2)] onto g
#pragma xmp distribute c(cyclic,block) onto g
struct { double a[N]; } s;
double a[N], b[N], whole[N];
float m[N][N], turned[N][N];
int *pointer, k[N][N];
#pragma xmp align [i] with t[i] :: a, b, s.a, pointer
#pragma xmp shadow b[1]
#pragma xmp align m[i][j] with u[i][j]
#pragma xmp align turned[i][j] with u[j][i]
#pragma xmp align k[i][j] with c(j,i)
int main(void) {
  int wrong = 0, n = N, fixed = 3;
  double all[N];
  int every[N][N];
  float row[N][N];
  pointer = (int*)xmp_malloc(xmp_desc_of(pointer), n);
  for (int i = 0; i < N; i++) whole[i] = i;
#pragma xmp array on t[:]
  b[:] = whole[:];
#pragma xmp reflect(b)
#pragma xmp array on t[1:N - 2]
  a[1:n - 2] = b[0:n - 2] + b[2:n - 2] * fixed;
#pragma xmp array on t
  s.a[:] = fabs(-b[:]) + (fixed > 2 ? b[:] : 0);
#pragma xmp array on t[:]
  pointer[:] = 5;
#pragma xmp array on t[2:9]
  pointer[2:9] += b[2:9];
#pragma xmp gmove
  all[:] = a[:];
  for (int i = 1; i < N - 1; i++) wrong += all[i] != 4 * i + 2;
  wrong += all[0] != 0 || all[N - 1] != 0;
#pragma xmp gmove
  all[:] = s.a[:];
  for (int i = 0; i < N; i++) wrong += all[i] != 2 * i;
#pragma xmp array on u[:][:]
  m[:][:] = 7;
#pragma xmp array on u[fixed][4:3]
  m[3][4:3] = 2;
#pragma xmp array on u[:][fixed]
  m[:][3] = whole[:];
#pragma xmp array on u[:][:]
  turned[:][:] = 1;
#pragma xmp array on u[1:3][2:4]
  turned[2:4][1:3] = 6;
#pragma xmp ARRAY ON c(0:N-1,:)
  k[:][:] = 3;
#pragma xmp array on c(5,2:4)
  k[2:3][5] -= 1;
#pragma xmp gmove
  row[:][:] = m[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += row[i][j] != (j == 3 ? i : i == 3 && j >= 4 && j < 7 ? 2 : 7);
#pragma xmp gmove
  row[:][:] = turned[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += row[i][j] != (i >= 2 && i < 6 && j >= 1 && j < 4 ? 6 : 1);
#pragma xmp gmove
  every[:][:] = k[:][:];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += every[i][j] != (j == 5 && i >= 2 && i < 5 ? 2 : 3);
#pragma xmp gmove
  all[3:2] = b[1:2];
  int five[N];
#pragma xmp gmove
  five[:] = pointer[:];
  for (int i = 0; i < N; i++) wrong += five[i] != (i >= 2 && i < 11 ? 5 + i : 5);
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
PROGRAMS = {
    "assignments": ASSIGNMENTS,
    "later": LATER,
    "members": MEMBERS,
    "loops": LOOPS,
    "margins": MARGINS,
    "transfers": TRANSFERS,
}

# A header with what template_fix gives in one file, and all files use.
HEADER = """#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[:]
#pragma xmp distribute t[block] onto p
extern double* shared;
#pragma xmp align shared[i] with t[i]
#pragma xmp shadow shared[1]
void fill(int n);
"""
FILES = {
    "common.h": HEADER,
    "one.c": '#include "common.h"\nvoid fill(int n) {\n#pragma xmp loop on t[i]\n'
    "  for (int i = 0; i < n; i++) shared[i] = i;\n}\n",
    "two.c": '#include <stdio.h>\n#include "common.h"\ndouble* shared;\nint main(void) {\n'
    "  double sum = 0;\n#pragma xmp template_fix t[100]\n"
    "  shared = xmp_malloc(xmp_desc_of(shared), 100);\n  fill(100);\n"
    "#pragma xmp reflect(shared)\n#pragma xmp loop on t[i] reduction(+:sum)\n"
    "  for (int i = 1; i < 99; i++) sum += shared[i - 1] + shared[i + 1];\n"
    '  if (xmpc_node_num() == 0) puts(sum == 9702 ? "OK" : "wrong");\n}\n',
}
