/* The first program: every rank writes a line into memory that all of them share, rank 0 reads them.
 *
 *   cc hello.c -lhiroba -o hello && hirobarun -n 4 --nodes 2 ./hello
 */
#include <sms.h>
#include <stdio.h>

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  char(*lines)[80] = sms_alloc(sizeof *lines, sms_nprocs, 0); /* home: rank 0; all ranks have this address */

  snprintf(lines[sms_rank], sizeof lines[sms_rank], "Hello from rank %d of %d, on node %d of %d", sms_rank, sms_nprocs,
           sms_node, sms_nnodes);
  sms_barrier(); /* all ranks read after it what any rank wrote before it */

  if (sms_rank == 0)
    for (int i = 0; i < sms_nprocs; i++) puts(lines[i]);
  sms_shutdown();
}
