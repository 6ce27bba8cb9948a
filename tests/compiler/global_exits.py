"""Loops that `break` ends on a node, and tasks that are left; they print OK on any number of nodes."""

from __future__ import annotations

BREAKS = """#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#define N 60
#pragma xmp nodes p[*]
#pragma xmp nodes g[*][1]
#pragma xmp template t[N]
#pragma xmp template c[N]
#pragma xmp template w[N]
#pragma xmp template s[N]
#pragma xmp template u[N][N]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute c[cyclic] onto p
#pragma xmp distribute w[cyclic(4)] onto p
#pragma xmp distribute s[gblock(*)] onto p
#pragma xmp distribute u[block][cyclic(3)] onto g
int a[N], b[N], d[N], e[N], m[N][N];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with c[i]
#pragma xmp align d[i] with w[i]
#pragma xmp align e[i] with s[i]
#pragma xmp align m[i][j] with u[i][j]
static int sizes_of(int sizes[]) {
  int n = xmp_num_nodes();
  for (int k = 0; k < n; k++) sizes[k] = k == 0 ? N - (n - 1) * 5 : 5;
  return n;
}
/* The least index with a value, where nodes stop at the first of their own. */
static int first_of(int x[N], int value) {
#pragma xmp align x[i] with w[i]
  int least = N;
#pragma xmp loop on w[i] reduction(min:least)
  for (int i = 0; i < N; i++)
    if (x[i] == value) {
      least = i;
      break;
    }
  return least;
}
int main(void) {
  int wrong = 0, found = 0, count = 0, place = -1, most = -1, at[2] = {-1, -1}, nodes = xmp_num_nodes();
  int* sizes = malloc(sizeof(int) * nodes);
  sizes_of(sizes);
#pragma xmp template_fix[gblock(sizes)] s[0:N]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i % 7;
#pragma xmp loop on c[i]
  for (int i = 0; i < N; i++) b[i] = i % 7;
#pragma xmp loop on w[i]
  for (int i = 0; i < N; i++) d[i] = i % 13;
#pragma xmp loop on s[i]
  for (int i = 0; i < N; i++) e[i] = i % 7;
#pragma xmp loop (i,j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) m[i][j] = i + j;
  /* 1: a flag, by block. */
#pragma xmp loop on t[i] reduction(||:found)
  for (int i = 0; i < N; i++)
    if (a[i] == 6) { found = 1; break; }
  wrong += found != 1;
  /* 2: by cyclic, where a node has one run with a step: at most one each. */
#pragma xmp loop on c[i] reduction(+:count)
  for (int i = 0; i < N; i++) {
    if (b[i] != 6) continue;
    count++;
    if (count) break;
  }
  wrong += count < 1 || count > nodes;
  /* 3, 4: several runs. */
  wrong += first_of(d, 9) != 9 || first_of(d, 12) != 12 || first_of(d, 77) != N;
  /* 5: downwards. */
  place = -1;
#pragma xmp loop on w[i] reduction(max:place)
  for (int i = N - 1; i >= 0; i -= 1) {
    if (d[i] == 2) {
      place = i;
      break;
    } else if (d[i] < 0) break;
  }
  wrong += place != 54;
  /* 6: parts of given sizes, and a while loop inside that has a break of its own. */
  place = N;
#pragma xmp loop on s[i] reduction(min:place)
  for (int i = 3; i < N; i++) {
    int k = 0;
    while (1) if (++k > 3) break;
    switch (k) { case 4: break; default: k = 9; }
    if (e[i] == 2 && k == 4) { place = i; break; }
  }
  wrong += place != 9;
  /* 7: out of the inner loop of two: the outer one goes on. */
  count = 0;
#pragma xmp loop (i,j) on u[i][j] reduction(+:count)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      if (m[i][j] != i + 20) continue;
      { count++; break; }
    }
  wrong += count != N;
  /* 8: the iteration of a maximum is the first of all nodes, also where it ends the loop. */
#pragma xmp loop on w[i] reduction(firstmax:most/place/)
  for (int i = 0; i < N; i++)
    if (d[i] == 12) { most = d[i], place = i; break; }
  wrong += most != 12 || place != 12;
#pragma xmp loop (i,j) on u[i][j] reduction(lastmax:most/at/)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (m[i][j] == 100) { most = 100, at[0] = i, at[1] = j; break; }
  wrong += most != 100 || at[0] != 59 || at[1] != 41;
  /* 9: the outer loop is not shared. */
  count = 0;
  for (int k = 0; k < 4; k++) {
    if (k == 3) break;
#pragma xmp loop on t[i] reduction(max:count)
    for (int i = 0; i < N; i++)
      if (a[i] == k) { count = k; break; }
  }
  wrong += count != 2;
  /* 10: a loop of which one node owns the only iteration, and expanded iterations. */
#pragma xmp loop on t[i] reduction(max:count)
  for (int i = 31; i < 32; i++) { count = 31; break; }
  wrong += count != 31;
#pragma xmp loop on t[i] expand(1) reduction(max:count)
  for (int i = 1; i < N - 1; i++)
    if (i >= 40) { count = 40; break; }
  wrong += count < 40;
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  free(sizes);
  return wrong != 0;
}
"""

