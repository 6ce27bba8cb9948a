#include <complex.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdnoreturn.h>
#include <stdio.h>
#include <stdlib.h>
#define kind(x) _Generic((x), int: "int", double: "double", char*: "text", default: "other")
_Static_assert(sizeof(int) == 4, "int");
struct both { union { struct { int lo, hi; }; long whole; }; alignas(32) char bytes[3]; unsigned flag : 1, : 3; };
static _Atomic int counter;
static _Atomic(struct { int a, b; }) couple;
static _Thread_local int mine;
static noreturn void leave(void) { exit(0); }
static inline double sum(int n, int m, double a[static restrict n][m]) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += a[i][j];
  return s;
}
static int (*choose(int which))(const char*) { return which ? puts : atoi; }
int old_style(a, b) int a; char* b; { return a + *b; }

int main(void) {
  int n = 3;
  double grid[n][4], (*row)[4] = grid;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++) row[i][j] = i <: (int[]){1, 2, 3} :> * j;
  atomic_fetch_add_explicit(&counter, 2, memory_order_relaxed);
  double _Complex z = CMPLX(1, 2);
  struct both both = {.lo = 1, .hi = 2, .bytes = "ab", .flag = 1};
  const char* text = u8"\u5e83" "\x41\
z" "??/";
  printf("%s %s %g %g %d %ld %s %zu %d\n", kind(1), kind("x"),
          sum(n, 4, grid), cimag(z), mine, both.whole, text, sizeof L"wide",
         old_style(1, "a"));
  choose(1)("done");
  (void)couple;
  for (;;) leave();
}
