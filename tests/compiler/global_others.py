"""Forms of XcalableMP's global view that programs of others have, and its specification leaves open."""

from __future__ import annotations

OTHERS = """#include <stdio.h>
#include <stdlib.h>
#ifdef _XCALABLEMP
#include <xmp.h>
#endif
int size = 12, wide = 4;
int rows[size * 2], table[size][wide];
#pragma xmp nodes p[*]
#pragma xmp template t[12]
#pragma xmp template u[24]
#pragma xmp template c[12]
#pragma xmp template v[2][12][12]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[cyclic(3)] onto p
#pragma xmp distribute c[cyclic] onto p
#pragma xmp distribute v[*][block][*] onto p
#pragma xmp align rows[i] with u[i]
#pragma xmp align table[i][*] with t[i]
double m[5][12], k[5][12], box[12][12], *late;
#pragma xmp align m[*][j] with t[j]
#pragma xmp align k[*][j] with c[j]
#pragma xmp align box[i][*] with v[*][i][*]
#pragma xmp align late[i] with t[i]
static int of_parameters(int n, int a[n], double b[3][4], double *one) {
#pragma xmp reduction(+:a)
#pragma xmp reduction(max:b)
  double sums[2] = {1, 2};
#pragma xmp loop on t[i] reduction(+:sums,one[0],a)
  for (int i = 0; i < 12; i++) sums[1] += i, one[0] += i, a[1]++;
  return sums[0] != 1 || sums[1] != 68 || one[0] != 66;
}
int main(void) {
  int wrong = sizeof rows != 24 * sizeof(int) || sizeof table != 48 * sizeof(int), sum = 0, many = 0;
  /* The outermost loop is not shared. */
#pragma xmp loop on t[j]
  for (int i = 0; i < 5; i++)
    for (int j = i; j < 12; j++) m[i][j] = 10 * i + j;
#pragma xmp loop on c[j]
  for (int i = 0; i < 5; i++)
    for (int j = i; j < 12; j += 2) k[i][j] = 10 * i + j;
#pragma xmp loop on t[j] reduction(+:sum)
  for (int i = 4; i >= 0; i--)
    for (int j = i; j < 12; j++) sum += m[i][j];
#pragma xmp loop on c[j] reduction(+:many)
  for (int i = 4; i >= 0; i--) {
    for (int j = i; j < 12; j += 2) many += k[i][j];
  }
  for (int i = 0; i < 5; i++)
    for (int j = i; j < 12; j++) sum -= 10 * i + j, many -= (j - i) % 2 ? 0 : 10 * i + j;
  wrong += sum != 0 || many != 0;
#pragma xmp loop on u[i]
  for (int i = 0; i < 24; i++) rows[i] = 1;
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 0; i < 12; i++) table[i][3] = i, sum += 1;
  wrong += sum != 12;
  /* `:` of the template goes with any section. */
#pragma xmp array on u[:]
  rows[5:9] = 3;
#pragma xmp array on v[:][:][:]
  box[:][:] = 2;
#pragma xmp array on v[:][:][:]
  box[3:4][2] += 2;
  sum = 0;
#pragma xmp loop on u[i] reduction(+:sum)
  for (int i = 0; i < 24; i++) sum += rows[i] * i;
  for (int i = 0; i < 24; i++) sum -= (i >= 5 && i < 14 ? 3 : 1) * i;
  wrong += sum != 0;
  double all = 0;
#pragma xmp loop on v[*][i][*] reduction(+:all)
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) all += box[i][j];
  wrong += all != 2 * 144 + 2 * 4;
  /* Locations of max and min. */
  int me = xmpc_node_num(), top = me / 2, at = me, low = -(me / 2), where[2] = {me, 7};
#pragma xmp reduction(max:top/at/)
#pragma xmp reduction(MIN:low/where[0:1]/)
  const int last = (xmp_num_nodes() - 1) / 2;
  wrong += top != last || at != 2 * last || low != -last || where[0] != 2 * last || where[1] != 7;
  double best = -1;
  int place = -1;
#pragma xmp loop on t[i] reduction(max:best/place/)
  for (int i = 0; i < 12; i++)
    if (i * 5 % 7 > best) best = i * 5 % 7, place = i;
  wrong += best != 6 || place != 4;
  int ones[5] = {1, 1, 1, 1, me}, n = xmp_num_nodes();
  double squares[3][4] = {{0}}, one = 0;
  squares[2][3] = me;
  wrong += of_parameters(4, ones, squares, &one);
  wrong += ones[0] != n || ones[1] != n + 12 || ones[3] != n || ones[4] != me || squares[2][3] != n - 1 || one != 66;
  late = (double*)xmp_malloc(xmp_desc_of(late), 12);
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) late[i] = i;
  free(late);
#pragma xmp reduction(+:wrong)
  if (me == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Macros that change from one directive to the next, members that are aligned by their structure's type, a template with
# some of its extents, and calls as Omni's header has them.
LATER_VERSIONS = """#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[12]
#pragma xmp distribute t[block] onto p
struct field { int id; double a[12]; };
#pragma xmp align field.a[i] with t[i]
#pragma xmp shadow field.a[1]
struct field one, two;
#define N 8
static int first(void) {
#pragma xmp template u[N]
#pragma xmp distribute u[cyclic] onto p
  int b[N], sum = 0;
#pragma xmp align b[i] with u[i]
#pragma xmp loop on u[i] reduction(+:sum)
  for (int i = 0; i < N; i++) b[i] = 1, sum += b[i];
  return sum;
}
#undef N
#define N 5
static int second(int n) {
#pragma xmp template u[N][:]
#pragma xmp distribute u[*][block] onto p
  int (*b)[n], sum = 0;
#pragma xmp align b[i][j] with u[i][j]
#pragma xmp template_fix u[N][n]
  b = xmp_malloc(xmp_desc_of(b), N, n);
#pragma xmp loop (i,j) on u[i][j] reduction(+:sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < n; j++) b[i][j] = 1, sum += b[i][j];
  return sum;
}
#pragma xmp template [12] :: c, unused
#pragma xmp distribute [cyclic] onto p :: c, unused
int k[12][3], l[12][3];
#pragma xmp align k[i][*] with c[i]
#pragma xmp align l[i][*] with t[i]
int main(void) {
  struct field here;
  int wrong = first() != 8 || second(7) != 35, at = -1, low = -1, high = -1;
  one.id = here.id = 3;
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) one.a[i] = i, here.a[i] = 2 * i;
#pragma xmp reflect(one.a)
#pragma xmp array on t[:]
  two.a[:] = here.a[:] + 1;
