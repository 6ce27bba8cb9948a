// The tasks of the exchange, with a function that a task calls to wait for its requests.
#pragma once

#include <sms.h>
#include <task.hpp>

#include "halo.hpp"

using WaitForBoth = void (*)(MPI_Request requests[2]);

inline void run_as_tasks(int argc, char** argv, WaitForBoth wait) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  sms_startup(&argc, &argv);
  {
    Halo halo(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int s = 0; s < halo.steps(); ++s)
      for (int b = 0; b < halo.blocks(); ++b) {
        Block& block = halo.block(b);
        hiroba::task(hiroba::in(block.own), hiroba::out(block.halo), [&halo, b, wait] {
          MPI_Request requests[2];
          halo.start(b, requests);
          wait(requests);
        });
        hiroba::task(hiroba::inout(block.own), hiroba::in(block.halo), [&halo, b] { halo.update(b); });
      }
    hiroba::taskwait();
    halo.end(MPI_Wtime() - begin);
  }
  sms_shutdown();
  MPI_Finalize();
}
