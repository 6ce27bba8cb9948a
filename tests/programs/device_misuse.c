/* Mistakes of programs with devices, a case for each. Every message names the calls that it is about by their
 * lines; device_misuse.py looks for the lines that are marked so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_kernels.h"
#include "sms.h"

enum { COUNT = 1 << 16 };
static double* a;
static hiroba_section all, half;
static hiroba_stream s, t;

static void use(const hiroba_kernel* kernel, hiroba_stream stream, int mode, const hiroba_section* section,
                const char* place) {
  const Factor factor = {100, 2};
  const hiroba_access access = {mode, NULL, *section, 0, 0};
  hiroba_place = place;
  (hiroba_device_launch)(kernel, stream, &access, 1, &factor, sizeof factor);
}
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define LAUNCH(kernel, stream, mode, section) use(kernel, stream, mode, section, __FILE__ ":" TEXT(__LINE__))

static void kernel_before_preload(void) {
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all); /* first */
  hiroba_device_preload(&all, s, NULL);         /* second */
  hiroba_stream_wait(s);
}
static void kernel_without_preload(void) {
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all); /* first */
  hiroba_stream_wait(s);
}
static void overload_before_kernel(void) {
  hiroba_device_preload(&all, s, NULL);
  hiroba_device_overload(&all, s, NULL);        /* first */
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all); /* second */
  hiroba_stream_wait(s);
}
static void overload_without_kernel(void) {
  hiroba_device_preload(&all, s, NULL);
  hiroba_device_overload(&all, s, NULL); /* first */
  sms_barrier();
}
static void two_streams(void) {
  hiroba_device_preload(&all, s, NULL);          /* first */
  LAUNCH(&scale_kernel, t, HIROBA_INOUT, &half); /* second */
  hiroba_stream_wait(t);
}
static void two_kernels(void) {
  hiroba_device_preload(&all, s, NULL);
  hiroba_stream_after(t, s);
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all);  /* first */
  LAUNCH(&scale_kernel, t, HIROBA_INOUT, &half); /* second */
  hiroba_stream_wait(s);
}
static void overload_elsewhere(void) {
  hiroba_device_preload(&all, s, NULL);
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all); /* first */
  hiroba_device_overload(&half, t, NULL);       /* second */
  hiroba_stream_wait(t);
}
static void preload_over_kernel(void) {
  hiroba_device_preload(&all, s, NULL);
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all); /* first */
  hiroba_device_preload(&half, s, NULL);        /* second */
}
static void both_write(void) {
  hiroba_device_preload(&all, s, NULL); /* first */
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all);
  hiroba_stream_wait(s);
  a[77] = 1;
  hiroba_device_overload(&all, s, NULL); /* second */
  hiroba_stream_wait(s);
}
static void both_write_unseen(void) {
  LAUNCH(&spin_kernel, s, HIROBA_OUT, &all); /* first */
  a[77] = 1;
  hiroba_device_overload(&all, s, NULL); /* second */
  hiroba_stream_wait(s);
}
static void too_large(void) { hiroba_device_preload(&all, s, NULL); }
static void full(void) {
  const size_t quarter = COUNT / 4;
  for (int i = 0; i < 4; ++i) {
    const hiroba_section section = hiroba_bytes(a + (size_t)i * quarter, quarter * sizeof(double));
    LAUNCH(&spin_kernel, s, HIROBA_OUT, &section);
  }
}
static void full_of_held(void) {
  const size_t quarter = COUNT / 4;
  for (int i = 0; i < 3; ++i) {
    const hiroba_section section = hiroba_bytes(a + (size_t)i * quarter, quarter * sizeof(double));
    hiroba_device_hold(&section, s);
  }
}
static void fails(void) {
  LAUNCH(&wild_kernel, s, HIROBA_OUT, &all); /* first */
  hiroba_stream_wait(s);
}
static void fails_unseen(void) { LAUNCH(&wild_kernel, s, HIROBA_OUT, &all); /* first */ }
/* As the runtime of CUDA says on an older driver (cudaErrorInsufficientDriver). */
static int needs_newer(void* const* data, const void* argument, void* stream) {
  (void)data, (void)argument, (void)stream;
  return 35;
}
static void newer(void) {
  static const hiroba_kernel kernel = {"newer", needs_newer, needs_newer};
  LAUNCH(&kernel, s, HIROBA_OUT, &all); /* first */
  hiroba_stream_wait(s);
}
static void preloads(void) {
  hiroba_device_preload(&all, s, NULL); /* first */
  hiroba_stream_wait(s);
}
static void preloads_after_kernel(void) {
  hiroba_device_preload(&half, s, NULL);
  LAUNCH(&scale_kernel, s, HIROBA_IN, &half); /* first */
  hiroba_device_preload(&all, s, NULL);
  hiroba_stream_wait(s);
}
static void no_function(void) {
  static const hiroba_kernel empty = {"empty", NULL, NULL};
  LAUNCH(&empty, s, HIROBA_OUT, &all); /* first */
}
static void no_such_device(void) { hiroba_stream_create(7); }
static void no_stream(void) { hiroba_device_preload(&all, NULL, NULL); }
static void past_end(void) {
  const hiroba_section section = hiroba_bytes(a + COUNT - 2, 64);
  hiroba_device_preload(&section, s, NULL);
}
static void lent(void) {
  hiroba_device_tensor(&all, s, HIROBA_TENSOR_FLOAT, 64);
  hiroba_device_drop(&all, s); /* first */
}
static void odd_elements(void) {
  const hiroba_section section = hiroba_bytes(a, 12);
  hiroba_device_tensor(&section, s, HIROBA_TENSOR_FLOAT, 64);
}
static void reduction(void) { LAUNCH(&scale_kernel, s, HIROBA_REDUCTION, &all); }
static void part_dropped(void) {
  hiroba_device_preload(&all, s, NULL);
  hiroba_device_drop(&half, s);
}
static void in_parts(void) {
  const hiroba_section second = hiroba_bytes(a + COUNT / 2, COUNT / 2 * sizeof(double));
  hiroba_device_preload(&half, s, NULL);
  hiroba_device_preload(&second, s, NULL);
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &all);
}
static void other_copy(void) {
  const hiroba_section across = hiroba_bytes(a + COUNT / 4, COUNT / 2 * sizeof(double));
  hiroba_device_preload(&half, s, NULL);
  hiroba_device_preload(&across, s, NULL);
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &half); /* first */
  LAUNCH(&scale_kernel, s, HIROBA_INOUT, &across);
}
static void not_awaited(void) {
  hiroba_request done;
  hiroba_device_preload(&all, s, &done); /* first */
}
/* The host backend closes the memory of a device to all but kernels. */
static void touched(void) {
  hiroba_device_preload(&all, s, NULL);
  hiroba_stream_wait(s);
  *(volatile double*)hiroba_device_hold(&all, s) = 1;
}