#pragma xmp loop on t[i] reduction(+:wrong)
  for (int i = 1; i < 11; i++) wrong += one.a[i - 1] + one.a[i + 1] + 1 != two.a[i];
  /* Nodes write what others own, in a loop that other nodes share. */
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) l[i][0] = l[i][1] = l[i][2] = i;
#pragma xmp barrier
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) {
#pragma xmp gmove out
    k[i][0:2] = l[i][1:2];
  }
#pragma xmp barrier
#pragma xmp loop on c[i] reduction(+:wrong)
  for (int i = 0; i < 12; i++) wrong += k[i][0] != i || k[i][1] != i || k[i][2] != 0;
  xmp_array_lbound_global(xmp_desc_of(l), 1, &low);
  xmp_array_ubound_global(xmp_desc_of(l), 1, &high);
  wrong += xmp_array_gtol(xmp_desc_of(one.a), 1, low, &at) != 0 || at != 1;
  wrong += xmpc_node_num() == 0 && low != 0;
  wrong += xmpc_node_num() == xmp_num_nodes() - 1 && high != 11;
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# Node arrays that are others on other nodes, as the row and the column of each: nodes of all of them have copies.
ROWS = """#include <stdio.h>
#include <xmp.h>
#define N 12
#pragma xmp nodes p[*][*]
#pragma xmp nodes column[*] = p[:][*]
#pragma xmp nodes row[*] = p[*][:]
#pragma xmp template t[N][N]
#pragma xmp distribute t[block][block] onto p
#pragma xmp template u[N]
#pragma xmp distribute u[block] onto column
#pragma xmp template v[N]
#pragma xmp distribute v[cyclic] onto row
int b[N][N], x[N], y[N], all[N];
#pragma xmp align b[i][j] with t[i][j]
#pragma xmp align x[j] with u[j]
#pragma xmp align y[j] with v[j]
#pragma xmp shadow x[1]
static int wrong;
static void expect(int have, int want) { wrong += have != want; }
int main(void) {
#pragma xmp loop (i,j) on t[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i][j] = 100 * i + j;
  for (int r = 0; r < N; r += 5) {
#pragma xmp gmove
    x[:] = b[r][:];
#pragma xmp loop on u[j]
    for (int j = 0; j < N; j++) expect(x[j], 100 * r + j);
#pragma xmp gmove
    y[:] = x[:];
#pragma xmp loop on v[j]
    for (int j = 0; j < N; j++) expect(y[j], 100 * r + j);
#pragma xmp loop on v[j]
    for (int j = 0; j < N; j++) y[j] += 5000;
#pragma xmp gmove
    b[:][r] = y[:];
#pragma xmp loop (i,j) on t[i][j]
    for (int i = 0; i < N; i++)
      for (int j = r; j < r + 1; j++) expect(b[i][j], 5000 + 100 * r + i);
#pragma xmp gmove
    x[1:N - 2] = y[N - 1:N - 2:-1];
#pragma xmp reflect (x)
#pragma xmp loop on u[j]
    for (int j = 2; j < N - 2; j++) expect(x[j - 1] + x[j + 1], 2 * (5000 + 100 * r + N - j));
#pragma xmp gmove
    all[:] = y[:];
    for (int j = 0; j < N; j++) expect(all[j], 5000 + 100 * r + j);
#pragma xmp loop (i,j) on t[i][j]
    for (int i = 0; i < N; i++)
      for (int j = r; j < r + 1; j++) b[i][j] = 100 * i + j;
  }
#pragma xmp reduction(+:wrong)
#pragma xmp task on p[0][0] nocomm
  puts(wrong == 0 ? "OK" : "not OK");
  return wrong != 0;
}
"""
# Arrays of the file that a block aligns.
IN_BLOCKS = """#include <stdio.h>
#include <xmp.h>
#define N 40
static int n = 20;
int a[N], *q, grid[N][4];
static double b[N];
extern double far[N];
double far[N];
int late[n];
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[cyclic(3)] onto p
static int twice(int k) {
#pragma xmp template u[N]
#pragma xmp distribute u[block] onto p
#pragma xmp align b[i] with u[i]
#pragma xmp shadow b[1]
  int wrong = 0;
#pragma xmp loop on u[i]
  for (int i = 0; i < N; i++) b[i] = b[i] + i * k;
#pragma xmp reflect(b)
#pragma xmp loop on u[i] reduction(+:wrong)
  for (int i = 1; i < N - 1; i++) wrong += b[i - 1] + b[i + 1] != 2 * b[i];
  return wrong + (sizeof b != N * sizeof(double));
}
static int sum(int x[N]) {
#pragma xmp align x[i] with t[i]
  int s = 0;
#pragma xmp loop on t[i] reduction(+:s)
  for (int i = 0; i < N; i++) s += x[i];
  return s;
}
int main(void) {
#pragma xmp align a[i] with t[i]
#pragma xmp align grid[i][*] with t[i]
  int wrong = 0;
#pragma xmp template v[:]
#pragma xmp distribute v[block] onto p
#pragma xmp align q[i] with v[i]
#pragma xmp align late[i] with v[i]
#pragma xmp template_fix[block] v[n]
  q = xmp_malloc(xmp_desc_of(q), n);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i, grid[i][3] = i;
  wrong += sum(a) != N * (N - 1) / 2;
  {
    int a = 5;
    wrong += a != 5;
  }
#pragma xmp loop on v[i]
  for (int i = 0; i < n; i++) q[i] = i, late[i] = -i;
#pragma xmp loop on v[i] reduction(+:wrong)
  for (int i = 0; i < n; i++) wrong += q[i] != i || late[i] != -i;
  for (int k = 1; k < 5; k++) wrong += twice(k);
  for (int k = 0; k < 2; k++) {
#pragma xmp align far[i] with t[i]
    double last;
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) far[i] += i;
#pragma xmp gmove
    last = far[N - 1];
    wrong += last != (k + 1) * (N - 1);
  }
  xmp_free(q);
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""

# A reflect for each dimension, one after the other, beside one of all.
REFLECTS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmp.h>
#define N 14
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][*]
#pragma xmp nodes h[*][*][*]
#pragma xmp template t[N][N]
#pragma xmp template u[N][N][N]
#pragma xmp template v[N][N]
#pragma xmp template w[3][N]
#pragma xmp template s[N][N]
#pragma xmp distribute t[block][block] onto g
#pragma xmp distribute u[block][block][block] onto h
#pragma xmp distribute v[*][block] onto p
#pragma xmp distribute w[block][*] onto p
#pragma xmp distribute s[gblock(*)][block] onto g
int a[N][N], a2[N][N], b[N][N], b2[N][N];
double c[N][N][N], c2[N][N][N];
short d[N][N], d2[N][N];
char e[3][N], e2[3][N];
struct pair { int x, y; } f[N][N], f2[N][N];
int k[N][N][N], k2[N][N][N];
#pragma xmp align [i][j] with t[i][j] :: a, a2, b, b2
#pragma xmp align [i][j][l] with u[i][j][l] :: c, c2
#pragma xmp align [i][j] with v[i][j] :: d, d2
#pragma xmp align [i][j] with w[i][j] :: e, e2
#pragma xmp align [i][j] with s[i][j] :: f, f2
#pragma xmp align [i][*][l] with t[i][l] :: k, k2
#pragma xmp shadow [1][1] :: a, a2
#pragma xmp shadow [1:2][2:0] :: b, b2
#pragma xmp shadow [1][1][1] :: c, c2
#pragma xmp shadow [1][1] :: d, d2, e, e2
#pragma xmp shadow [1][1] :: f, f2
#pragma xmp shadow [1][2][1] :: k, k2
#define ALIKE(x, y, dims, what)                                                       \\
  do {                                                                                \\
    void *one, *two;                                                                  \\
    size_t bytes = xmp_array_type_size(xmp_desc_of(x));                               \\
    for (int q = 1; q <= (dims); q++) {                                               \\
      int size;                                                                       \\
      xmp_array_lsize(xmp_desc_of(x), q, &size);                                      \\
      bytes *= size;                                                                  \\
    }                                                                                 \\
    xmp_array_laddr(xmp_desc_of(x), &one), xmp_array_laddr(xmp_desc_of(y), &two);     \\
    if (bytes > 0 && memcmp(one, two, bytes) != 0) wrong++, fprintf(stderr, "%s\\n", what); \\
  } while (0)
int main(void) {
  int wrong = 0, extents[2], nodes = xmp_num_nodes();
  xmp_nodes_size(xmp_desc_of(g), 1, &extents[0]);
  int* sizes = malloc(sizeof(int) * extents[0]);
  for (int i = 0; i < extents[0]; i++) sizes[i] = i == 0 ? N - 2 * (extents[0] - 1) : 2;
#pragma xmp template_fix[gblock(sizes)][block] s[0:N][0:N]
#pragma xmp loop (i,j) on t[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = a2[i][j] = b[i][j] = b2[i][j] = 100 * i + j;
      for (int l = 0; l < N; l++) k[i][l][j] = k2[i][l][j] = 10000 * i + 100 * l + j;
    }
#pragma xmp loop (i,j,l) on u[i][j][l]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int l = 0; l < N; l++) c[i][j][l] = c2[i][j][l] = 10000 * i + 100 * j + l;
#pragma xmp loop (j) on v[*][j]
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) d[i][j] = d2[i][j] = 100 * i + j;
#pragma xmp loop (i) on w[i][*]
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < N; j++) e[i][j] = e2[i][j] = 10 * i + j;
#pragma xmp loop (i,j) on s[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) f[i][j].x = f2[i][j].x = i, f[i][j].y = f2[i][j].y = j;
  /* 1: one dimension after the other. */
#pragma xmp reflect(a) width(1,0)
#pragma xmp reflect(a) width(0,1)
#pragma xmp reflect(a2)
  ALIKE(a, a2, 2, "block");
  /* 2: in the opposite order, periodic, after new values. */
#pragma xmp loop (i,j) on t[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] += 7, a2[i][j] += 7;
#pragma xmp reflect(a) width(0,/ periodic / 1)
#pragma xmp reflect(a) width(/ periodic / 1,0)
#pragma xmp reflect(a2) width(/ periodic / 1,/ periodic / 1)
  ALIKE(a, a2, 2, "periodic");
  /* 3: unequal shadows. */
#pragma xmp reflect(b) width(0:0,2:0)
#pragma xmp reflect(b) width(1:2,0:0)
#pragma xmp reflect(b2)
  ALIKE(b, b2, 2, "unequal");
  /* 4: three dimensions. */
#pragma xmp reflect(c) width(/ periodic / 1:1,0,0)
#pragma xmp reflect(c) width(0,/ periodic / 1:1,0)
#pragma xmp reflect(c) width(0,0,/ periodic / 1:1)
#pragma xmp reflect(c2) width(/ periodic / 1,/ periodic / 1,/ periodic / 1)
  ALIKE(c, c2, 3, "three");
  /* 5: two, and then the third. */
#pragma xmp loop (i,j,l) on u[i][j][l]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int l = 0; l < N; l++) c[i][j][l] -= 1, c2[i][j][l] -= 1;
#pragma xmp reflect(c) width(1,0,1)
#pragma xmp reflect(c) width(0,1,0)
#pragma xmp reflect(c2)
  ALIKE(c, c2, 3, "two and one");
  /* 6: a dimension that is whole on each node, around which it is periodic. */
#pragma xmp reflect(d) width(/ periodic / 1,0)
#pragma xmp reflect(d) width(0,/ periodic / 1)
#pragma xmp reflect(d2) width(/ periodic / 1,/ periodic / 1)
  ALIKE(d, d2, 2, "whole");
  /* 7: fewer indices than nodes. */
#pragma xmp reflect(e) width(0,/ periodic / 1)
#pragma xmp reflect(e) width(1,0)
#pragma xmp reflect(e2) width(1,/ periodic / 1)
  if (nodes <= 3) ALIKE(e, e2, 2, "few");
  /* 8: gblock, and structures. */
#pragma xmp reflect(f) width(1,0)
#pragma xmp reflect(f) width(0,1)
#pragma xmp reflect(f2)
  ALIKE(f, f2, 2, "gblock");
  /* 9: a dimension that is not aligned between two that are. */
#pragma xmp reflect(k) width(0,/ periodic / 2,0)
#pragma xmp reflect(k) width(1,0,0)
#pragma xmp reflect(k) width(0,0,1)
#pragma xmp reflect(k2) width(1,/ periodic / 2,1)
  ALIKE(k, k2, 3, "not aligned");
  /* 10: started. */
#pragma xmp loop (i,j) on t[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i][j] *= 3, b2[i][j] *= 3;
#pragma xmp reflect(b) width(1:2,0) async(1)
#pragma xmp wait_async(1)
#pragma xmp reflect(b) width(0,2:0) async(2)
#pragma xmp wait_async(2)
#pragma xmp reflect(b2)
  ALIKE(b, b2, 2, "started");
  free(sizes);
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""

PROGRAMS = {
    "others": OTHERS,
    "later_versions": LATER_VERSIONS,
    "rows": ROWS,
    "in blocks": IN_BLOCKS,
    "reflects": REFLECTS,
}
