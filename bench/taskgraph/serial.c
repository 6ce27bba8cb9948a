/* The bodies in order, without any runtime: the least that all others can take with one thread. */
#include "taskgraph.h"

int main(int argc, char** argv) {
  const runtime serial = {.name = "serial", .team = {.count = 1, .program = "serial"}, .run = graph_run_serial};
  return taskgraph(argc, argv, &serial);
}
