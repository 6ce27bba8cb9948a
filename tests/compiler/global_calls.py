"""Programs whose nodes ask for templates and aligned arrays, and move elements, together (xmp_transpose and its like)
or alone (gmove in and out); also random ones that compare with the same in private memory."""

from __future__ import annotations

import random

from global_programs import Array, Numbers, joined, together

# On 12 nodes or fewer: all answers follow from the number of nodes.
INQUIRY = """#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p[*][*]
#pragma xmp nodes q(*)
#pragma xmp nodes one(1)=q(1:1)
#pragma xmp nodes every[*]=**
#pragma xmp nodes mine[*]=*
#pragma xmp template t[0:6][0:16][2:9]
#pragma xmp template r(0:8,0:5,0:15)
#pragma xmp template later[:]
#pragma xmp distribute t[cyclic(2)][block][*] onto p
#pragma xmp distribute r(*,*,block) onto q
#pragma xmp distribute later[block] onto q
int m[64];
double a[6][16][9], c[16], *late;
short b[16][6];
#pragma xmp align a[i][j][k] with t[i][j][k + 2]
#pragma xmp shadow a[0][1:2][0]
#pragma xmp align b[i][j] with r(*,j,i)
#pragma xmp shadow b[*][0]
#pragma xmp align c[i] with t[*][i][*]
#pragma xmp align late[i] with later[i]
static int wrong;
static void expect(int line, long found, long right) {
  if (found != right && wrong++ < 5) printf("%d: line %d: %ld, not %ld\\n", xmpc_node_num(), line, found, right);
}
#define IS(found, right) expect(__LINE__, found, right)
#define GIVES(call, right) (value = -77, IS(call, 0), IS(value, right))
int main(void) {
  int value, n = xmp_num_nodes(), size0, size1, at0, at1, lower[3], upper[3], step[3], local[3];
  int global[3] = {3, 3, 3};
  xmp_desc_t dt, dr, dn;
  void* address;
  for (int i = 0; i < n; i++) m[i] = i == n - 1 ? 6 - i * (6 / n) : 6 / n;
#pragma xmp template g(0:5)
#pragma xmp distribute g(gblock(m)) onto q
  int e[6];
#pragma xmp align e[i] with g(i)
  IS(xmp_align_template(xmp_desc_of(a), &dt), 0);
  IS(dt == xmp_desc_of(t), 1);
  IS(xmp_align_template(xmp_desc_of(b), &dr), 0);
  IS(xmp_dist_nodes(dt, &dn), 0);
  IS(dn == xmp_desc_of(p), 1);
  GIVES(xmp_nodes_ndims(dn, &value), 2);
  xmp_nodes_size(dn, 1, &size0), xmp_nodes_size(dn, 2, &size1);
  xmp_nodes_index(dn, 1, &at0), xmp_nodes_index(dn, 2, &at1);
  IS(size0 * size1, n);
  IS((at0 - 1) * size1 + at1, xmp_node_num());
  GIVES(xmp_nodes_attr(xmp_desc_of(q), &value), XMP_ENTIRE_NODES);
  GIVES(xmp_nodes_attr(xmp_desc_of(one), &value), XMP_EQUIVALENCE_NODES);
  GIVES(xmp_nodes_attr(xmp_desc_of(every), &value), XMP_PRIMARY_NODES);
  GIVES(xmp_nodes_attr(xmp_desc_of(mine), &value), XMP_EXECUTING_NODES);
  IS(xmp_nodes_equiv(xmp_desc_of(one), &dn, lower, upper, step), 0);
  IS(dn == xmp_desc_of(q) && lower[0] == 1 && upper[0] == 1 && step[0] == 1, 1);

  GIVES(xmp_template_fixed(dt, &value), 1);
  GIVES(xmp_template_fixed(xmp_desc_of(later), &value), 0);
  IS(xmp_template_lbound(xmp_desc_of(later), 1, &value), -1);
  IS(xmp_array_lsize(xmp_desc_of(late), 1, &value), -1);
#pragma xmp template_fix later[3:n]
  GIVES(xmp_template_fixed(xmp_desc_of(later), &value), 1);
  GIVES(xmp_template_lbound(xmp_desc_of(later), 1, &value), 3);
  GIVES(xmp_template_ubound(xmp_desc_of(later), 1, &value), n + 2);
  GIVES(xmp_template_ndims(dt, &value), 3);
  GIVES(xmp_template_lbound(dt, 3, &value), 2);
  GIVES(xmp_template_ubound(dt, 3, &value), 10);
  GIVES(xmp_template_ubound(dr, 1, &value), 8);
  GIVES(xmp_template_ubound(dr, 3, &value), 15);
  IS(xmp_template_gsize(dr, 2), 6);
  IS(xmp_template_lbound(dt, 4, &value), -1);
  IS(xmp_template_lbound(dt, 0, &value), -1);
  IS(xmp_template_lsize(dt, 3), 9);
  value = 0;
#pragma xmp loop (i) on t[i][*][*]
  for (int i = 0; i < 6; i++) value++;
  IS(xmp_template_lsize(dt, 1), value);
  GIVES(xmp_dist_format(dt, 1, &value), XMP_CYCLIC);
  GIVES(xmp_dist_format(dt, 2, &value), XMP_BLOCK);
  GIVES(xmp_dist_format(dt, 3, &value), XMP_NOT_DISTRIBUTED);
  GIVES(xmp_dist_format(dr, 3, &value), 2101);
  GIVES(xmp_dist_format(xmp_desc_of(g), 1, &value), XMP_GBLOCK);
  GIVES(xmp_dist_blocksize(dt, 1, &value), 2);
  GIVES(xmp_dist_blocksize(dt, 2, &value), (16 + size1 - 1) / size1);
  GIVES(xmp_dist_blocksize(dt, 3, &value), 9);
  IS(xmp_dist_blocksize(xmp_desc_of(g), 1, &value), -1);
  IS(xmp_dist_stride(dt, 1), 2 * size0);
  int map[64];
  IS(xmp_dist_gblockmap(xmp_desc_of(g), 1, map), 0);
  for (int i = 0; i < n; i++) IS(map[i], m[i]);
  IS(xmp_dist_gblockmap(dt, 1, map), -1);
  GIVES(xmp_dist_axis(dt, 1, &value), 1);
  GIVES(xmp_dist_axis(dt, 2, &value), 2);
  GIVES(xmp_dist_axis(dt, 3, &value), 0);
  GIVES(xmp_dist_axis(dr, 3, &value), 1);

  GIVES(xmp_align_axis(xmp_desc_of(a), 3, &value), 3);
  GIVES(xmp_align_axis(xmp_desc_of(b), 1, &value), 3);
  GIVES(xmp_align_axis(xmp_desc_of(b), 2, &value), 2);
  GIVES(xmp_align_offset(xmp_desc_of(a), 3, &value), 2);
  IS(xmp_align_format(xmp_desc_of(b), 1), XMP_BLOCK);
  IS(xmp_align_size(xmp_desc_of(a), 1), 2);
  GIVES(xmp_align_replicated(xmp_desc_of(c), 1, &value), 1);
  GIVES(xmp_align_replicated(xmp_desc_of(c), 2, &value), 0);
  GIVES(xmp_align_replicated(xmp_desc_of(b), 1, &value), 1);

  GIVES(xmp_array_ndims(xmp_desc_of(a), &value), 3);
  GIVES(xmp_array_lbound(xmp_desc_of(a), 2, &value), 0);
  GIVES(xmp_array_ubound(xmp_desc_of(a), 2, &value), 15);
  IS(xmp_array_gsize(xmp_desc_of(a), 1), 6);
  GIVES(xmp_array_gsize(xmp_desc_of(a), 3, &value), 9);
  IS(xmp_array_type_size(xmp_desc_of(b)), sizeof(short));
  GIVES(xmp_array_lshadow(xmp_desc_of(a), 2, &value), 1);
  GIVES(xmp_array_ushadow(xmp_desc_of(a), 2, &value), 2);
  IS(xmp_array_laddr(xmp_desc_of(c), &address), 0);
  IS(address == (void*)c, 1);
  int width = (16 + size1 - 1) / size1, first = (at1 - 1) * width, own = 16 - first < width ? 16 - first : width;
  GIVES(xmp_array_lsize(xmp_desc_of(a), 2, &value), own + 3);
  GIVES(xmp_array_lsize(xmp_desc_of(b), 1, &value), 16);
  IS(xmp_array_lead_dim(xmp_desc_of(a), local), 0);
  IS(local[1] == own + 3 && local[2] == 9, 1);
  IS(xmp_array_owner(xmp_desc_of(a), 3, global, 1), 1 % size0 + 1);
  IS(xmp_array_owner(xmp_desc_of(a), 3, global, 2), 3 / width + 1);
  IS(xmp_array_owner(xmp_desc_of(a), 3, global, 3), -1);
  IS(xmp_array_gtol(xmp_desc_of(a), global, local), 0);
  IS(local[1], 3 - first + 1);
  IS(local[2], 3);
  IS(xmp_array_gcllbound(xmp_desc_of(a), 2), first);
  IS(xmp_array_gclubound(xmp_desc_of(a), 2), first + own - 1);
  IS(xmp_array_lcllbound(xmp_desc_of(a), 2), 1);
  IS(xmp_array_lclubound(xmp_desc_of(a), 2), own);
  IS(xmp_array_gcgubound(xmp_desc_of(a), 2), 15);
  if (xmp_array_gcllbound(xmp_desc_of(a), 1) >= 0) {
    IS(xmp_array_gcllbound(xmp_desc_of(a), 1), 2 * (at0 - 1));
    int last = 5;
    while (last / 2 % size0 != at0 - 1) last--;
    IS(xmp_array_gclubound(xmp_desc_of(a), 1), last);
  }
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""

# Forms of calls: declared by the program, without a mask, replicated and nowhere, on some of the nodes.
INTRINSICS = """#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <xmp.h>
extern void xmp_transpose(void *dst_d, void *src_d, int opt);
extern void xmp_matmul(void *x_d, void *a_d, void *b_d);
extern void xmp_gather(void *x_d, void *a_d, ...);
extern void xmp_pack(void *v_p, void *a_p, void *m_p);
void xmp_sort_up(xmp_desc_t a, xmp_desc_t b);
#define N 150
#pragma xmp nodes p(*)
#pragma xmp nodes one(1)=p(1:1)
#pragma xmp template t(0:N-1)
#pragma xmp template u(0:N-1)
#pragma xmp distribute t(block) onto p
#pragma xmp distribute u(cyclic) onto one
double _Complex a[7][N], b[N][7], x[7][7];
float k[N], sorted[N];
_Bool odd[N];
int few[N], turn[N];
#pragma xmp align a[*][j] with t(j)
#pragma xmp align b[i][*] with u(i)
#pragma xmp align x[i][*] with t(i)
#pragma xmp align [i] with t(i) :: k, odd, turn
#pragma xmp align [i] with u(i) :: sorted, few
int main(void) {
  int wrong = 0;
  double _Complex all[7][7];
  float values[N];
  for (int i = 0; i < 7; i++)
#pragma xmp loop (j) on t(j)
    for (int j = 0; j < N; j++) a[i][j] = i + j * I;
  xmp_transpose(xmp_desc_of(b), xmp_desc_of(a), 1);
  xmp_matmul(xmp_desc_of(x), xmp_desc_of(a), xmp_desc_of(b));
#pragma xmp gmove
  all[:][:] = x[:][:];
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      double _Complex sum = 0;
      for (int l = 0; l < N; l++) sum += (i + l * I) * (j + l * I);
      wrong += sum != all[i][j];
    }