LEFT = """#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#define N 24
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N];
#pragma xmp align a[i] with t[i]
int c[2]:[*];
struct pair { int x, y; };
static int first_returns(int value) {
#pragma xmp task on p[0]
  return value + xmp_num_nodes();
  return -value;
}
static void nothing(int* out) {
#pragma xmp task on p[0]
  {
    if (*out == 3) return;
    *out = 4;
  }
  *out += 10;
}
static struct pair of_both(int last) {
#pragma xmp task on p[0:last + 1]
  {
#pragma xmp task on p[last]
    {
      int own = xmp_num_nodes();
      return (struct pair){own, xmp_num_nodes()};
    }
    return (struct pair){7, xmp_num_nodes()};
  }
  return (struct pair){-1, -1};
}
static double of_array(void) {
#pragma xmp task on t[N - 1]
  { double b = a[N - 1]; return b + c[1]:[0]; }
  return 0;
}
static int by_tasks(int last) {
#pragma xmp tasks
  {
#pragma xmp task on p[0]
    if (last > 0) return 1;
#pragma xmp task on p[last]
    { return 2; }
  }
  return 3;
}
int main(void) {
  int nodes = xmp_num_nodes(), me = xmpc_node_num(), last = nodes - 1, wrong = 0, rounds = 0, out = 3;
  c[1] = 100 + me;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i;
  xmp_sync_all(NULL);
  wrong += first_returns(5) != (me == 0 ? 6 : -5) || xmp_num_nodes() != nodes;
  nothing(&out);
  wrong += out != (me == 0 ? 3 : 13) || xmp_num_nodes() != nodes;
  struct pair both = of_both(last);
  wrong += both.x != (me == last ? 1 : 7) || both.y != (me == last ? 1 : nodes) || xmp_num_nodes() != nodes;
  wrong += of_array() != (me == last ? N - 1 + 100 + me : 0) || xmp_num_nodes() != nodes;
  wrong += by_tasks(last) != (me == 0 && last > 0 ? 1 : me == last ? 2 : 3) || xmp_num_nodes() != nodes;
  for (int k = 0; k < 5; k++) {
#pragma xmp task on p[0]
    {
      if (k == 1) continue;
      if (k == 3) break;
    }
    rounds++;
  }
  wrong += rounds != (me == 0 ? 2 : 5) || xmp_num_nodes() != nodes;
#pragma xmp task on p[last]
  {
    rounds = 50;
    if (me >= 0) goto behind;
    rounds = 60;
  }
  rounds = 70;
behind:
  wrong += rounds != (me == last ? 50 : 70) || xmp_num_nodes() != nodes;
  switch (nodes > 0) {
    default:
#pragma xmp task on p[0]
    { rounds = 80; break; }
    rounds = 90;
  }
  wrong += rounds != (me == 0 ? 80 : 90) || xmp_num_nodes() != nodes;
#pragma xmp reduction(+:wrong)
#pragma xmp task on p[0]
  {
    if (wrong) {
      puts("wrong");
      return 1;
    }
    puts("OK");
  }
  return 0;
}
"""

PROGRAMS = {"breaks": BREAKS, "left tasks": LEFT}
