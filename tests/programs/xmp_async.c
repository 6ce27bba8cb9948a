/* The cases of xmp_images about what is started and waited for later: collective operations that go on while images do
 * something else, in any order that is allowed.
 */
#include "xmp_images.h"

enum { LARGE = 120000, SIZES = 5 };
static const int sizes[SIZES] = {1, 7, 400, 5000, LARGE};

static void wait_for(int64_t id) { xmp_wait_async(1, &id, NULL, PLACE); }

static xmp_request start_sum(double values[], int count) {
  return xmp_reduction_start(values, count, XMP_DOUBLE, XMP_ADD, NULL, PLACE);
}

static double sum_of_images(double each) {
  double sum = each;
  for (int image = 1; image < n; ++image) sum += image + each;
  return sum;
}

/* Of several sizes at once; before they are waited for, none has changed what it was given. */
void async_reductions(void) {
  static double values[SIZES][LARGE];
  double value = me;
  int where = me;
  for (int s = 0; s < SIZES; ++s) {
    for (int i = 0; i < sizes[s]; ++i) values[s][i] = me + 0.25 * i;
    xmp_async(s % 2, start_sum(values[s], sizes[s]), "reduction", PLACE);
  }
  const xmp_location location = {&where, sizeof where};
  xmp_request last = xmp_reduction_locate_start(&value, 1, XMP_DOUBLE, XMP_LASTMAX, &location, 1, NULL, PLACE);
  EXPECT(values[4][0], me);
  xmp_request_wait(&last);
  EXPECT(value, n - 1);
  EXPECT(where, n - 1);
  for (int id = 1; id >= 0; --id) {
    wait_for(id);
    EXPECT(xmp_test_async(id), 1);
    for (int s = id; s < SIZES; s += 2)
      for (int i = 0; i < sizes[s]; ++i) EXPECT(values[s][i], sum_of_images(0.25 * i));
  }
}

/* From every image at once, sections too, and waited for in another order. Blocking operations stand between. */
void async_broadcasts(void) {
  enum { MOST = 30000 };
  int(*const values)[MOST] = malloc((size_t)n * sizeof *values);
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  for (int size = 1; size <= MOST; size *= 31) {
    for (int root = 0; root < n; ++root) {
      for (int i = 0; i < size; ++i) values[root][i] = me == root ? i * 3 + root : -1;
      const xmp_section data = row(NULL, 0, values[root], (size + 1) / 2, 2 * sizeof(int));
      const xmp_node_reference from = {&line, {{root, 1, 1}}};
      xmp_async(100 + root, xmp_bcast_start(&data, sizeof(int), &from, NULL, PLACE), "bcast", PLACE);
      double one = 1;
      xmp_reduction(&one, 1, XMP_DOUBLE, XMP_ADD, NULL, PLACE);
      EXPECT(one, n);
    }
    for (int root = n - 1; root >= 0; --root) {
      while (root % 2 == 0 && !xmp_test_async(100 + root)) {
      }
      wait_for(100 + root);
      for (int i = 0; i < size; ++i) EXPECT(values[root][i], me == root || i % 2 == 0 ? i * 3 + root : -1);
    }
  }
  free(values);
}

/* Images that are in a barrier, or wait for a post, pass on what others wait for. */
void async_passing_on(void) {
  for (int round = 0; round < 5; ++round) {
    double values[400];
    for (int i = 0; i < 400; ++i) values[i] = me + i;
    xmp_async(7, start_sum(values, 400), "reduction", PLACE);
    if (me == n - 1) wait_for(7);
    if (me == n - 1)
      for (int image = 0; image < n; ++image) xmp_post(image, round, PLACE);
    if (round % 2 == 0) xmp_sync_all(NULL);
    xmp_wait(n - 1, round, PLACE);
    wait_for(7);
    EXPECT(values[399], sum_of_images(399));
    xmp_sync_all(NULL);
  }
}