#pragma xmp loop on t(i)
  for (int i = 0; i < N; i++) {
    k[i] = i == 3 ? NAN : (i * 37) % 50;
    odd[i] = i % 2;
    turn[i] = N - 1 - i;
  }
  xmp_sort_up(xmp_desc_of(k), xmp_desc_of(sorted));
#pragma xmp gmove
  values[:] = sorted[:];
  for (int i = 1; i < N - 1; i++) wrong += values[i - 1] > values[i];
  wrong += !isnan(values[N - 1]) || values[0] != 0 || values[N - 2] != 49;
  xmp_sort_down(xmp_desc_of(k), xmp_desc_of(sorted));
#pragma xmp gmove
  values[:] = sorted[:];
  for (int i = 2; i < N; i++) wrong += values[i - 1] < values[i];
  wrong += !isnan(values[0]) || values[N - 1] != 0;
  for (int i = 0; i < N; i++) values[i] = -1;
#pragma xmp gmove
  few[:] = -1;
  xmp_pack(xmp_desc_of(few), xmp_desc_of(turn), xmp_desc_of(odd));
  int packed[N];
#pragma xmp gmove
  packed[:] = few[:];
  for (int i = 0; i < N; i++) wrong += packed[i] != (i < N / 2 ? N - 2 - 2 * i : -1);
  xmp_pack(xmp_desc_of(few), xmp_desc_of(turn), NULL);
  xmp_unpack(xmp_desc_of(turn), xmp_desc_of(few), xmp_desc_of(odd));
  xmp_gather(xmp_desc_of(turn), xmp_desc_of(turn), xmp_desc_of(few));