typedef struct {
  const char* name;
  void (*run)(void);
} Case;
#define CASE(name) {#name, name}
static const Case cases[] = {CASE(kernel_before_preload),
                             CASE(kernel_without_preload),
                             CASE(overload_before_kernel),
                             CASE(overload_without_kernel),
                             CASE(two_streams),
                             CASE(two_kernels),
                             CASE(overload_elsewhere),
                             CASE(preload_over_kernel),
                             CASE(both_write),
                             CASE(both_write_unseen),
                             CASE(too_large),
                             CASE(full),
                             CASE(full_of_held),
                             CASE(fails),
                             CASE(fails_unseen),
                             CASE(newer),
                             CASE(preloads),
                             CASE(preloads_after_kernel),
                             CASE(no_function),
                             CASE(no_such_device),
                             CASE(no_stream),
                             CASE(past_end),
                             CASE(reduction),
                             CASE(lent),
                             CASE(odd_elements),
                             CASE(part_dropped),
                             CASE(in_parts),
                             CASE(other_copy),
                             CASE(not_awaited),
                             CASE(touched)};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  a = sms_alloc(sizeof(double), COUNT, 0);
  all = hiroba_bytes(a, COUNT * sizeof(double)), half = hiroba_bytes(a, COUNT / 2 * sizeof(double));
  if (sms_rank == sms_nprocs - 1) {
    s = hiroba_stream_create(0), t = hiroba_stream_create(0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
      if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  }
  sms_barrier();
  sms_shutdown();
  return 0;
}
