/* The cases of xmp_images that compute: compound assignments, reductions; and what moves data to all. */
#include "xmp_images.h"

#include <math.h>

static void* add_everywhere(void* unused) {
  double ones[N];
  (void)unused;
  for (int i = 0; i < N; ++i) ones[i] = 1;
  for (int round = 0; round < 20; ++round)
    for (int image = 0; image < n; ++image) {
      const xmp_section all = row(reals, image, r_own, N, sizeof(double)), from = row(NULL, 0, ones, N, sizeof(double));
      xmp_update(&all, XMP_DOUBLE, &from, XMP_DOUBLE, XMP_ADD, PLACE);
      const xmp_section odd = row(reals, image, r_own + N - 1, N / 2, -2 * (int64_t)sizeof(double));
      const xmp_section one = {NULL, 0, ones, 0, {0}, {0}};
      xmp_update(&odd, XMP_DOUBLE, &one, XMP_DOUBLE, XMP_ADD, PLACE);
      xmp_update_element(ints, image, &i_own[20], XMP_INT32, &(double){1.25}, XMP_DOUBLE, XMP_ADD, PLACE);
    }
  return NULL;
}

void accumulates(void) {
  add_everywhere(NULL);
  in_threads(add_everywhere, NULL);
  xmp_sync_all(NULL);
  const int adders = 20 * n * (THREADS + 1);
  for (int i = 0; i < N; ++i) EXPECT(r_own[i], i % 2 == 1 ? 2 * adders : adders);
  EXPECT(i_own[20], adders); /* 1.25 each time, cut off */
}

enum { LARGE = 120000 };
static void* add_much(void* argument) {
  xmp_coarray* const large = argument;
  double* const own = large->data;
  double* const values = malloc(LARGE * sizeof(double));
  for (int i = 0; i < LARGE; ++i) values[i] = i;
  for (int image = 0; image < n; ++image) {
    const xmp_section all = row(large, image, own, LARGE, sizeof(double));
    const xmp_section from = row(NULL, 0, values, LARGE, sizeof(double));
    xmp_update(&all, XMP_DOUBLE, &from, XMP_DOUBLE, XMP_ADD, PLACE);
    /* Every other one, backwards on this side. */
    const xmp_section even = row(large, image, own, LARGE / 2, 2 * sizeof(double));
    const xmp_section back = row(NULL, 0, values + LARGE - 1, LARGE / 2, -(int64_t)sizeof(double));
    xmp_update(&even, XMP_DOUBLE, &back, XMP_DOUBLE, XMP_SUB, PLACE);
    for (int i = 0; i < 10; ++i) values[i] += 0; /* may be changed at once */
  }
  free(values);
  return NULL;
}

void large_accumulates(void) {
  const int64_t extent[] = {LARGE};
  xmp_coarray* const large = xmp_coarray_malloc(sizeof(double), 1, extent, "large", PLACE);
  const double* const own = large->data;
  add_much(large);
  in_threads(add_much, large);
  xmp_sync_all(NULL);
  const int adders = n * (THREADS + 1);
  for (int i = 0; i < LARGE; ++i) EXPECT(own[i], (double)adders * (i % 2 == 0 ? i - (LARGE - 1 - i / 2) : i));
  xmp_free(large);
}

void types(void) {
  const int right = (me + 1) % n;
  signed char* const c = (signed char*)i_own;
  float* const f = (float*)&i_own[10];
  float _Complex* const z = (float _Complex*)&i_own[20];
  c[0] = -100, c[1] = 7, f[0] = 1.5f, *z = 1 + 2 * __extension__ 1.0fi;
  xmp_sync_all(NULL);
  xmp_update_element(ints, right, &c[0], XMP_INT8, &(int){-100}, XMP_INT32, XMP_ADD, PLACE);
  xmp_update_element(ints, right, &c[1], XMP_INT8, &(int){1}, XMP_INT32, XMP_SHL, PLACE);
  xmp_update_element(ints, right, &f[0], XMP_FLOAT, &(long double){0.25L}, XMP_LONG_DOUBLE, XMP_DIV, PLACE);
  const double _Complex by = __extension__ 1.0i;
  xmp_update_element(ints, right, z, XMP_COMPLEX_FLOAT, &by, XMP_COMPLEX_DOUBLE, XMP_MUL, PLACE);
  xmp_sync_all(NULL);
  EXPECT(c[0], (signed char)-200);
  EXPECT(c[1], 14);
  EXPECT(f[0], 6);
  EXPECT(__real__ * z, -2);
  EXPECT(__imag__ * z, 1);
}