#pragma xmp gmove
  packed[:] = turn[:];
  for (int i = 0; i < N; i++) {
    int from = N - 1 - i;
    wrong += packed[i] != (from % 2 ? N - 1 - from / 2 : N - 1 - from);
  }
#pragma xmp task on one(1)
  {
    for (int i = 0; i < N; i++) few[i] = i;
    xmp_scatter(xmp_desc_of(few), xmp_desc_of(few), xmp_desc_of(few));
    for (int i = 0; i < N; i++) wrong += few[i] != i;
  }
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
# What one node reads from others, and writes to them, while they take no part.
ALONE = """#include <stdio.h>
#include <xmp.h>
#define N 24
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][*]
#pragma xmp template t[N]
#pragma xmp template w[N]
#pragma xmp template u[N][N]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute w[cyclic(3)] onto p
#pragma xmp distribute u[block][cyclic(2)] onto g
double a[N], b[N], c[N];
int m[N][N];
short copies[N];
struct { double *d; } s;
#pragma xmp align [i] with t[i] :: a, b, s.d
#pragma xmp shadow a[1:2]
#pragma xmp align c[i] with w[i]
#pragma xmp align m[i][j] with u[i][j]
#pragma xmp align copies[i] with u[i][*]
static int wrong;
static void of_block(int node) {
  int k[N];
#pragma xmp align k[i] with w[i]
#pragma xmp loop on w[i]
  for (int i = 0; i < N; i++) k[i] = 3 * i + node;
#pragma xmp barrier
  int e = -1, at = (5 * xmpc_node_num() + node) % N;
#pragma xmp gmove in
  e = k[at];
  wrong += e != 3 * at + node;
#pragma xmp barrier
}
int main(void) {
  int n = xmp_num_nodes(), me = xmpc_node_num(), width = (N + n - 1) / n;
  double all[N], reversed[N], half[N / 2];
  int row[N], square[4][5];
  s.d = xmp_malloc(xmp_desc_of(s.d), N);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i, b[i] = -1, s.d[i] = 0;
#pragma xmp loop on w[i]
  for (int i = 0; i < N; i++) c[i] = 100 + i;
#pragma xmp loop (i,j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) m[i][j] = 100 * i + j;
#pragma xmp loop (i) on u[i][*]
  for (int i = 0; i < N; i++) copies[i] = i;
#pragma xmp barrier
  for (int node = 0; node < n; node++) {
#pragma xmp task on p[node]
    {
      short few[N];
      double e = -1;
#pragma xmp gmove in
      all[:] = a[:];
#pragma xmp gmove in
      reversed[0:N] = c[N - 1:N:-1];
#pragma xmp gmove in async(1)
      half[:] = c[1:N / 2:2];
#pragma xmp gmove in async(1)
      row[:] = m[:][node];
#pragma xmp gmove in
      few[:] = copies[:];
#pragma xmp gmove in
      square[:][:] = m[3:4:5][1:5:3];
#pragma xmp gmove in
      e = a[N - 1 - node];
#pragma xmp wait_async(1)
      for (int i = 0; i < N; i++) {
        wrong += all[i] != i || reversed[i] != 100 + N - 1 - i || row[i] != 100 * i + node || few[i] != i;
        wrong += i < N / 2 && half[i] != 101 + 2 * i;
      }
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) wrong += square[i][j] != 100 * (3 + 5 * i) + 1 + 3 * j;
      wrong += e != N - 1 - node;
    }
  }
  /* Each to its own part. */
  int first = me * width, own = N - first < width ? N - first : width;
  if (own > 0) {
#pragma xmp task on p[me]
    {
#pragma xmp gmove in
      b[first:own] = c[first + own - 1:own:-1];
    }
  }
#pragma xmp loop on t[i] reduction(+:wrong)
  for (int i = 0; i < N; i++) wrong += b[i] != 100 + 2 * first + own - 1 - i;
#pragma xmp barrier
  /* One node writes what all have. */
#pragma xmp task on p[n - 1]
  {
    short zeros[N];
    for (int i = 0; i < N; i++) all[i] = 7 * i, row[i] = -i, zeros[i] = 0;
#pragma xmp gmove out
    c[:] = all[:];
#pragma xmp gmove out async(2)
    m[5][0:N] = row[0:N];
#pragma xmp gmove out
    m[0:4][7] = 42;
#pragma xmp gmove out
    m[20:2:3][20:2:3] = square[0:2][3:2];
#pragma xmp gmove out async(3)
    copies[:] = zeros[:];
    int last = (n - 1) * width, many = N - last > 0 ? N - last : 0;
    if (many > 0) {
#pragma xmp gmove out
      s.d[0:many] = a[last:many];
    }
#pragma xmp wait_async(2, 3)
  }
#pragma xmp barrier
  wrong += me == 0 && n == 1 && s.d[N - 1] != N - 1;
#pragma xmp loop on w[i] reduction(+:wrong)
  for (int i = 0; i < N; i++) wrong += c[i] != 7 * i;
#pragma xmp loop (i,j) on u[i][j] reduction(+:wrong)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int right = i == 5 ? -j : j == 7 && i < 4 ? 42 : 100 * i + j;
      if (i >= 20 && (i - 20) % 3 == 0 && j >= 20 && (j - 20) % 3 == 0)
        right = 100 * (3 + 5 * (i - 20) / 3) + 1 + 3 * (3 + (j - 20) / 3);
      wrong += m[i][j] != right;
    }
  int copy_sum = 0;
#pragma xmp loop (i) on u[i][*]
  for (int i = 0; i < N; i++) copy_sum += copies[i];
  wrong += copy_sum;
  /* All together, and each with indices of its own. */
#pragma xmp gmove in
  a[0:N] = c[:];
  double mine = -1;
#pragma xmp gmove in
  mine = c[(me * 5 + 3) % N];
  wrong += mine != 7 * ((me * 5 + 3) % N);
#pragma xmp loop on t[i] reduction(+:wrong)
  for (int i = 0; i < N; i++) wrong += a[i] != 7 * i;
#pragma xmp barrier
#pragma xmp task on p[me]
  {
#pragma xmp gmove out
    b[(me * 7) % N] = me;
  }
#pragma xmp barrier
#pragma xmp gmove in
  mine = b[(me * 7) % N];
  wrong += mine != me;
  for (int i = 0; i < 3; i++) of_block(i);
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
PROGRAMS = {"alone": ALONE, "inquiry": INQUIRY, "intrinsics": INTRINSICS}


def desc(*arrays: Array) -> str:
    return ", ".join(f"xmp_desc_of({a.name})" for a in arrays)


def in_order(a: Array, body: str) -> str:
    """Loops over all elements in C's order, in private memory."""
    return " ".join(f"for (int {'ijk'[d]} = 0; {'ijk'[d]} < {e}; {'ijk'[d]}++)" for d, e in enumerate(a.extents)) + body


