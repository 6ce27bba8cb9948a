// Tasks that wait for their messages in MPI_Waitall, and have a thread meanwhile.
#include "tasks.hpp"

int main(int argc, char** argv) {
  run_as_tasks(argc, argv, [](MPI_Request requests[2]) { MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); });
}
