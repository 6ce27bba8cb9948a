/* What programs do wrong with coarrays, one case each: xmp_misuse CASE. misuse.py knows what must come of each of them.
 *
 * A case is called by all images, after xmp_init unless it begins with "before". `guilty` is true on rank 1, or on rank
 * 0 if that is the only one.
 */
#include <xmp.h>

#include "programs.h"

#define HERE XMP_HERE

enum { ROWS = 10, COLUMNS = 20 };
static xmp_coarray* table; /* int [ROWS][COLUMNS] */
static int (*own)[COLUMNS];
static int spare[1000];

static int guilty(void) { return sms_rank == (sms_nprocs > 1); }

static xmp_section row(const xmp_coarray* c, int image, void* address, int64_t count) {
  return (xmp_section){c, image, address, 1, {count}, {sizeof(int)}};
}

static void copy_row(int image, void* address, int64_t count, int64_t from_count) {
  const xmp_section to = row(table, image, address, count), from = row(NULL, 0, spare, from_count);
  if (guilty()) xmp_assign(&to, &from, sizeof(int), HERE);
}

/* ---- images and bounds ------------------------------------------------------------------------------------ */

static void image_too_large(void) {
  if (guilty()) spare[0] = XMP_READ(table, sms_nprocs + 5, own[1][1], HERE);
}
static void image_negative(void) { copy_row(-3, own, 5, 5); }
/* As many elements as there are images: -1 must not be taken for each image. */
static void image_left_of_first(void) { copy_row(-1, own, sms_nprocs, sms_nprocs); }
static void image_of_64_bits(void) {
  if (guilty()) spare[0] = XMP_READ(table, INT64_C(1) << 32, own[1][1], HERE);
}
static void image_of_task(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference last = {&nodes, {{sms_nprocs - 1, 1, 1}}};
  if (!xmp_task_begin(&last, HERE)) return;
  XMP_WRITE(table, 1, own[0][0], 7, HERE);
  xmp_task_end();
}
static void coindex(void) {
  const xmp_coarray grid = {.name = "grid", .codims = 2, .coextent = {2, 0}};
  if (guilty()) spare[0] = xmp_coindex(&grid, 2, (int64_t[]){2, 0}, HERE);
}
static void coindex_negative(void) {
  const xmp_coarray grid = {.name = "grid", .codims = 2, .coextent = {2, 0}};
  if (guilty()) spare[0] = xmp_coindex(&grid, 2, (int64_t[]){1, -1}, HERE);
}
static void section_past(void) { copy_row(0, &own[9][15], 6, 6); }
/* Products of which overflow: to nothing at all, and back to where they began. */
static void section_overflows(void) {
  const int64_t many = INT64_C(1) << 32;
  const xmp_section to = {table, 0, own, 2, {many, many}, {4, 4}}, from = {NULL, 0, spare, 2, {many, many}, {4, 4}};
  if (guilty()) xmp_assign(&to, &from, sizeof(int), HERE);
}
static void range_overflows(void) {
  if (guilty()) spare[0] = (int)xmp_length(0, (INT64_C(1) << 62) + 1, 4, COLUMNS, 1, "table[0:10][0:n:4]:[0]", HERE);
}
static void address_of_other(void) {
  if (guilty()) XMP_WRITE(table, 0, spare[0], 7, HERE);
}
static void section_at_null(void) {
  const xmp_section to = row(NULL, 0, NULL, 5), from = row(table, 0, own, 5);
  if (guilty()) xmp_assign(&to, &from, sizeof(int), HERE);
}
static void section_before(void) { copy_row(0, &own[0][0] - 1, 6, 6); }
static void element_past(void) {
  if (guilty()) XMP_WRITE(table, 0, own[ROWS][0], 7, HERE);
}
/* As a type that is larger than the whole coarray. */
static void element_too_wide(void) {
  const int64_t extent[] = {1};
  xmp_coarray* const small = xmp_coarray_malloc(sizeof(char), 1, extent, "small", HERE);
  if (guilty()) XMP_WRITE(small, 0, *(int*)small->data, 7, HERE);
}
static void range_past(void) {
  if (guilty()) spare[0] = (int)xmp_length(12, 9, 1, COLUMNS, 1, "table[0:10][12:9]:[0]", HERE);
}
static void range_backwards(void) {
  if (guilty()) spare[0] = (int)xmp_length(3, 5, -1, COLUMNS, 1, "table[0:10][3:5:-1]:[0]", HERE);
}
static void range_no_step(void) {
  if (guilty()) spare[0] = (int)xmp_length(3, 5, 0, COLUMNS, 1, "table[0:10][3:5:0]:[0]", HERE);
}
static void own_part_past(void) {
  volatile int* first = &own[0][0];
  if (guilty()) first[sizeof *own / sizeof **own * ROWS] = 1; /* the neighbour's, but for option check */
}
static void own_part_far_past(void) {
  volatile int* first = &own[0][0];
  if (guilty()) first[sizeof *own / sizeof **own * ROWS + 500] += 1;
}
static void own_part_twice(void) { /* beyond the next page */
  static xmp_coarray y = {.name = "y", .element = 1, .dims = 1, .extent = {20000}, .codims = 1};
  volatile char* const part = xmp_coarray_allocate(&y, HERE);
  if (guilty()) part[2 * 20000 - 1] += 1;
}
static void index_past(void) {
  if (guilty()) spare[0] = (int)xmp_index(ROWS, ROWS, 0, "table[i][0]:[0]", HERE);
}
static void shapes(void) { copy_row(0, own, 6, 7); }
static void shapes_of_update(void) {
  const xmp_section to = row(table, 0, own, 4);
  const xmp_section from = {NULL, 0, spare, 2, {2, 3}, {3 * sizeof(int), sizeof(int)}};
  if (guilty()) xmp_update(&to, XMP_INT32, &from, XMP_INT32, XMP_ADD, HERE);
}
static void shapes_of_images(void) {
  const xmp_section from = {table, XMP_EACH_IMAGE, own, 2, {XMP_REST, 2}, {0, sizeof(int)}};
  const xmp_section to = {NULL, 0, spare, 2, {sms_nprocs + 1, 2}, {2 * sizeof(int), sizeof(int)}};
  if (guilty()) xmp_assign(&to, &from, sizeof(int), HERE);
}