def set_both(a: Array, value: str) -> list[str]:
    return [*a.nest(f"{a.element()} = {value};"), *a.nest(f"{a.element('o' + a.name)} = {value};", private=True)]


def products(numbers: Numbers, kind: str) -> list[str]:
    m, n, k = (numbers.between(3, 11) for _ in range(3))
    shapes = {"a": [m, k], "b": [k, n], "x": [k, m], "y": [m, n]}
    a, b, x, y = (Array(numbers, name, kind, shape, True) for name, shape in shapes.items())
    product = f"{{ element s = 0; for (int l = 0; l < {k}; l++) s += oa[i][l] * ob[l][j]; oy[i][j] = s; }}"
    return [
        *(line for each in (a, b, x, y) for line in each.declare()),
        *set_both(a, "(i * 7 + j * 3) % 11 - 5"),
        *set_both(b, "(i * 5 + j) % 13 - 6"),
        f"  xmp_transpose({desc(x, a)}, {numbers.between(0, 1)});",
        *x.nest("ox[i][j] = oa[j][i];", private=True),
        *x.compare("transpose"),
        f"  xmp_matmul({desc(y, a, b)});",
        *y.nest(product, private=True),
        *y.compare("matmul"),
        *a.compare("source"),
    ]


def sort(numbers: Numbers, v: Array, z: Array) -> list[str]:
    up, size = numbers.rng.random() < 0.5, v.extents[0]
    return [
        f"  xmp_sort_{'up' if up else 'down'}({desc(v, z)});",
        f"  for (int i = 0; i < {size}; i++) oz[i] = ov[i];",
        f"  for (int i = 0; i < {size}; i++) for (int l = 0; l + 1 < {size}; l++)",
        f"    if (oz[l] {'>' if up else '<'} oz[l + 1]) {{ element s = oz[l]; oz[l] = oz[l + 1]; oz[l + 1] = s; }}",
        *z.compare("sort"),
    ]


