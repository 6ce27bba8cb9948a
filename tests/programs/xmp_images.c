/* Images in every combination: synchronisation, posts, locks, atomics, node arrays, tasks, reductions, broadcasts,
 * gmove, accumulates by many threads; what is started and waited for later. Each case says what went wrong and ends the
 * job.
 *
 *   xmp_images [CASE...]     without any: all of them
 */
#include "xmp_images.h"

int n, me;
xmp_coarray *ints, *reals;
int* i_own;
double* r_own;

static void clear(void) {
  xmp_sync_all(NULL);
  memset(i_own, 0, N * sizeof(int));
  memset(r_own, 0, N * sizeof(double));
  xmp_sync_all(NULL);
}

static void numbers(void) {
  EXPECT(xmp_num_images(), n);
  EXPECT(xmp_num_nodes(), n);
  EXPECT(xmp_all_num_nodes(), n);
  EXPECT(xmp_node_num(), me + 1);
  EXPECT(xmp_all_node_num(), me + 1);
  EXPECT(xmpc_node_num(), me);
  EXPECT(xmpc_this_image(), me);
  const double before = xmp_wtime();
  while (xmp_wtime() == before) {
  }
  EXPECT(xmp_wtick() > 0 && xmp_wtick() < 1e-3, 1);
}

static void elements(void) {
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  XMP_WRITE(ints, right, i_own[3], 100 + me, PLACE);
  XMP_WRITE(reals, right, r_own[N - 1], 0.5 + me, PLACE);
  xmp_sync_all(NULL);
  EXPECT(i_own[3], 100 + left);
  EXPECT(r_own[N - 1], 0.5 + left);
  EXPECT(XMP_READ(ints, right, i_own[3], PLACE) + 1, 101 + me);
  xmp_sync_all(NULL);
  const int value = 2;
  xmp_update_element(ints, right, &i_own[3], XMP_INT32, &value, XMP_INT32, XMP_MUL, PLACE);
  xmp_sync_all(NULL);
  EXPECT(i_own[3], 2 * (100 + left));
}

/* A value travels around all images, each waiting for the one before only. */
static void pairs(void) {
  for (int round = 0; round < 50; ++round) {
    if (me == 0) i_own[0] = round;
    if (me > 0) xmp_sync_image(me - 1, NULL);
    if (me + 1 < n) {
      XMP_WRITE(ints, me + 1, i_own[0], i_own[0] + 1, PLACE);
      xmp_sync_image(me + 1, NULL);
    }
    EXPECT(i_own[0], round + me);
    xmp_sync_images_all(NULL);
  }
}

/* What was put before the post is there after the wait; with tags, senders and wildcards, out of order. */
static void posts(void) {
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  for (int round = 0; round < 100; ++round) {
    const xmp_section to = row(ints, right, i_own, N, sizeof(int));
    const int value = round * 1000 + me;
    xmp_fill(&to, &value, sizeof(int), PLACE);
    xmp_post(right, round, PLACE);
    EXPECT(xmp_wait(left, round, PLACE), left);
    for (int i = 0; i < N; ++i) EXPECT(i_own[i], round * 1000 + left);
    xmp_sync_all(NULL);
  }
  for (int tag = 0; tag < 300; ++tag) xmp_post(right, tag, PLACE);
  for (int tag = 299; tag >= 150; --tag) EXPECT(xmp_wait(XMP_ANY_IMAGE, tag, PLACE), left);
  for (int k = 0; k < 75; ++k) EXPECT(xmp_wait(left, XMP_ANY_TAG, PLACE), left);
  for (int k = 0; k < 74; ++k) EXPECT(xmp_wait(XMP_ANY_IMAGE, XMP_ANY_TAG, PLACE), left);
  EXPECT(xmp_wait(left, 149, PLACE), left); /* the oldest went first */
}

/* What was written to a shared array of sms.h is there after the wait, and after the meeting, also if it was seen from
 * a third image. Copies of what was there before are here. */
static void posts_of_shared_arrays(void) {
  enum { PLACES = 8, APART = 700 };
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  int64_t* words = sms_alloc(sizeof *words, (size_t)(PLACES * APART), n - 1);
  for (int round = 1; round <= 40; ++round) {
    const int first = round % n == me, last = round % n == right;
    if (first) {
      for (int k = 0; k < PLACES; ++k) words[k * APART] = round + k;
    } else if (round % 2 == 0) {
      xmp_sync_image(left, NULL);
    } else {
      EXPECT(xmp_wait(left, round, PLACE), left);
    }
    for (int k = 0; k < PLACES; ++k) EXPECT((int)words[k * APART], round + k);
    if (!last && round % 2 == 0) xmp_sync_image(right, NULL);
    else if (!last) xmp_post(right, round, PLACE);
    xmp_sync_all(NULL);
    for (int k = 0; k < PLACES; ++k) EXPECT((int)words[k * APART], round + k);
    xmp_sync_all(NULL);
  }
}

