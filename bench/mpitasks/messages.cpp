// MPI alone, as such programs are written: all messages of a step are started, all are waited for, all blocks updated.
#include "halo.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Halo halo(argc, argv);
    std::vector<MPI_Request> requests(static_cast<size_t>(2 * halo.blocks()));
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int s = 0; s < halo.steps(); ++s) {
      for (int b = 0; b < halo.blocks(); ++b) halo.start(b, &requests[static_cast<size_t>(2 * b)]);
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (int b = 0; b < halo.blocks(); ++b) halo.update(b);
    }
    halo.end(MPI_Wtime() - begin);
  }
  MPI_Finalize();
}
