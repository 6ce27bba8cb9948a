/* For option check: accesses to coarrays in segments that nothing orders, which must be reported, and every way of
 * ordering them, which must not.
 *
 *   xmp_races CASE      with at least 3 images
 */
#include <xmp.h>

#include "programs.h"

#define AT(line) "races.c:" #line

enum { N = 100 };
static xmp_coarray* a;
static int *own, buffer[N];
static int me;

static void put_on_0(int first, int count, int step, const char* place) {
  const xmp_section to = {a, 0, &own[first], 1, {count}, {step * (int64_t)sizeof(int)}};
  const xmp_section from = {NULL, 0, buffer, 1, {count}, {sizeof(int)}};
  xmp_assign(&to, &from, sizeof(int), place);
}

static void get_from_0(int first, int count, int step, const char* place) {
  const xmp_section from = {a, 0, &own[first], 1, {count}, {step * (int64_t)sizeof(int)}};
  const xmp_section to = {NULL, 0, buffer, 1, {count}, {sizeof(int)}};
  xmp_assign(&to, &from, sizeof(int), place);
}

/* ---- races ------------------------------------------------------------------------------------------------ */

static void put_and_get(void) {
  if (me == 1) put_on_0(0, 50, 1, AT(10));
  if (me == 2) get_from_0(40, 20, 1, AT(20));
}
static void element_and_strided(void) {
  if (me == 1) XMP_WRITE(a, 0, own[6], 1, AT(10));
  if (me == 2) get_from_0(0, 20, 3, AT(20));
}
static void two_puts(void) {
  if (me != 0) put_on_0(7, 1, 1, me == 1 ? AT(10) : AT(20));
}
static void accumulate_and_get(void) {
  const int one = 1;
  if (me == 1) xmp_update_element(a, 0, &own[3], XMP_INT32, &one, XMP_INT32, XMP_ADD, AT(10));
  if (me == 2) get_from_0(3, 1, 1, AT(20));
}
static void post_the_wrong_way(void) {
  if (me == 1) put_on_0(0, 5, 1, AT(10));
  if (me == 2) xmp_post(1, 1, AT(15)), get_from_0(0, 5, 1, AT(20));
  if (me == 1) xmp_wait(2, 1, AT(16));
}
static void own_section(void) {
  if (me == 1) put_on_0(0, 5, 1, AT(10));
  if (me == 0) {
    const xmp_section from = {NULL, 0, &own[4], 1, {2}, {sizeof(int)}}, to = {NULL, 0, buffer, 1, {2}, {sizeof(int)}};
    xmp_assign(&to, &from, sizeof(int), AT(20));
  }
}

/* ---- no races --------------------------------------------------------------------------------------------- */

static void apart(void) {
  if (me == 1) put_on_0(0, 50, 2, AT(10));
  if (me == 2) get_from_0(1, 49, 2, AT(20));
  const int one = 1;
  xmp_update_element(a, 0, &own[99], XMP_INT32, &one, XMP_INT32, XMP_ADD, AT(30));
}
static void by_sync_all(void) {
  if (me == 1) put_on_0(0, 50, 1, AT(10));
  xmp_sync_all(NULL);
  if (me == 2) get_from_0(0, 50, 1, AT(20));
}
static void by_post(void) {
  if (me == 1) put_on_0(0, 50, 1, AT(10)), xmp_post(0, 1, AT(11));
  if (me == 0) xmp_wait(1, 1, AT(12)), xmp_post(2, 2, AT(13)); /* order is transitive */
  if (me == 2) xmp_wait(0, 2, AT(14)), get_from_0(0, 50, 1, AT(20));
}
static void by_sync_image(void) {
  if (me == 1) put_on_0(0, 50, 1, AT(10)), xmp_sync_image(2, NULL);
  if (me == 2) xmp_sync_image(1, NULL), get_from_0(0, 50, 1, AT(20));
}
static void by_barrier_on(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference two = {&nodes, {{1, 2, 1}}};
  if (me == 1) put_on_0(0, 50, 1, AT(10));
  xmp_barrier_on(&two, AT(11));
  if (me == 2) get_from_0(0, 50, 1, AT(20));
}
static void by_gmove_async(void) {
  const xmp_section to = {a, me, own + 60, 1, {20}, {sizeof(int)}}, from = {a, 0, own, 1, {20}, {sizeof(int)}};
  if (me == 1) put_on_0(0, 50, 1, AT(10));
  xmp_request moved = xmp_gmove_start(XMP_GMOVE, &to, &from, sizeof(int), AT(11));
  xmp_request_wait(&moved);
  if (me == 2) get_from_0(0, 80, 1, AT(20));
}
static void by_lock(void) {
  const int64_t one[] = {1};
  xmp_coarray* const lock = xmp_coarray_malloc(sizeof(xmp_lock_t), 1, one, "lock", AT(5));
  xmp_lock_at(lock, 1, lock->data, AT(9));
  XMP_WRITE(a, 0, own[9], XMP_READ(a, 0, own[9], AT(10)) + 1, AT(11));
  xmp_unlock_at(lock, 1, lock->data, AT(12));
  xmp_free(lock);
}
static void by_flag(void) {
  if (me == 1) {
    put_on_0(0, 50, 1, AT(10));
    xmp_sync_memory(NULL);
    xmp_atomic_define_at(a, 2, &own[99], sizeof(int), 1, AT(11));
  }
  if (me != 2) return;
  for (int looks = 0; xmp_atomic_ref_at(a, 2, &own[99], sizeof(int), AT(12)) == 0; ++looks) pause_between_looks(looks);
  xmp_sync_memory(NULL);
  get_from_0(0, 50, 1, AT(20));
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"put_and_get", put_and_get},
             {"element_and_strided", element_and_strided},
             {"two_puts", two_puts},
             {"accumulate_and_get", accumulate_and_get},
             {"post_the_wrong_way", post_the_wrong_way},
             {"own_section", own_section},
             {"apart", apart},
             {"by_sync_all", by_sync_all},
             {"by_post", by_post},
             {"by_sync_image", by_sync_image},
             {"by_barrier_on", by_barrier_on},
             {"by_gmove_async", by_gmove_async},
             {"by_lock", by_lock},
             {"by_flag", by_flag}};

int main(int argc, char** argv) {
  const int64_t extent[] = {N};
  xmp_start(&argc, &argv);
  me = xmpc_this_image();
  a = xmp_coarray_malloc(sizeof(int), 1, extent, "a", AT(1));
  own = a->data;
  xmp_sync_all(NULL);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c)
    if (argc > 1 && strcmp(argv[1], cases[c].name) == 0) {
      cases[c].run();
      xmp_sync_all(NULL);
      if (me == 0) printf("done\n");
    }
  return 0;
}
