// Tasks on devices, beside tasks of the processor, on any number of ranks and nodes.
#include <cstdio>
#include <vector>

#include "device.hpp"
#include "sms.h"
#include "task.hpp"

using hiroba::device;
using hiroba::in;
using hiroba::inout;
using hiroba::on;
using hiroba::out;

namespace {

constexpr int tiles = 12, count = 3000;  // elements of a tile, so that tiles share pages

int failures = 0;
void expect(double value, double right, const char* what, int i) {
  if (value == right) return;
  if (failures++ < 5) std::printf("rank %d: %s: %d is %g, not %g\n", sms_rank, what, i, value, right);
}

double* shared(int64_t n) {
  const int64_t dim[] = {n, -1}, div[] = {sms_nprocs, -1};
  return static_cast<double*>(sms_mapalloc_large(dim, div, sizeof(double), 0, sms_nprocs));
}

// A chain of tasks for each tile, in turn on the device and on the processor; neighbours read each other.
void chains() {
  double* const a = shared(tiles * count);
  double* const b = shared(tiles * count);
  const int devices = hiroba_device_count();
  for (int t = 0; t < tiles; ++t) {
    double* const x = a + t * count;
    hiroba::task(out(x, count), [=] {
      for (int i = 0; i < count; ++i) x[i] = t + i;
    });
  }
  for (int step = 0; step < 6; ++step)
    for (int t = 0; t < tiles; ++t) {
      double* const x = (step % 2 == 0 ? a : b) + t * count;
      double* const left = (step % 2 == 0 ? a : b) + (t + tiles - 1) % tiles * count;
      double* const y = (step % 2 == 0 ? b : a) + t * count;
      const auto body = [](const double* from, const double* beside, double* to) {
        for (int i = 0; i < count; ++i) to[i] = from[i] + 2 * beside[i];
      };
      if (step == 3) hiroba::task(in(x, count), in(left, count), out(y, count), [=] { body(x, left, y); });
      else if (step % 2 == 0)
        hiroba::task(on(device(0)), in(x, count), in(left, count), out(y, count), hiroba::name("step"), body);
      else
        hiroba::task(on(device(t % devices)), in(x, count), in(left, count), out(y, count),
                     [=](hiroba::device_stream s, const double* from, const double* beside, double* to) {
                       body(from, beside, to);
                       return s.on_host() ? 0 : 1;
                     });
    }
  hiroba::taskwait();
  std::vector<double> right(tiles * count), next(tiles * count);
  for (int t = 0; t < tiles; ++t)
    for (int i = 0; i < count; ++i) right[static_cast<size_t>(t * count + i)] = t + i;
  for (int step = 0; step < 6; ++step, right.swap(next))
    for (int t = 0; t < tiles; ++t)
      for (int i = 0; i < count; ++i)
        next[static_cast<size_t>(t * count + i)] = right[static_cast<size_t>(t * count + i)] +
                                                   2 * right[static_cast<size_t>((t + tiles - 1) % tiles * count + i)];
  for (int i = 0; i < tiles * count; ++i) expect(a[i], right[static_cast<size_t>(i)], "chains", i);
  sms_free(a), sms_free(b);
}

// Boxes of a matrix, and a rank that is named.
void boxes() {
  constexpr int64_t rows = 60, columns = 80, tile = 20;
  double* const m = shared(rows * columns);
  const hiroba::tiles<double> all(m, rows, columns, tile, tile);
  for (int round = 0; round < 3; ++round)
    for (int64_t i = 0; i < all.rows(); ++i)
      for (int64_t j = 0; j < all.columns(); ++j)
        hiroba::task(on(device(0)), on(static_cast<int>(i + j) % sms_nprocs), inout(all.tile(i, j)), [=](double* t) {
          for (int64_t k = 0; k < tile * tile; ++k) t[k] += static_cast<double>(10 * i + j);
        });
  hiroba::taskwait();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      expect(m[i * columns + j], static_cast<double>(3 * (10 * (i / tile) + j / tile)), "boxes",
             static_cast<int>(i * columns + j));
  sms_free(m);
}

int triple(void* const* data, const void* /*argument*/, void* /*stream*/) {
  double* const x = static_cast<double*>(data[0]);
  for (int i = 0; i < count; ++i) x[i] *= 3;
  return 0;
}
const hiroba_kernel triple_kernel = {"triple", triple, triple};

// Tasks that end with what they have started on a device: later ones depend on that. A stream for each tile, because
// tasks of several run at once.
void started() {
  double* const a = shared(tiles * count);
  std::vector<hiroba_stream> streams(tiles);
  for (hiroba_stream& stream : streams) stream = hiroba_stream_create(0);
  for (int t = 0; t < tiles; ++t) {
    double* const x = a + t * count;
    const hiroba_stream s = streams[static_cast<size_t>(t)];
    const hiroba_section section = hiroba_bytes(x, count * sizeof(double));
    hiroba::task(out(x, count), [=] {
      for (int i = 0; i < count; ++i) x[i] = t + i;
    });
    hiroba::task(inout(x, count), [=] {
      hiroba_request arrives;
      hiroba_device_preload(&section, s, &arrives);
      hiroba_task_iwait(&arrives);
    });
    hiroba::task(inout(x, count), [=] {
      hiroba_request returns, none = HIROBA_NO_REQUEST;
      const hiroba_access access = {HIROBA_INOUT, nullptr, section, 0, 0};
      hiroba_device_launch(&triple_kernel, s, &access, 1, nullptr, 0);
      hiroba_device_overload(&section, s, &returns);
      hiroba_task_iwait(&returns);
      hiroba_task_iwait(&none);
    });
    hiroba::task(inout(x, count), [=] {
      for (int i = 0; i < count; ++i) x[i] += 1;
    });
  }
  hiroba::taskwait();
  for (int t = 0; t < tiles; ++t)
    for (int i = 0; i < count; ++i) expect(a[t * count + i], 3 * (t + i) + 1, "started", t * count + i);
  for (hiroba_stream& stream : streams) hiroba_stream_free(&stream);
  sms_free(a);
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  chains();
  boxes();
  started();
  sms_barrier();
  if (sms_rank == 0 && failures == 0) std::printf("done\n");
  sms_shutdown();
  return failures != 0;
}
