/* Sections on devices, in programs of any number of ranks and nodes: values come back bit by bit, whatever the devices
 * do meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_kernels.h"
#include "sms.h"

enum { ROWS = 96, COLUMNS = 256 };
typedef double Matrix[COLUMNS];

static void expect(double value, double right, const char* what, int64_t i) {
  if (value == right) return;
  printf("rank %d: %s: element %lld is %g, not %g\n", sms_rank, what, (long long)i, value, right);
  exit(1);
}

static void launch_scale(hiroba_stream s, const hiroba_section* section, int64_t count, double factor) {
  const Factor a = {count, factor};
  const hiroba_access use = {HIROBA_INOUT, NULL, *section, 0, 0};
  hiroba_device_launch(&scale_kernel, s, &use, 1, &a, sizeof a);
}

static hiroba_section rows_of(Matrix* m, int first, int rows) {
  return hiroba_bytes(m[first], (size_t)rows * sizeof(Matrix));
}
static hiroba_section box_of(Matrix* m, int row, int rows, int column, int columns) {
  hiroba_section s = hiroba_bytes(&m[row][column], (size_t)columns * sizeof(double));
  s.dims = 1, s.count[0] = rows, s.stride[0] = sizeof(Matrix);
  return s;
}

static Matrix* filled(void) {
  const int dim[] = {ROWS, COLUMNS, -1}, div[] = {sms_nprocs, 1, -1};
  Matrix* m = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  for (int i = sms_rank; i < ROWS; i += sms_nprocs)
    for (int j = 0; j < COLUMNS; ++j) m[i][j] = i * 1000 + j;
  sms_barrier();
  return m;
}

/* ---- cases ---------------------------------------------------------------------------------------------------- */

/* Each rank works on rows of the others, too; all in its own order. */
static void rows(hiroba_stream s) {
  Matrix* m = filled();
  const int each = ROWS / sms_nprocs, mine = (sms_rank + 1) % sms_nprocs;
  const hiroba_section section = rows_of(m, mine * each, each);
  hiroba_device_preload(&section, s, NULL);
  launch_scale(s, &section, (int64_t)each * COLUMNS, 2);
  hiroba_request done;
  hiroba_device_overload(&section, s, &done);
  hiroba_wait(&done);
  sms_barrier();
  for (int i = 0; i < each * sms_nprocs; ++i)
    for (int j = 0; j < COLUMNS; ++j) expect(m[i][j], 2.0 * (i * 1000 + j), "rows", i);
  sms_free(m);
}

/* A box of a matrix is contiguous on the device; a box within it is a part of that. */
static void boxes(hiroba_stream s) {
  Matrix* m = filled();
  const hiroba_section box = box_of(m, 8, 40, 16, 100), inner = box_of(m, 10, 20, 20, 64);
  double sum = 0;
  if (sms_rank == sms_nprocs - 1) {
    hiroba_request done;
    hiroba_device_preload(&box, s, NULL);
    launch_scale(s, &box, 40 * 100, 3);
    hiroba_device_overload(&inner, s, &done);
    hiroba_wait(&done);
    hiroba_device_drop(&box, s);
  }
  sms_barrier();
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) {
      const int inside = i >= 10 && i < 30 && j >= 20 && j < 84;
      expect(m[i][j], (inside ? 3.0 : 1.0) * (i * 1000 + j), "boxes", (int64_t)i * COLUMNS + j);
      sum += m[i][j];
    }
  (void)sum;
  sms_free(m);
}

/* Unwritten data stays: a second preload moves nothing; one row that was written moves alone. */
static void stays(hiroba_stream s) {
  Matrix* m = filled();
  const hiroba_section all = rows_of(m, 0, ROWS);
  double* const copy = calloc(ROWS * COLUMNS, sizeof(double));
  const hiroba_section out = hiroba_bytes(copy, ROWS * sizeof(Matrix));
  for (int round = 0; round < 6; ++round) {
    if (round % 2 == 1 && sms_rank == round % sms_nprocs) m[round * 7][3] = -round;
    sms_barrier();
    const hiroba_access uses[2] = {{HIROBA_IN, NULL, all, 0, 0}, {HIROBA_OUT, NULL, out, 0, 0}};
    const Factor one = {(int64_t)ROWS * COLUMNS, round};
    hiroba_device_preload(&all, s, NULL);
    hiroba_device_launch(&add_kernel, s, uses, 2, &one, sizeof one);
    hiroba_device_overload(&out, s, NULL);
    hiroba_stream_wait(s);
    for (int64_t i = 0; i < ROWS * COLUMNS; ++i) expect(copy[i], m[i / COLUMNS][i % COLUMNS] + round, "stays", i);
    sms_barrier();
  }
  hiroba_device_drop(&out, s);
  free(copy);
  sms_free(m);
}