def moves(numbers: Numbers, kind: str) -> list[str]:
    rng = numbers.rng
    shape = [numbers.between(3, 7) for _ in range(rng.randint(1, 3))]
    g = Array(numbers, "g", kind, shape, True)
    h, e = (Array(numbers, name, rng.choice(["int", "short", "long"]), shape, False) for name in "he")
    dims = rng.randint(1, 2)
    sizes = [numbers.between(4, 9) for _ in range(dims)]
    a, w = (Array(numbers, name, kind, sizes, name == "w") for name in "aw")
    many = numbers.name(f"{' * '.join(shape)} + {numbers.between(0, 3)}")
    v, z = (Array(numbers, name, kind, [many], name == "v") for name in "vz")
    indices = (h, e)[:dims]
    elements = "".join(f"[{x.element('o' + x.name)}]" for x in indices)
    out = [line for each in (g, h, e, a, w, v, z) for line in each.declare()]
    for array, value in ((a, "i * 9 + 4" if dims == 1 else "i * 9 + j"), (w, "-1"), (v, "(i * 37) % 19 - 9")):
        out += set_both(array, value)
    for index, by in zip((h, e), (3, 5), strict=True):
        extent = a.extents[min("he".index(index.name), dims - 1)]
        terms = " + ".join(f"{by + d} * {'ijk'[d]}" for d in range(len(shape)))
        out += set_both(index, f"({terms}) % ({extent})")
    return [
        *out,
        *sort(numbers, v, z),
        f"  xmp_gather({desc(g, a, *indices)});",
        in_order(g, f" {g.element('og')} = oa{elements};"),
        *g.compare("gather"),
        f"  xmp_scatter({desc(w, g, *indices)});",
        in_order(g, f" ow{elements} = {g.element('og')};"),
        *w.compare("scatter"),
        f"  {{ int c = 0; xmp_pack({desc(v, g, h)});",
        in_order(g, f" if ({h.element('oh')}) ov[c++] = {g.element('og')}; }}"),
        *v.compare("pack"),
        f"  {{ int c = 0; xmp_unpack({desc(g, v, e)});",
        in_order(g, f" if ({e.element('oe')}) {g.element('og')} = ov[c++]; }}"),
        *g.compare("unpack"),
        f"  xmp_pack({desc(v, g)});",
        in_order(g, f" ov[{number_of(g)}] = {g.element('og')};"),
        *v.compare("pack all"),
    ]


def number_of(a: Array) -> str:
    text = "0"
    for d, extent in enumerate(a.extents):
        text = f"({text}) * {extent} + {'ijk'[d]}"
    return text


def program(seed: int, functions: int) -> str:
    rng = random.Random(seed)
    made = []
    for i in range(functions):
        kind = rng.choice(["double", "int", "short", "long", "float", "long double"])
        numbers = Numbers(rng)
        made.append(joined(i, kind, numbers, (products if i % 2 else moves)(numbers, kind)))
    return together(made)


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1]), int(sys.argv[2])))
