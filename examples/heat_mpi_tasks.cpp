// An MPI program whose messages and sweeps are tasks: a plate, cut into rows of ranks, whose upper edge is hot. Each
// rank has rows of its own and a row of the neighbour on each side, as MPI programs do; a task that receives ends when
// its message is there, and no thread waits for it.
//
//   hirobarun -n 4 heat_mpi_tasks
#include <mpi.h>
#include <sms.h>
#include <task_mpi.h>
#include <task.hpp>

#include <cstdio>
#include <vector>

using hiroba::in, hiroba::out;

constexpr int all_rows = 96, columns = 256, steps = 60, block = 64;  // blocks of columns are tasks
constexpr int blocks = columns / block;
static int rows;  // of this rank

struct Plate {  // the rows of this rank, from 1 on, between those of its neighbours
  std::vector<double> at = std::vector<double>((rows + 2) * columns);
  double* row(int i, int b) { return &at[i * columns + b * block]; }
};

static void update(Plate& from, Plate& to, int b) {
  for (int i = 1; i <= rows; ++i)
    for (int j = b * block; j < (b + 1) * block; ++j) {
      const double* const x = &from.at[i * columns + j];
      to.at[i * columns + j] = j == 0 || j == columns - 1 ? *x : (x[-columns] + x[columns] + x[-1] + x[1]) / 4;
    }
}

static void send(double* row, int to, int tag) {
  MPI_Request request;
  MPI_Isend(row, block, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &request);
  hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
}
static void receive(double* row, int from, int tag) {
  MPI_Request request;
  MPI_Irecv(row, block, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
  hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
}

// The tasks of one step for the blocks of columns. A block reads the columns beside it, too.
static void step(Plate& from, Plate& to, int s) {
  for (int b = 0; b < blocks; ++b) {
    const int up = sms_rank - 1, down = sms_rank + 1 < sms_nprocs ? sms_rank + 1 : -1, tag = 2 * (s * blocks + b);
    double *const first = from.row(1, b), *const last = from.row(rows, b);
    double *const above = from.row(0, b), *const below = from.row(rows + 1, b);
    if (up >= 0) {
      hiroba::task(in(first, block), [=] { send(first, up, tag); });
      hiroba::task(out(above, block), [=] { receive(above, up, tag + 1); });
    }
    if (down >= 0) {
      hiroba::task(in(last, block), [=] { send(last, down, tag + 1); });
      hiroba::task(out(below, block), [=] { receive(below, down, tag); });
    }
  }
  const auto box = [](Plate& p, int b, int first, int count) {
    return hiroba::tile_view<double>(p.row(first, b), count, block, columns);
  };
  for (int b = 0; b < blocks; ++b)
    hiroba::task(in(box(from, b > 0 ? b - 1 : b, 0, rows + 2)), in(box(from, b, 0, rows + 2)),
                 in(box(from, b + 1 < blocks ? b + 1 : b, 0, rows + 2)), out(box(to, b, 1, rows)),
                 [b, from = &from, to = &to] { update(*from, *to, b); });
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  sms_startup(&argc, &argv);
  hiroba::task_parts(true);  // ranks at the edge have fewer tasks
  rows = all_rows / sms_nprocs;
  if (rows * sms_nprocs != all_rows) sms_abort(1, "heat_mpi_tasks: the number of ranks must divide 96");
  Plate a, b;
  for (int j = 0; j < columns && sms_rank == 0; ++j) a.at[j] = b.at[j] = 100;
  for (int s = 0; s < steps; s += 2) step(a, b, s), step(b, a, s + 1);
  hiroba::taskwait();

  double sum = 0, all = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 0; j < columns; ++j) sum += a.at[i * columns + j];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (sms_rank == 0) std::printf("mean temperature %.6f\n", all / (all_rows * columns));
  sms_shutdown();
  MPI_Finalize();
}
