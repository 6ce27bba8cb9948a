/* More of meant.c: other ways in which a value depends on the rank. */
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N];
#pragma SMint shared ::[](0, 1)
int total;

static int who(void) { return MYPID; }
static int (*getter)(void) = who;
static const struct {
  int (*number)(void);
} table = {who};
static void twice(double* v, int n) {
  for (int i = 0; i < n; i++) v[i] *= 2;
}
struct context {
  int rank;
};
static struct context make(void) {
  struct context c = {.rank = MYPID};
  return c;
}

static void elements(void) {
  _Bool mine[N] = {0};
  mine[MYPID] = 1;
  for (int i = 0; i < N; i++)
    if (mine[i]) a[i] *= 2;
}
static void of_a_union(void) {
  union {
    int r;
    char c[4];
  } u, *p = &u;
  u.r = MYPID;
  if (u.c[0] == 0) total++;
  if (p->c[0] == 0) total++;
}
static void pointer_to_pointer(void) {
  int x = 0, *p = &x, **q = &p;
  **q = MYPID;
  if (x == 0) total++;
}
static void function_pointers(void) {
  int (*f)(void) = who, r = f();
  void (*g)(double*, int) = NULL;
  if (r == 0) total++;
  if (getter() == 0) total++;
  if (table.number() == 0) total++;
  if (r == 1) g = twice;
  if (g) g(a, N);
}
static void computed_goto(void) {
  void* t[2] = {&&first, &&others};
  goto* t[MYPID != 0];
first:
  total++;
others:;
}
static void assembly(void) {
  int r;
  __asm__("mov %1, %0" : "=r"(r) : "r"(MYPID));
  if (r == 0) total++;
  __asm__ goto("test %0, %0; jnz %l1" : : "r"(MYPID) : "cc" : out);
  total++;
out:;
}
static void old_value(void) {
  int r = MYPID, *p = &r, z = (*p)++;
  if (z == 0) total++;
}
static int take(void) {
  sms_lock(3);
  return 0;
}
static void texts(void) {
  char buf[20];
  sprintf(buf, "%d", MYPID);
  if (atoi(buf) == 0) total++;
  const char* name = MYPID ? "x" : "root";
  if (strcmp(name, "root") == 0) total++;
  if (__builtin_expect(make().rank == 0, 1)) total++;
}

int main(void) {
  elements();
  of_a_union();
  pointer_to_pointer();
  function_pointers();
  computed_goto();
  assembly();
  old_value();
  texts();
  take();
  total++;
  sms_unlock(3);
  return 0;
}