/* The same under a lock of a coarray, and by way of other holders: each adds to words on pages that all have copies of.
 * The lock is with an image that is not the home of the words. */
static void locks_of_shared_arrays(void) {
  enum { PLACES = 4, APART = 700, TURNS = 50 };
  const int64_t two[] = {2};
  xmp_coarray* const locks = xmp_coarray_malloc(sizeof(xmp_lock_t), 1, two, "locks of words", PLACE);
  xmp_lock_t* const lock = &((xmp_lock_t*)locks->data)[1];
  int64_t* words = sms_alloc(sizeof *words, (size_t)(PLACES * APART), n - 1);
  for (int k = 0; k < PLACES; ++k) EXPECT((int)words[k * APART], 0);
  xmp_sync_all(NULL);
  for (int turn = 0; turn < TURNS; ++turn) {
    if (turn % 3 == 0) {
      while (!xmp_trylock_at(locks, 0, lock, PLACE)) continue;
    } else {
      xmp_lock_at(locks, 0, lock, PLACE);
    }
    for (int k = 1; k < PLACES; ++k) EXPECT((int)words[k * APART], (int)words[0]);
    for (int k = 0; k < PLACES; ++k) ++words[k * APART];
    xmp_unlock_at(locks, 0, lock, PLACE);
  }
  xmp_lock_at(locks, 0, lock, PLACE);
  const int mine = (int)words[0];
  xmp_unlock_at(locks, 0, lock, PLACE);
  EXPECT(mine >= TURNS, 1);
  xmp_sync_all(NULL);
  for (int k = 0; k < PLACES; ++k) EXPECT((int)words[k * APART], n * TURNS);
  xmp_sync_all(NULL);
  sms_free(words);
  xmp_free(locks);
}

/* A post, and the meeting of a pair, vouch for what was put to a third image, too, by whoever has it read there. */
static void puts_to_a_third(void) {
  const int right = (me + 1) % n, left = (me + n - 1) % n, third = (me + 2) % n;
  for (int round = 0; round < 60; ++round) {
    double got[N];
    const int length = round % 3 == 0 ? 1 : N;
    const double value = round * 1000 + me;
    const xmp_section there = row(reals, third, r_own, length, sizeof(double));
    const xmp_section to_right = row(ints, right, i_own, N, sizeof(int));
    const xmp_section of_left = row(reals, (left + 2) % n, r_own, length, sizeof(double));
    const xmp_section here = row(NULL, 0, got, length, sizeof(double));
    xmp_fill(&there, &value, sizeof(double), PLACE);
    if (round % 2 == 0) xmp_fill(&to_right, &me, sizeof(int), PLACE);
    if (n > 2 && round % 10 == 3) { /* the third is told, and who reads there learns it by an atomic */
      xmp_post(third, round, PLACE);
      xmp_atomic_define_at(ints, right, &i_own[13], sizeof(int), 1000 + round, PLACE);
      while (xmp_atomic_ref_at(ints, me, &i_own[13], sizeof(int), PLACE) != 1000 + round) xmp_sync_memory(NULL);
      xmp_wait(XMP_ANY_IMAGE, round, PLACE);
    } else if (n > 2 && round % 5 == 4) {
      const int both[] = {left, right};
      xmp_sync_images(2, both, NULL);
    } else {
      xmp_post(right, round, PLACE);
      xmp_wait(left, round, PLACE);
    }
    xmp_assign(&here, &of_left, sizeof(double), PLACE);
    for (int i = 0; i < length; ++i) EXPECT(got[i], round * 1000 + left);
    if (round % 2 == 0) EXPECT(i_own[round % N], left);
    xmp_sync_all(NULL);
  }
}

/* Far more posts than any buffer holds, to an image that is busy elsewhere. */
static void many_posts(void) {
  enum { MANY = 20000 };
  if (me == 0)
    for (int k = 0; k < MANY; ++k)
      for (int image = 0; image < n; ++image) xmp_post(image, k % 7, PLACE);
  for (int k = 0; k < MANY; ++k) EXPECT(xmp_wait(0, k % 7, PLACE), 0);
}

