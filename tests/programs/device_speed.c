/* Measures how fast sections move to a device and back, against the fastest copies that the link, or the memory,
 * allows: a line of JSON. device_speed MIB REPEATS LEAST [private]: of a shared array, or of private memory, which goes
 * by buffers; fails if preloads or overloads reach less than LEAST of that;
 * it ends early once they do. The best of all repeats counts, of both sides, which take turns: other programs only ever
 * slow them down. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../bench/json.h"
#include "device_kernels.h"
#include "sms.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void keep_least(double* least, double value) {
  if (*least == 0 || value < *least) *least = value;
}

/* Changes something in each piece that moves, so that none of them stays. */
static void change_all(double* a, size_t count, double value) {
  const size_t step = (size_t)64 << 10;
  for (size_t i = 0; i < count; i += step / sizeof(double)) a[i] = value;
}

static double preload(const hiroba_section* section, hiroba_stream stream) {
  hiroba_request done;
  const double begin = now();
  hiroba_device_preload(section, stream, &done);
  hiroba_wait(&done);
  return now() - begin;
}
static double overload(const hiroba_section* section, hiroba_stream stream) {
  hiroba_request done;
  const double begin = now();
  hiroba_device_overload(section, stream, &done);
  hiroba_wait(&done);
  return now() - begin;
}
static void launch(const hiroba_kernel* kernel, hiroba_stream stream, int mode, const hiroba_section* section,
                   double factor) {
  const Factor argument = {1, factor};
  const hiroba_access use = {mode, NULL, *section, 0, 0};
  hiroba_device_launch(kernel, stream, &use, 1, &argument, sizeof argument);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20, count = bytes / sizeof(double);
  const int repeats = argc > 2 ? atoi(argv[2]) : 5;
  const double least = argc > 3 ? atof(argv[3]) : 0;
  double *const a = argc > 4 ? malloc(bytes) : sms_alloc(sizeof(double), count, 0), *const b = sms_alloc(sizeof(double),
                                                                                                         512, 0);
  for (size_t i = 0; i < count; ++i) a[i] = (double)i;
  hiroba_stream s = hiroba_stream_create(0), t = hiroba_stream_create(0);
  const hiroba_section all = hiroba_bytes(a, bytes), small = hiroba_bytes(b, 4096);
  double peak_to = 0, peak_from = 0, to = 0, from = 0, hidden = 0, stays = 0, computing = 0;
  preload(&all, s);
  for (int i = 0; i < repeats; ++i) {
    if (least > 0 && i >= 5 && peak_to >= least * to && peak_from >= least * from) break;
    keep_least(&peak_to, copy_time(bytes, 1));
    change_all(a, count, i);
    keep_least(&to, preload(&all, s));
    keep_least(&stays, preload(&all, s));
    keep_least(&peak_from, copy_time(bytes, 0));
    launch(&scale_kernel, s, HIROBA_INOUT, &all, 2);
    hiroba_stream_wait(s);
    keep_least(&from, overload(&all, s));
    change_all(a, count, -1 - i);
    const double begin = now();
    launch(&spin_kernel, t, HIROBA_OUT, &small, 2 * to);
    keep_least(&hidden, preload(&all, s));
    hiroba_stream_wait(t);
    keep_least(&computing, now() - begin);
  }
  if (a[1] != 1 || a[count - 1] != (double)(count - 1)) return printf("wrong values came back\n"), 1;
  json_line line = {""};
  const double giga = (double)bytes * 1e-9;
  json_add(&line, "mib", (double)(bytes >> 20));
  json_add(&line, "copy_to_gb_s", giga / peak_to), json_add(&line, "copy_from_gb_s", giga / peak_from);
  json_add(&line, "preload_gb_s", giga / to), json_add(&line, "overload_gb_s", giga / from);
  json_add(&line, "unchanged_gb_s", giga / stays), json_add(&line, "hidden_gb_s", giga / hidden);
  json_add(&line, "preload_of_peak", peak_to / to), json_add(&line, "overload_of_peak", peak_from / from);
  json_add(&line, "hidden_of_preload", to / hidden), json_add(&line, "kernel_and_preload_s", computing);
  json_print(&line);
  hiroba_device_drop(&all, s);
  if (argc > 4) free(a);
  sms_shutdown();
  return peak_to / to < least || peak_from / from < least;
}
