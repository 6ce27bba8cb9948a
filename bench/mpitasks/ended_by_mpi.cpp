// Tasks that end when their messages are complete (task_mpi.h).
#include "tasks.hpp"

#include <task_mpi.h>

int main(int argc, char** argv) {
  run_as_tasks(argc, argv, [](MPI_Request requests[2]) { hiroba_mpi_iwaitall(2, requests, MPI_STATUSES_IGNORE); });
}