/* More at once than any inbox holds, between images that all pass them on: nobody waits for room for ever. */
void async_many(void) {
  enum { MANY = 1500, EACH = 300 };
  double(*const values)[EACH] = malloc(MANY * sizeof *values);
  for (int k = 0; k < MANY; ++k)
    for (int i = 0; i < EACH; ++i) values[k][i] = me + k + i;
  for (int k = 0; k < MANY; ++k) xmp_async(k % 3, start_sum(values[k], EACH), "reduction", PLACE);
  xmp_wait_async(3, (const int64_t[]){2, 0, 1}, NULL, PLACE);
  for (int k = 0; k < MANY; ++k) EXPECT(values[k][EACH - 1], sum_of_images(k + EACH - 1));
  free(values);
}

/* Some images only; the others know the number all the same. */
void async_of_some(void) {
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  const xmp_node_reference some = {&line, {{n / 2, XMP_REST, 1}}};
  double value = 1;
  xmp_async(3, xmp_reduction_start(&value, 1, XMP_DOUBLE, XMP_ADD, &some, PLACE), "reduction", PLACE);
  wait_for(3);
  EXPECT(value, me < n / 2 ? 1 : n - n / 2);
  double inner = 1;
  if (xmp_task_begin(&some, PLACE)) {
    xmp_async(4, start_sum(&inner, 1), "reduction", PLACE);
    xmp_task_end();
  }
  xmp_wait_async(me < n / 2 ? 0 : 1, (const int64_t[]){4}, &some, PLACE);
  EXPECT(inner, me < n / 2 ? 1 : n - n / 2);
}

/* In place, so each must have read before anybody writes; two under way, waited for in different orders. */
void async_gmoves(void) {
  const int right = (me + 1) % n;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < N; ++i) i_own[i] = 1000 * me + i + round, r_own[i] = me + i;
    const xmp_section i_to = row(ints, me, i_own, N, sizeof(int)), i_from = row(ints, right, i_own, N, sizeof(int));
    const xmp_section r_to = row(reals, right, r_own, N / 2, 2 * sizeof(double));
    const xmp_section r_from = row(NULL, 0, &r_own[1], N / 2, 2 * sizeof(double));
    xmp_async(1, xmp_gmove_start(XMP_GMOVE, &i_to, &i_from, sizeof(int), PLACE), "gmove", PLACE);
    xmp_async(2, xmp_gmove_start(XMP_GMOVE, &r_to, &r_from, sizeof(double), PLACE), "gmove", PLACE);
    const int first = round % 4 == 0 ? 1 : 1 + me % 2;
    if (round % 3 == 0)
      while (!xmp_test_async(first)) {
      }
    wait_for(first);
    if (round % 2 == 0 && me == 0) /* these wait for a post, and the moves go on meanwhile */
      for (int image = 1; image < n; ++image) xmp_post(image, round, PLACE);
    if (round % 2 == 0 && me > 0) xmp_wait(0, round, PLACE);
    wait_for(3 - first);
    for (int i = 0; i < N; ++i) EXPECT(i_own[i], 1000 * right + i + round);
    for (int i = 0; i < N; ++i) EXPECT(r_own[i], i % 2 == 0 ? (me + n - 1) % n + i + 1 : me + i);
    xmp_sync_all(NULL);
  }
}

/* What goes on in a task means the images that it was started with. */
void async_before_task(void) {
  const int right = (me + 1) % n;
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  const xmp_node_reference half = {&line, {{n / 2, XMP_REST, 1}}};
  double values[400];
  for (int i = 0; i < N; ++i) i_own[i] = 1000 * me + i;
  const xmp_section to = row(ints, me, i_own, N, sizeof(int)), from = row(ints, right, i_own, N, sizeof(int));
  xmp_async(1, xmp_gmove_start(XMP_GMOVE, &to, &from, sizeof(int), PLACE), "gmove", PLACE);
  if (xmp_task_begin(&half, PLACE)) {
    for (int round = 0; round < 100; ++round) {
      for (int i = 0; i < 400; ++i) values[i] = 1;
      xmp_reduction(values, 400, XMP_DOUBLE, XMP_ADD, NULL, PLACE);
      EXPECT(values[399], n - n / 2);
      xmp_test_async(1);
    }
    xmp_task_end();
  }
  wait_for(1);
  for (int i = 0; i < N; ++i) EXPECT(i_own[i], 1000 * right + i);
}

