/* Pointers stored in shared data, for option check: stray.c CASE. What points to a rank's own memory is found; what
 * points to shared data, and numbers of all kinds, are not. */
#include <string.h>

#include "programs.h"

enum { NODES = 5000 };
struct node {
  struct node* next;
  const char* name;
  double value;
};
static struct node* nodes; /* in blocks */
static int64_t* numbers;
static int global;

static struct node* mine(int i) { return &nodes[sms_rank * (NODES / sms_nprocs) + i]; }

static void literal(void) { mine(7)->name = "seven"; }
static void heap(void) { mine(7)->next = malloc(sizeof *mine(7)); }
static void local(void) {
  volatile int here = 0;
  mine(7)->name = (const char*)&here;
}
static void of_global(void) { mine(7)->name = (const char*)&global; }
static void shared(void) {
  for (int i = 0; i < NODES / sms_nprocs - 1; ++i) *mine(i) = (struct node){mine(i + 1), NULL, i * 1e-300};
  sms_barrier();
  double sum = 0;
  for (const struct node* n = &nodes[0]; n != NULL; n = n->next) sum += n->value;
  if (!(sum > 0)) fail("stray: the list sums to %g", sum);
}
static void values(void) {
  const int part = NODES / sms_nprocs;
  for (int i = 0; i < part; ++i) numbers[sms_rank * part + i] = (int64_t)mix2(1, (uint64_t)i) >> (i % 64);
  sms_barrier();
  for (int i = 0; i < part; ++i) numbers[sms_rank * part + i] = INT64_C(0x5555) << 32 | i;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"literal", literal},     {"heap", heap},     {"local", local},
               {"of_global", of_global}, {"shared", shared}, {"values", values}};
  sms_startup(&argc, &argv);
  const int dim[] = {NODES, -1}, div[] = {sms_nprocs, -1};
  nodes = sms_mapalloc(dim, div, sizeof *nodes, 0, sms_nprocs);
  numbers = sms_mapalloc(dim, div, sizeof *numbers, 0, sms_nprocs);
  sms_barrier();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
    if (strcmp(argv[1], cases[c].name) == 0 && (c > 3 || sms_rank == sms_nprocs - 1)) cases[c].run();
  sms_barrier();
  if (sms_rank == 0) puts("done");
  sms_shutdown();
  return 0;
}