void reductions(void) {
  static double values[LARGE];
  static const int sizes[] = {1, 7, 400, 5000, LARGE};
  for (int s = 0; s < 5; ++s) {
    for (int i = 0; i < sizes[s]; ++i) values[i] = me + 0.25 * i;
    xmp_reduction(values, sizes[s], XMP_DOUBLE, XMP_ADD, NULL, PLACE);
    for (int i = 0; i < sizes[s]; ++i) {
      double want = 0.25 * i;
      for (int image = 1; image < n; ++image) want += image + 0.25 * i;
      EXPECT(values[i], want);
    }
    for (int i = 0; i < sizes[s]; ++i) values[i] = (me * 7 + i) % 5;
    xmp_reduction(values, sizes[s], XMP_DOUBLE, XMP_MAX, NULL, PLACE);
    for (int i = 0; i < sizes[s]; ++i) {
      double want = 0;
      for (int image = 0; image < n; ++image) want = (image * 7 + i) % 5 > want ? (image * 7 + i) % 5 : want;
      EXPECT(values[i], want);
    }
  }
  for (int who = 0; who < n; ++who) { /* a NaN of any image is the extreme of all, and is located */
    double all[2] = {me == who ? NAN : me, me == who ? NAN : me}, first[1] = {all[0]};
    int where[1] = {me};
    xmp_reduction(&all[0], 1, XMP_DOUBLE, XMP_MAX, NULL, PLACE);
    xmp_reduction(&all[1], 1, XMP_DOUBLE, XMP_MIN, NULL, PLACE);
    xmp_reduction_locate(first, 1, XMP_DOUBLE, XMP_FIRSTMAX, (xmp_location[]){{where, sizeof(int)}}, 1, NULL, PLACE);
    EXPECT(!isnan(all[0]) + !isnan(all[1]) + !isnan(first[0]), 0);
    EXPECT(where[0], who);
    r_own[0] = 3;
    xmp_sync_all(NULL);
    if (me == who)
      xmp_update_element(reals, (me + 1) % n, r_own, XMP_DOUBLE, &(double){NAN}, XMP_DOUBLE, XMP_MAX, PLACE);
    xmp_sync_all(NULL);
    EXPECT(isnan(r_own[0]) != 0, me == (who + 1) % n);
    xmp_sync_all(NULL);
  }
  int32_t bits = 1 << me;
  xmp_reduction(&bits, 1, XMP_INT32, XMP_BITOR, NULL, PLACE);
  EXPECT(bits, (1 << n) - 1);
  int16_t all = (int16_t)(me != 0);
  xmp_reduction(&all, 1, XMP_INT16, XMP_AND, NULL, PLACE);
  EXPECT(all, 0);
  const enum xmp_operator ops[] = {XMP_FIRSTMAX, XMP_LASTMAX, XMP_FIRSTMIN, XMP_LASTMIN};
  for (int k = 0; k < 4; ++k) {
    double value[2] = {me == 0 ? 1 : 5, -me}; /* the extremes are at several images, and at one */
    int where[2] = {me, me};
    long there[2] = {10 * me, 20 * me};
    xmp_reduction_locate(value, 2, XMP_DOUBLE, ops[k], (xmp_location[]){{where, sizeof(int)}, {there, sizeof(long)}}, 2,
                         NULL, PLACE);
    const int max = k < 2, last = k % 2;
    const int first_five = n > 1 ? 1 : 0;
    EXPECT(where[0], max ? (last ? n - 1 : first_five) : 0);
    EXPECT(where[1], max ? 0 : n - 1);
    EXPECT(there[1], 20 * where[1]);
    EXPECT(value[1], -where[1]);
  }
}

void broadcasts(void) {
  enum { MOST = 300000 };
  static int values[MOST];
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  for (int root = 0; root < n; ++root)
    for (int size = 1; size <= MOST; size *= 67) {
      for (int i = 0; i < size; ++i) values[i] = me == root ? i * 3 + root : -1;
      const xmp_section data = row(NULL, 0, values, size, sizeof(int));
      const xmp_node_reference from = {&line, {{root, 1, 1}}};
      xmp_bcast(&data, sizeof(int), &from, NULL, PLACE);
      for (int i = 0; i < size; ++i) EXPECT(values[i], i * 3 + root);
    }
  for (int i = 0; i < 100; ++i) values[i] = me == 0 ? i : -1;
  const xmp_section even = row(NULL, 0, values, 50, 2 * sizeof(int));
  xmp_bcast(&even, sizeof(int), NULL, NULL, PLACE);
  for (int i = 0; i < 100; ++i) EXPECT(values[i], me == 0 || i % 2 == 0 ? i : -1);
}

void gmoves(void) {
  int got[64][3];
  for (int i = 0; i < 3; ++i) i_own[i] = 10 * me + i;
  const xmp_section each = {ints, XMP_EACH_IMAGE, i_own, 2, {XMP_REST, 3}, {0, sizeof(int)}};
  const xmp_section all = {NULL, 0, got, 2, {n, 3}, {sizeof got[0], sizeof(int)}};
  xmp_gmove(XMP_GMOVE, &all, &each, sizeof(int), PLACE);
  for (int image = 0; image < n; ++image)
    for (int i = 0; i < 3; ++i) EXPECT(got[image][i], 10 * image + i);
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  const xmp_section out = row(ints, right, &i_own[100], 3, sizeof(int)), own = row(NULL, 0, i_own, 3, sizeof(int));
  xmp_gmove(XMP_GMOVE_OUT, &out, &own, sizeof(int), PLACE);
  xmp_sync_all(NULL);
  EXPECT(i_own[102], 10 * left + 2);
  xmp_section in = row(ints, left, &i_own[0], 3, sizeof(int));
  const xmp_section here = row(NULL, 0, got, 3, sizeof(int));
  xmp_gmove(XMP_GMOVE_IN, &here, &in, sizeof(int), PLACE);
  EXPECT(got[0][1], 10 * left + 1);
}