/* Of two puts with a barrier between them the second one stays, small or large, by whichever image. */
static void put_after_put(void) {
  static double values[N];
  for (int round = 0; round < 200; ++round)
    for (int turn = 0; turn < 2; ++turn) {
      const int length = round % 2 == 0 ? N : 1;
      for (int i = 0; i < length; ++i) values[i] = 2 * round + turn;
      const xmp_section to = row(reals, 0, r_own, length, sizeof(double));
      const xmp_section from = row(NULL, 0, values, length, sizeof(double));
      if (me == (round + turn) % n) xmp_assign(&to, &from, sizeof(double), PLACE);
      xmp_sync_all(NULL);
      EXPECT(XMP_READ(reals, 0, r_own[length - 1], PLACE), 2 * round + turn);
      xmp_sync_all(NULL);
    }
}

static void* move_rounds(void* slot) {
  const int right = (me + 1) % n, at = *(const int*)slot * 100;
  for (int round = 0; round < 200; ++round) {
    double sent[50], got[50];
    for (int i = 0; i < 50; ++i) sent[i] = round + 0.5 * i + at;
    const xmp_section there = row(reals, right, r_own + at, 50, 2 * sizeof(double));
    const xmp_section from = row(NULL, 0, sent, 50, sizeof(double)), to = row(NULL, 0, got, 50, sizeof(double));
    xmp_assign(&there, &from, sizeof(double), PLACE);
    xmp_sync_memory(NULL);
    xmp_request r = xmp_assign_start(&to, &there, sizeof(double), PLACE);
    xmp_post(right, at + 1000, PLACE);
    xmp_request_wait(&r);
    for (int i = 0; i < 50; ++i) EXPECT(got[i], sent[i]);
    xmp_wait(XMP_ANY_IMAGE, at + 1000, PLACE);
  }
  return NULL;
}

/* Puts, gets, posts and waits of several threads at once do not mix. */
static void threads(void) {
  enum { MOVERS = 4 };
  pthread_t running[MOVERS];
  int slots[MOVERS];
  for (int t = 0; t < MOVERS; ++t) {
    slots[t] = t;
    if (pthread_create(&running[t], NULL, move_rounds, &slots[t]) != 0) fail("no thread");
  }
  for (int t = 0; t < MOVERS; ++t) pthread_join(running[t], NULL);
}

static void* lock_rounds(void* argument) {
  xmp_coarray* const locks = argument;
  xmp_lock_t* const lock = &((xmp_lock_t*)locks->data)[1];
  for (int round = 0; round < 50; ++round) {
    const int image = round % n;
    xmp_lock_at(locks, image, lock, PLACE);
    const int seen = XMP_READ(ints, image, i_own[7], PLACE);
    XMP_WRITE(ints, image, i_own[7], seen + 1, PLACE);
    xmp_unlock_at(locks, image, lock, PLACE);
  }
  return NULL;
}

void in_threads(void* (*run)(void*), void* argument) {
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t)
    if (pthread_create(&threads[t], NULL, run, argument) != 0) fail("no thread");
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
}

static void locks(void) {
  const int64_t two[] = {2};
  xmp_coarray* const c = xmp_coarray_malloc(sizeof(xmp_lock_t), 1, two, "locks", PLACE);
  xmp_lock_t* const lock = c->data;
  lock_rounds(c);
  in_threads(lock_rounds, c);
  xmp_sync_all(NULL);
  int sum = 0;
  for (int image = 0; image < n; ++image) sum += XMP_READ(ints, image, i_own[7], PLACE);
  EXPECT(sum, 50 * (THREADS + 1) * n);
  xmp_sync_all(NULL);
  if (me == 0) {
    xmp_lock_at(c, n - 1, lock, PLACE);
    xmp_sync_all(NULL);
    xmp_sync_all(NULL);
    xmp_unlock_at(c, n - 1, lock, PLACE);
    xmp_sync_all(NULL);
  } else {
    xmp_sync_all(NULL);
    EXPECT(xmp_trylock_at(c, n - 1, lock, PLACE), 0);
    xmp_sync_all(NULL);
    xmp_sync_all(NULL);
  }
  if (me == 0) EXPECT(xmp_trylock_at(c, n - 1, lock, PLACE), 1);
  if (me == 0) xmp_unlock_at(c, n - 1, lock, PLACE);
  xmp_free(c);
}

