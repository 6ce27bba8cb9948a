// A plate whose left edge is hot: the Jacobi method by tasks, one for each tile and step. The program is the sequential
// one; run it with any number of ranks.
//
//   hirobarun -n 2 heat_tasks
#include <sms.h>
#include <task.hpp>

#include <cstdio>

using hiroba::in, hiroba::out, hiroba::tile_view;

constexpr int n = 256, steps = 100;
constexpr int64_t tile = 64;

// The new values of a tile; what lies around it is reached through its pointer.
static void update(tile_view<double> from, tile_view<double> to, int64_t row, int64_t column) {
  for (int64_t i = 0; i < from.rows(); ++i)
    for (int64_t j = 0; j < from.columns(); ++j) {
      const bool edge = row + i == 0 || row + i == n - 1 || column + j == 0 || column + j == n - 1;
      to(i, j) = edge ? from(i, j) : (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1)) / 4;
    }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int dim[] = {n, n, -1}, div[] = {sms_nprocs, 1, -1};
  auto* const now = static_cast<double*>(sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs));
  auto* const next = static_cast<double*>(sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs));
  if (sms_rank == 0)
    for (int i = 0; i < n; ++i) now[i * n] = 100;
  sms_barrier();

  hiroba::tiles<double> a(now, n, n, tile, tile), b(next, n, n, tile, tile);
  for (int step = 0; step < steps; ++step, std::swap(a, b))
    for (int64_t i = 0; i < a.rows(); ++i)
      for (int64_t j = 0; j < a.columns(); ++j)
        hiroba::task(in(a.tile(i, j)), in(a.tile(i - 1, j).south()), in(a.tile(i + 1, j).north()),
                     in(a.tile(i, j - 1).east()), in(a.tile(i, j + 1).west()), out(b.tile(i, j)),
                     [=] { update(a.tile(i, j), b.tile(i, j), i * tile, j * tile); });
  hiroba::taskwait();

  if (sms_rank == 0) {
    double sum = 0;
    for (int i = 0; i < n * n; ++i) sum += now[i];
    std::printf("mean temperature %.6f\n", sum / (n * n));
  }
  sms_shutdown();
}