static void* post_rounds(void* slot) {
  const int right = (me + 1) % n, tag = *(const int*)slot;
  for (int round = 0; round < 200; ++round) {
    xmp_post(right, tag, PLACE);
    xmp_wait(XMP_ANY_IMAGE, tag, PLACE);
  }
  return NULL;
}

/* Threads that wait for posts carry on what this one has started. */
void async_and_threads(void) {
  enum { WAITING = 3, ROUNDS = 20 };
  pthread_t running[WAITING];
  int slots[WAITING];
  for (int t = 0; t < WAITING; ++t) {
    slots[t] = 50 + t;
    if (pthread_create(&running[t], NULL, post_rounds, &slots[t]) != 0) fail("no thread");
  }
  const int right = (me + 1) % n;
  for (int round = 0; round < ROUNDS; ++round) {
    double values[400];
    for (int i = 0; i < 400; ++i) values[i] = me + i;
    for (int i = 0; i < N; ++i) i_own[i] = 1000 * me + i + round;
    const xmp_section to = row(ints, me, i_own, N, sizeof(int)), from = row(ints, right, i_own, N, sizeof(int));
    xmp_async(1, xmp_gmove_start(XMP_GMOVE, &to, &from, sizeof(int), PLACE), "gmove", PLACE);
    xmp_async(2, start_sum(values, 400), "reduction", PLACE);
    xmp_wait_async(2, (const int64_t[]){2, 1}, NULL, PLACE);
    EXPECT(values[399], sum_of_images(399));
    for (int i = 0; i < N; ++i) EXPECT(i_own[i], 1000 * right + i + round);
  }
  for (int t = 0; t < WAITING; ++t) pthread_join(running[t], NULL);
}

void async_in_and_out(void) {
  enum { BIG = 300000 };
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  const int64_t extent[] = {2, BIG};
  xmp_coarray* const large = xmp_coarray_malloc(sizeof(double), 2, extent, "large", PLACE);
  double(*const own)[BIG] = large->data;
  double* const here = malloc(BIG * sizeof(double));
  int got[64][3];
  for (int i = 0; i < BIG; ++i) own[0][i] = me + i, here[i] = 2 * me + i;
  for (int i = 0; i < 3; ++i) i_own[i] = 10 * me + i;
  xmp_sync_all(NULL);
  const xmp_section out = row(large, right, own[1], BIG, sizeof(double));
  const xmp_section from = row(NULL, 0, here, BIG, sizeof(double));
  const xmp_section each = {ints, XMP_EACH_IMAGE, i_own, 2, {XMP_REST, 3}, {0, sizeof(int)}};
  const xmp_section all = {NULL, 0, got, 2, {n, 3}, {sizeof got[0], sizeof(int)}};
  xmp_async(1, xmp_gmove_start(XMP_GMOVE_OUT, &out, &from, sizeof(double), PLACE), "gmove", PLACE);
  xmp_async(1, xmp_gmove_start(XMP_GMOVE_IN, &all, &each, sizeof(int), PLACE), "gmove", PLACE);
  wait_for(1);
  xmp_post(right, 0, PLACE);
  for (int image = 0; image < n; ++image) EXPECT(got[image][2], 10 * image + 2);
  xmp_wait(left, 0, PLACE);
  for (int i = 0; i < BIG; ++i) EXPECT(own[1][i], 2 * left + i);
  const xmp_section in = row(large, left, own[0], BIG, sizeof(double));
  xmp_async(2, xmp_gmove_start(XMP_GMOVE_IN, &from, &in, sizeof(double), PLACE), "gmove", PLACE);
  while (!xmp_test_async(2)) {
  }
  for (int i = 0; i < BIG; ++i) EXPECT(here[i], left + i);
  xmp_sync_all(NULL);
  free(here);
  xmp_free(large);
}