static void atomics(void) {
  for (int k = 0; k < 100; ++k) xmp_atomic_fetch_add_at(ints, k % n, &i_own[11], sizeof(int), 1, PLACE);
  xmp_sync_all(NULL);
  int sum = 0;
  for (int image = 0; image < n; ++image) sum += (int)xmp_atomic_ref_at(ints, image, &i_own[11], sizeof(int), PLACE);
  EXPECT(sum, 100 * n);
  xmp_sync_all(NULL);
  if (me == 0) {
    xmp_atomic_define_at(ints, n - 1, &i_own[11], sizeof(int), -5, PLACE);
    EXPECT(xmp_atomic_ref_at(ints, n - 1, &i_own[11], sizeof(int), PLACE), -5);
    EXPECT(xmp_atomic_cas_at(ints, n - 1, &i_own[11], sizeof(int), 3, 4, PLACE), -5);
    EXPECT(xmp_atomic_cas_at(ints, n - 1, &i_own[11], sizeof(int), -5, 6, PLACE), -5);
  }
  /* A flag handed from image to image by spinning. */
  if (me > 0)
    for (int looks = 0; xmp_atomic_ref_at(ints, me, &i_own[12], sizeof(int), PLACE) != 1; ++looks)
      pause_between_looks(looks);
  if (me + 1 < n) xmp_atomic_define_at(ints, me + 1, &i_own[12], sizeof(int), 1, PLACE);
  xmp_sync_all(NULL);
  EXPECT(XMP_READ(ints, n - 1, i_own[11], PLACE), 6);
}

static void node_arrays(void) {
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  int size = 0, index = 0, rank = 0, ndims = 0;
  xmp_nodes_size(&line, 1, &size);
  xmp_nodes_index(&line, 1, &index);
  xmp_nodes_rank(&line, &rank);
  EXPECT(size, n);
  EXPECT(index, me + 1);
  EXPECT(rank, me + 1);
  EXPECT(xmp_nodes_size(&line, 2, &size), -1);
  if (n != 4) return;
  xmp_nodes c_order = {.name = "c_order", .dims = 2, .extent = {2, 0}};
  xmp_nodes f_order = {.name = "f_order", .dims = 2, .extent = {2, 0}, .first_fastest = 1};
  xmp_nodes_define(&c_order);
  xmp_nodes_define(&f_order);
  xmp_nodes_ndims(&c_order, &ndims);
  EXPECT(ndims, 2);
  const xmp_node_reference c_one = {&c_order, {{1, 1, 1}, {0, 1, 1}}}, f_one = {&f_order, {{1, 1, 1}, {0, 1, 1}}};
  EXPECT(xmp_image_at(&c_one, PLACE), 2);
  EXPECT(xmp_image_at(&f_one, PLACE), 1);
  const xmp_node_reference backwards = {&line, {{3, 2, -2}}}; /* 3 and 1 */
  xmp_nodes part = {.name = "part", .dims = 1, .of = &backwards};
  xmp_nodes_define(&part);
  EXPECT(part.images.count, 2);
  const xmp_node_reference second = {&part, {{1, 1, 1}}};
  EXPECT(xmp_image_at(&second, PLACE), 1);
  int first[1], last[1], step[1];
  xmp_desc_t of;
  EXPECT(xmp_nodes_equiv(&part, &of, first, last, step), 0);
  EXPECT(of == &line && first[0] == 4 && last[0] == 2 && step[0] == -2, 1);
  /* One reduction for each row. */
  int sum = me;
  const xmp_node_reference my_row = {&c_order, {{XMP_SELF, 1, 1}, {0, XMP_REST, 1}}};
  xmp_reduction(&sum, 1, XMP_INT32, XMP_ADD, &my_row, PLACE);
  EXPECT(sum, me / 2 == 0 ? 1 : 5);
}

/* Images count in the task; what it does does not touch the others. */
static void tasks(void) {
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  const int half = n / 2;
  if (half == 0) return;
  const xmp_node_reference low = {&line, {{0, half, 1}}}, high = {&line, {{half, XMP_REST, 1}}};
  for (int round = 0; round < 20; ++round) {
    int in = 0;
    if (xmp_task_begin(&low, PLACE)) {
      EXPECT(xmp_num_images(), half);
      EXPECT(xmpc_this_image(), me);
      in = 1;
    } else if (xmp_task_begin(&high, PLACE)) {
      EXPECT(xmp_num_images(), n - half);
      EXPECT(xmpc_this_image(), me - half);
      in = 1;
    }
    EXPECT(in, 1);
    const int members = xmp_num_images(), mine = xmpc_this_image(), next = (mine + 1) % members;
    XMP_WRITE(ints, next, i_own[1], round * 100 + mine, PLACE);
    xmp_barrier();
    EXPECT(i_own[1], round * 100 + (mine + members - 1) % members);
    double sum = 1;
    xmp_reduction(&sum, 1, XMP_DOUBLE, XMP_ADD, NULL, PLACE);
    EXPECT(sum, members);
    xmp_sync_images_all(NULL);
    if (mine == 0) xmp_post(members - 1, round, PLACE);
    if (mine == members - 1) EXPECT(xmp_wait(0, round, PLACE), 0);
    xmp_task_end();
    EXPECT(xmp_num_images(), n);
  }
  const xmp_node_reference last = {&line, {{n - 1, 1, 1}}};
  xmp_barrier_on(&high, PLACE);
  if (xmp_task_begin(&last, PLACE)) {
    EXPECT(xmp_num_images(), 1);
    xmp_barrier();
    xmp_task_end();
  }
}

