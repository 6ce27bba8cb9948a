/* Directives for all nodes under conditions that depend on the node, and what looks so. */
#include <stdio.h>
#include <xmp.h>
#define N 100
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N], b[N];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with t[i]
#pragma xmp shadow a[1]
struct job {
  int rank, size;
} job;

static int who(void) { return xmpc_node_num(); }
static int is_first(void) { return who() == 0; }
static void exchange(void) {
#pragma xmp reflect(a)
}
static void of_all(int all) {
  if (all) exchange();
}

static void wrong(int k) {
  int me = xmpc_node_num(), first;
  double sum = me;
  job.rank = xmp_node_num();
  first = me == 1;
  if (xmpc_node_num() == 0) {
#pragma xmp barrier /* some ranks */
  }
  if (k > 1 && !me) {
#pragma xmp bcast(sum) /* some ranks */
  } else {
    puts("else");
  }
  if (me % 2 == 0)
    exchange(); /* some ranks */
  if (first) {
    if (k) {
#pragma xmp reflect(a) /* some ranks */
    }
  }
  switch (job.rank) {
    case 0: {
#pragma xmp reduction(+:sum) /* some ranks */
      break;
    }
    default: break;
  }
  for (int i = 0; i < me; i++) {
#pragma xmp gmove /* some ranks */
    a[:] = b[:];
  }
  while (is_first()) {
#pragma xmp barrier /* some ranks */
  }
  if (is_first())
#pragma xmp loop on t[i] reduction(+:sum) /* some ranks */
    for (int i = 0; i < N; i++) sum += a[i];
  if (job.rank != 0) return;
#pragma xmp sync_all /* some ranks */
}

int decided_elsewhere(int);
static int even(int k) { return k % 2 == 0; }
static int most_of(int v) {
#pragma xmp reduction(max:v)
  return v;
}

static void functions_of_the_rank(void) {
  int me = xmpc_node_num();
  if (most_of(me) > 0) {
#pragma xmp barrier
  }
  if (decided_elsewhere(me)) {
#pragma xmp barrier
  }
  if (even(me)) {
#pragma xmp barrier /* some ranks */
  }
}

static void meant(int k, int verbose) {
  int me = xmpc_node_num(), all = xmp_num_nodes(), given = me;
  double sum = 0;
#pragma xmp bcast(given)
  if (given) {
#pragma xmp barrier
  }
  if (k == 2 || all > 1) {
#pragma xmp barrier
  }
  if (me == 0) puts("begin");
#pragma xmp barrier
  if (me == 0) {
    puts("first");
#pragma xmp barrier
  } else {
#pragma xmp barrier
  }
  if (me < 2) {
#pragma xmp barrier on p[0:2]
#pragma xmp reduction(+:sum) on p[0:2]
#pragma xmp task on p[0:2]
    {
#pragma xmp barrier
    }
  }
  if (me == 1) {
#pragma xmp post(p[0], 1)
#pragma xmp gmove out
    b[0:1] = a[40:1];
  } else if (me == 0) {
#pragma xmp wait(p[1], 1)
  }
  if (me != 0) {
#pragma xmp barrier
    return;
  }
#pragma xmp barrier
  for (int i = 0; i < N; i++) {
    if (verbose && me == 0) printf("%d\n", i);
    if (me == 3) continue;
    sum += 1;
  }
  of_all(k);
  while (sum > 3) {
#pragma xmp loop on t[i] reduction(+:sum)
    for (int i = 0; i < N; i++) sum += a[i];
    if (sum < 0) break;
  }
}

int main(void) {
  wrong(2);
  functions_of_the_rank();
  meant(0, 1);
}
