/* Names of calls are compared some calls later, and operations that were started may have overwritten them by then
 * (lanes.cpp): rank 0 is a whole turn of the slots ahead when it compares, and must not compare two different calls. */
#include <hiroba/collective.h>
#include <sms.h>
#include <stdio.h>
#include <unistd.h>

enum { TURN = 16 }; /* slots of a lane */

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int mine = sms_rank, all[2], buffer = 5;
  hiroba_request request, last;
  hiroba_iallgather(&mine, all, 1, HIROBA_INT, HIROBA_ALL, &request);
  hiroba_wait(&request);
  for (int i = 1; i < TURN; ++i) {
    hiroba_iallreduce(&mine, &all[0], 1, HIROBA_INT, HIROBA_SUM, HIROBA_ALL, &request);
    hiroba_wait(&request);
  }
  if (sms_rank == 1) usleep(200000);
  hiroba_igather(&mine, all, 1, HIROBA_INT, 0, HIROBA_ALL, &last);
  hiroba_bcast(&buffer, 1, HIROBA_INT, 0, HIROBA_ALL); /* rank 0 waits for nobody */
  hiroba_wait(&last);
  if (sms_rank == 0) printf(buffer == 5 && all[0] == 0 && all[1] == 1 ? "done\n" : "wrong\n");
  sms_shutdown();
  return 0;
}