/* First values, image indices of a node array, and coindices in Fortran's order. */
static void declared(void) {
  static const int first[4] = {2, 3, 5, 7};
  xmp_nodes line = {.name = "line", .dims = 1}, back = {.name = "back", .dims = 1};
  xmp_nodes_define(&line);
  const xmp_node_reference reversed = {&line, {{n - 1, n, -1}}};
  back.of = &reversed;
  xmp_nodes_define(&back);
  xmp_coarray c = {.name = "c",
                   .place = PLACE,
                   .element = sizeof(int),
                   .dims = 1,
                   .codims = 2,
                   .extent = {4},
                   .coextent = {2, 0},
                   .on = &back};
  int* const own = xmp_coarray_allocate(&c, first);
  EXPECT(XMP_READ(&c, n - 1, own[2], PLACE), 5);
  own[0] = me;
  xmp_sync_all(NULL);
  EXPECT(XMP_READ(&c, 0, own[0], PLACE), n - 1);
  EXPECT(xmp_coindex(&c, 2, (int64_t[]){1, 0}, PLACE), 1);
  EXPECT(xmp_coindex(&c, 2, (int64_t[]){0, 1}, PLACE), 2);
  xmp_sync_all(NULL);
  xmp_free(&c);
  xmp_coarray y = {.name = "y", .element = sizeof(double), .codims = 1};
  double* const grown = xmp_malloc(&y, 30, 10);
  int size = 0;
  xmp_array_gsize(&y, 1, &size);
  EXPECT(size, 30);
  grown[299] = me;
  xmp_sync_all(NULL);
  EXPECT(XMP_READ(&y, n - 1, grown[299], PLACE), n - 1);
  xmp_free(&y);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"numbers", numbers},
             {"elements", elements},
             {"pairs", pairs},
             {"posts", posts},
             {"posts_of_shared_arrays", posts_of_shared_arrays},
             {"locks_of_shared_arrays", locks_of_shared_arrays},
             {"puts_to_a_third", puts_to_a_third},
             {"many_posts", many_posts},
             {"put_after_put", put_after_put},
             {"threads", threads},
             {"locks", locks},
             {"atomics", atomics},
             {"accumulates", accumulates},
             {"large_accumulates", large_accumulates},
             {"types", types},
             {"node_arrays", node_arrays},
             {"tasks", tasks},
             {"reductions", reductions},
             {"broadcasts", broadcasts},
             {"gmoves", gmoves},
             {"async_reductions", async_reductions},
             {"async_broadcasts", async_broadcasts},
             {"async_passing_on", async_passing_on},
             {"async_many", async_many},
             {"async_of_some", async_of_some},
             {"async_gmoves", async_gmoves},
             {"async_before_task", async_before_task},
             {"async_and_threads", async_and_threads},
             {"async_in_and_out", async_in_and_out},
             {"teams_of_lines", teams_of_lines},
             {"teams_of_grids", teams_of_grids},
             {"teams_in_tasks", teams_in_tasks},
             {"declared", declared}};

int main(int argc, char** argv) {
  xmp_start(&argc, &argv);
  n = xmp_num_images(), me = xmpc_this_image();
  const int64_t extent[] = {N};
  ints = xmp_coarray_malloc(sizeof(int), 1, extent, "ints", PLACE);
  reals = xmp_coarray_malloc(sizeof(double), 1, extent, "reals", PLACE);
  i_own = ints->data, r_own = reals->data;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    int wanted = argc == 1;
    for (int a = 1; a < argc; ++a) wanted |= strcmp(argv[a], cases[c].name) == 0;
    if (!wanted) continue;
    clear();
    const double begun = xmp_wtime();
    cases[c].run();
    xmp_sync_all(NULL);
    if (me == 0) printf("%s: %.3f s\n", cases[c].name, xmp_wtime() - begun);
  }
  return 0;
}