/* ---- allocation ------------------------------------------------------------------------------------------- */

static void unequal_extent(void) {
  const int64_t extent[] = {guilty() ? 100 : 200};
  xmp_coarray_malloc(sizeof(int), 1, extent, "uneven", HERE);
}
static void unequal_element(void) {
  const int64_t extent[] = {100};
  xmp_coarray_malloc(guilty() ? 4 : 8, 1, extent, "uneven", HERE);
}
static void no_elements(void) {
  const int64_t extent[] = {10, 0};
  xmp_coarray_malloc(sizeof(int), 2, extent, "empty", HERE);
}
static void use_after_free(void) {
  xmp_coarray y = {.name = "y", .element = sizeof(int), .codims = 1};
  int* const data = xmp_malloc(&y, 10);
  xmp_free(&y);
  if (guilty()) spare[0] = XMP_READ(&y, 0, data[0], HERE);
}
static void use_of_freed(void) {
  const int64_t extent[] = {10};
  xmp_coarray* const y = xmp_coarray_malloc(sizeof(int), 1, extent, "y", HERE);
  int* const data = y->data;
  xmp_free(y);
  if (guilty()) XMP_WRITE(y, 0, data[0], 7, HERE);
}
static void free_twice(void) {
  const int64_t extent[] = {10};
  xmp_coarray* const y = xmp_coarray_malloc(sizeof(int), 1, extent, "y", HERE);
  xmp_free(y);
  if (guilty()) xmp_free(y);
}
static void too_large(void) {
  const int64_t extent[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  xmp_coarray_malloc(sizeof(double), 2, extent, "huge", HERE);
}
static void no_memory(void) {
  const int64_t extent[] = {INT64_C(1) << 37};
  xmp_coarray_malloc(sizeof(double), 1, extent, "huge", HERE);
}
static void allocate_twice(void) {
  xmp_coarray y = {.name = "y", .element = sizeof(int), .codims = 1};
  if (xmp_malloc(&y, 10) != NULL) xmp_malloc(&y, 20);
}

/* ---- waiting ---------------------------------------------------------------------------------------------- */

static void wait_never(void) {
  if (guilty()) xmp_wait(0, 42, HERE);
  xmp_sync_all(NULL);
}
static void wait_left_of_first(void) {
  if (guilty()) xmp_wait(-1, 5, HERE);
  else xmp_post(sms_nprocs - 1, 5, HERE);
}
static void wait_wrong_tag(void) {
  if (!guilty()) xmp_post(1, 7, HERE);
  xmp_sync_all(NULL);
  if (guilty()) xmp_wait(XMP_ANY_IMAGE, 42, HERE);
  xmp_sync_all(NULL);
}
static void sync_image_alone(void) {
  if (guilty()) xmp_sync_image(0, NULL);
  xmp_sync_all(NULL);
}
static void barrier_of_some(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference two = {&nodes, {{0, 2, 1}}};
  if (guilty()) xmp_barrier_on(&two, HERE);
  xmp_sync_image(sms_rank, NULL);
}

/* ---- what is started -------------------------------------------------------------------------------------- */

static void start_sum(int64_t id) {
  static double sum = 1;
  xmp_async(id, xmp_reduction_start(&sum, 1, XMP_DOUBLE, XMP_ADD, NULL, HERE), "reduction", HERE);
}
static void async_unknown(void) {
  start_sum(4);
  start_sum(-6);
  if (guilty()) xmp_wait_async(1, (const int64_t[]){9}, NULL, HERE);
  xmp_sync_all(NULL);
}
static void async_test_unknown(void) {
  if (guilty()) spare[0] = xmp_test_async(9);
  xmp_sync_all(NULL);
}
static void async_never(void) {
  if (guilty()) start_sum(4);
  if (guilty()) xmp_wait_async(1, (const int64_t[]){4}, NULL, HERE);
  xmp_sync_all(NULL);
}
static void async_gmove_never(void) {
  const xmp_section to = row(table, 0, own, 5), from = row(NULL, 0, spare, 5);
  if (guilty()) xmp_async(4, xmp_gmove_start(XMP_GMOVE, &to, &from, sizeof(int), HERE), "gmove", HERE);
  if (guilty()) xmp_wait_async(1, (const int64_t[]){4}, NULL, HERE);
  xmp_sync_all(NULL);
}
static void async_left(void) {
  start_sum(4);
  start_sum(4);
  xmp_sync_all(NULL);
}

static void request_twice(void) {
  double sum = 1;
  xmp_request one = xmp_reduction_start(&sum, 1, XMP_DOUBLE, XMP_ADD, NULL, HERE), copy = one;
  xmp_request_wait(&one);
  if (guilty()) xmp_request_wait(&copy);
  xmp_sync_all(NULL);
}

/* ---- locks and atomics ------------------------------------------------------------------------------------ */

static xmp_coarray* make_lock(void) {
  const int64_t one[] = {1};
  return xmp_coarray_malloc(sizeof(xmp_lock_t), 1, one, "lock", HERE);
}
static void unlock_by_stranger(void) {
  xmp_coarray* const lock = make_lock();
  if (!guilty()) xmp_lock_at(lock, 0, lock->data, HERE);
  xmp_sync_all(NULL);
  if (guilty()) xmp_unlock_at(lock, 0, lock->data, HERE);
  xmp_sync_all(NULL);
}
static void unlock_unlocked(void) {
  xmp_coarray* const lock = make_lock();
  if (guilty()) xmp_unlock_at(lock, 0, lock->data, HERE);
}
static void lock_twice(void) {
  xmp_coarray* const lock = make_lock();
  if (guilty()) xmp_lock_at(lock, 0, lock->data, HERE);
  if (guilty()) xmp_lock_at(lock, 0, lock->data, HERE);
}
static void lock_held(void) {
  xmp_coarray* const lock = make_lock();
  if (!guilty()) xmp_lock_at(lock, 1, lock->data, HERE);
  xmp_sync_all(NULL);
  if (guilty()) xmp_lock_at(lock, 1, lock->data, HERE);
  xmp_sync_all(NULL);
}
static void lock_of_private(void) {
  static xmp_lock_t lock;
  if (guilty()) xmp_lock_at(NULL, 0, &lock, HERE);
}
static void atomic_of_two_bytes(void) {
  if (guilty()) xmp_atomic_fetch_add_at(table, 0, own, 2, 1, HERE);
}
static void atomic_unaligned(void) {
  if (guilty()) xmp_atomic_fetch_add_at(table, 0, &own[0][1], 8, 1, HERE);
}

/* ---- arithmetic ------------------------------------------------------------------------------------------- */

static void divide_by_zero(void) {
  const int zero = 0;
  if (guilty()) xmp_update_element(table, 0, own, XMP_INT32, &zero, XMP_INT32, XMP_DIV, HERE);
}
static void remainder_of_doubles(void) {
  const double two = 2;
  if (guilty()) xmp_update_element(table, 0, own, XMP_INT32, &two, XMP_DOUBLE, XMP_MOD, HERE);
}

/* ---- sets and collective calls ---------------------------------------------------------------------------- */

static void nodes_too_many(void) {
  xmp_nodes nodes = {.name = "p", .place = HERE, .dims = 1, .extent = {sms_nprocs + 3}};
  xmp_nodes_define(&nodes);
}
static void node_not_there(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference none = {&nodes, {{sms_nprocs, 1, 1}}};
  xmp_barrier_on(&none, HERE);
}
static void end_of_no_task(void) { xmp_task_end(); }
static void broadcast_from_outside(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference first = {&nodes, {{0, 1, 1}}}, last = {&nodes, {{sms_nprocs - 1, 1, 1}}};
  const xmp_section data = row(NULL, 0, spare, 10);
  xmp_bcast(&data, sizeof(int), &first, &last, HERE);
}
static void sync_or_reduce(void) {
  double sum = 1;
  if (guilty()) xmp_reduction(&sum, 1, XMP_DOUBLE, XMP_ADD, NULL, HERE);
  xmp_sync_all(NULL);
}

static void bcast_sizes(void) {
  const xmp_section data = row(NULL, 0, spare, guilty() ? 10 : 20);
  xmp_bcast(&data, sizeof(int), NULL, NULL, HERE);
}
static void bcast_sizes_large(void) {
  static int large[20000];
  const xmp_section data = row(NULL, 0, large, guilty() ? 19999 : 20000);
  xmp_bcast(&data, sizeof(int), NULL, NULL, HERE);
}
static void bcast_roots(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference from = {&nodes, {{guilty(), 1, 1}}};
  const xmp_section data = row(NULL, 0, spare, 10);
  xmp_bcast(&data, sizeof(int), &from, NULL, HERE);
  xmp_sync_all(NULL);
  xmp_bcast(&data, sizeof(int), NULL, NULL, HERE);
}
static void reduction_counts(void) {
  double sums[10] = {0};
  xmp_reduction(sums, guilty() ? 4 : 10, XMP_DOUBLE, XMP_ADD, NULL, HERE);
}
static void reduction_operators(void) {
  double sum = 1;
  xmp_reduction(&sum, 1, XMP_DOUBLE, guilty() ? XMP_ADD : XMP_MUL, NULL, HERE);
}
static void reduction_of_some(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference two = {&nodes, {{0, 2, 1}}};
  double sum = 1;
  if (guilty()) xmp_reduction(&sum, 1, XMP_DOUBLE, XMP_ADD, &two, HERE);
  else xmp_barrier_on(&two, HERE);
}
static void end_inside_task(void) {
  xmp_nodes nodes = {.name = "p", .dims = 1};
  xmp_nodes_define(&nodes);
  const xmp_node_reference first = {&nodes, {{0, 1, 1}}};
  if (xmp_task_begin(&first, HERE)) xmp_finalize();
}

/* ---- before and after ------------------------------------------------------------------------------------- */

static void before_sync(void) { xmp_sync_all(NULL); }
static void before_post(void) { xmp_post(0, 1, HERE); }
static void before_allocation(void) {
  const int64_t extent[] = {10};
  xmp_coarray_malloc(sizeof(int), 1, extent, "unborn", HERE);
}
static void before_read(void) {
  static xmp_coarray unborn = {.name = "unborn"};
  spare[0] = XMP_READ(&unborn, 0, spare[1], HERE);
}
static void after_sync(void) {
  xmp_finalize();
  xmp_sync_memory(NULL);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(image_too_large),
    CASE(image_negative),
    CASE(image_left_of_first),
    CASE(image_of_64_bits),
    CASE(image_of_task),
    CASE(coindex),
    CASE(coindex_negative),
    CASE(section_past),
    CASE(section_overflows),
    CASE(range_overflows),
    CASE(address_of_other),
    CASE(section_at_null),
    CASE(section_before),
    CASE(element_past),
    CASE(element_too_wide),
    CASE(range_past),
    CASE(range_backwards),
    CASE(range_no_step),
    CASE(own_part_past),
    CASE(own_part_twice),
    CASE(own_part_far_past),
    CASE(index_past),
    CASE(shapes),
    CASE(shapes_of_update),
    CASE(shapes_of_images),
    CASE(unequal_extent),
    CASE(unequal_element),
    CASE(no_elements),
    CASE(use_after_free),
    CASE(use_of_freed),
    CASE(free_twice),
    CASE(too_large),
    CASE(no_memory),
    CASE(allocate_twice),
    CASE(wait_never),
    CASE(wait_left_of_first),
    CASE(wait_wrong_tag),
    CASE(sync_image_alone),
    CASE(barrier_of_some),
    CASE(unlock_by_stranger),
    CASE(unlock_unlocked),
    CASE(lock_twice),
    CASE(lock_held),
    CASE(lock_of_private),
    CASE(atomic_of_two_bytes),
    CASE(atomic_unaligned),
    CASE(divide_by_zero),
    CASE(remainder_of_doubles),
    CASE(nodes_too_many),
    CASE(node_not_there),
    CASE(end_of_no_task),
    CASE(broadcast_from_outside),
    CASE(sync_or_reduce),
    CASE(bcast_sizes),
    CASE(bcast_sizes_large),
    CASE(bcast_roots),
    CASE(reduction_counts),
    CASE(reduction_operators),
    CASE(reduction_of_some),
    CASE(end_inside_task),
    CASE(before_sync),
    CASE(before_post),
    CASE(before_allocation),
    CASE(before_read),
    CASE(after_sync),
    CASE(async_unknown),
    CASE(async_test_unknown),
    CASE(async_never),
    CASE(async_gmove_never),
    CASE(request_twice),
    CASE(async_left)};

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(name, cases[i].name) != 0) continue;
    if (strncmp(name, "before", 6) != 0) {
      const int64_t extent[] = {ROWS, COLUMNS};
      xmp_init(&argc, &argv);
      table = xmp_coarray_malloc(sizeof(int), 2, extent, "table", HERE);
      own = table->data;
      xmp_sync_all(NULL);
    }
    cases[i].run();
    if (strncmp(name, "before", 6) == 0) return 0;
    xmp_sync_all(NULL);
    xmp_finalize();
    return 0;
  }
  fprintf(stderr, "no such case: %s\n", name);
  return 2;
}