/* Two streams in turn: one computes while the other moves. */
static void turns(hiroba_stream s, hiroba_stream t) {
  Matrix* m = filled();
  const int parts = 8, each = ROWS / parts;
  for (int part = sms_rank; part < parts; part += sms_nprocs) {
    const hiroba_section section = rows_of(m, part * each, each);
    const hiroba_stream mine = part / sms_nprocs % 2 == 0 ? s : t;
    hiroba_device_preload(&section, mine, NULL);
    launch_scale(mine, &section, (int64_t)each * COLUMNS, 0.5);
    hiroba_stream_after(mine == s ? t : s, mine);
    launch_scale(mine == s ? t : s, &section, (int64_t)each * COLUMNS, 8);
    hiroba_device_overload(&section, mine == s ? t : s, NULL);
  }
  hiroba_stream_wait(s), hiroba_stream_wait(t);
  sms_barrier();
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) expect(m[i][j], 4.0 * (i * 1000 + j), "turns", i);
  sms_free(m);
}

/* More sections than the device has room for: those that were used long ago make room. */
static void bounded(void) {
  hiroba_stream streams[3];
  for (int i = 0; i < 3; ++i) streams[i] = hiroba_stream_create(0);
  hiroba_device_properties p;
  hiroba_device_get(0, &p);
  const size_t bytes = p.cache / 4;
  const int64_t count = (int64_t)(bytes / sizeof(double));
  double* const a = sms_alloc(sizeof(double), (size_t)count * 7, 0);
  if (sms_rank == 0)
    for (int i = 0; i < 7; ++i) a[i * count] = i, a[i * count + count - 1] = -i;
  sms_barrier();
  if (sms_rank == sms_nprocs - 1)
    for (int round = 0; round < 2; ++round)
      for (int i = 0; i < 7; ++i) {
        const hiroba_section section = hiroba_bytes(a + i * count, bytes);
        const hiroba_stream s = streams[i % 3];  // another one than that of the copy that makes room
        hiroba_device_preload(&section, s, NULL);
        launch_scale(s, &section, count, 2);
        hiroba_device_overload(&section, s, NULL);
      }
  sms_barrier();
  hiroba_device_get(0, &p);
  if (p.used > p.cache) expect((double)p.used, (double)p.cache, "bounded", 0);
  for (int i = 0; i < 7; ++i) {
    expect(a[i * count], 4.0 * i, "bounded", i);
    expect(a[i * count + count - 1], -4.0 * i, "bounded", i);
  }
  sms_free(a);
}

/* From device to device and back; the processor's memory has the old values until the overload. */
static void forwarded(hiroba_stream s, hiroba_stream t) {
  double values[1000];
  for (int i = 0; i < 1000; ++i) values[i] = i;
  const hiroba_section section = hiroba_bytes(values, sizeof values), half = hiroba_bytes(values, sizeof values / 2);
  hiroba_device_preload(&section, s, NULL);
  launch_scale(s, &section, 1000, 2);
  hiroba_device_forward(&section, t, s);
  launch_scale(t, &section, 1000, 5);
  hiroba_device_forward(&half, s, t);
  hiroba_device_overload(&section, s, NULL);
  hiroba_stream_wait(s);
  for (int i = 0; i < 1000; ++i) expect(values[i], (i < 500 ? 10.0 : 2.0) * i, "forwarded", i);
  hiroba_device_drop(&section, t);
  hiroba_device_drop(&section, s);
}

/* A preload brings back what a forward has taken the place of, although the processor's memory is as it was. */
static void brought_back(hiroba_stream s, hiroba_stream t) {
  double values[1000];
  for (int i = 0; i < 1000; ++i) values[i] = i;
  const hiroba_section section = hiroba_bytes(values, sizeof values);
  hiroba_device_preload(&section, t, NULL);
  hiroba_device_preload(&section, s, NULL);
  launch_scale(s, &section, 1000, 2);
  hiroba_device_forward(&section, t, s);
  hiroba_stream_wait(t);
  hiroba_device_drop(&section, s);
  hiroba_device_preload(&section, t, NULL);
  launch_scale(t, &section, 1000, 3);
  hiroba_device_overload(&section, t, NULL);
  hiroba_stream_wait(t);
  for (int i = 0; i < 1000; ++i) expect(values[i], 3.0 * i, "brought back", i);
  hiroba_device_drop(&section, t);
}

/* Its address on the device is of use to other libraries. */
static void held(hiroba_stream s) {
  double values[1000];
  for (int i = 0; i < 1000; ++i) values[i] = i;
  const hiroba_section section = hiroba_bytes(values, sizeof values);
  const void* const there = hiroba_device_hold(&section, s);
  hiroba_device_preload(&section, s, NULL);
  launch_scale(s, &section, 1000, 2);
  hiroba_device_overload(&section, s, NULL);
  hiroba_stream_wait(s);
  if (there != hiroba_device_hold(&section, s)) expect(0, 1, "held", 0);
  for (int i = 0; i < 1000; ++i) expect(values[i], 2.0 * i, "held", i);
  hiroba_device_drop(&section, s);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (hiroba_device_count() < 1) return printf("no device\n"), 1;
  hiroba_stream s = hiroba_stream_create(0), t = hiroba_stream_create(0);
  hiroba_stream last = hiroba_stream_create(hiroba_device_count() - 1);
  rows(s);
  rows(last);
  boxes(s);
  stays(s);
  turns(s, t);
  held(s);
  if (hiroba_device_count() > 1) forwarded(s, last), brought_back(s, last);
  if (argc > 1 && strcmp(argv[1], "bounded") == 0) bounded();
  hiroba_stream_free(&t);
  sms_barrier();
  if (sms_rank == 0) printf("done\n");
  sms_shutdown();
  return 0;
}
