/* For option stats: stats [freed [early]] uses two arrays of two pages, each page read and written by the rank that
 * does not have it; then it frees them, and rank 1 exits with 3 instead of sms_shutdown. */
#include <string.h>

#include "programs.h"

static void use(long* array) {
  volatile long sum = 0;
  for (int i = 0; i < 2 * PAGE / 8; ++i) sum += array[i];
  sms_barrier();
  sms_barrier(); /* from here on the home certainly knows that the other one has copies */
  if (sms_rank == 0) array[0] = 1;
  sms_barrier();
  if (sms_rank == 1) array[PAGE / 8] = 2;
  sms_barrier();
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  for (int round = 0; round < 2; ++round) {
    long* array = sms_alloc(sizeof *array, 2 * PAGE / 8, 0);
    use(array);
    if (argc > 1) sms_free(array);
    else break;
  }
  if (argc > 2 && sms_rank == 1) exit(3);
  return sms_shutdown();
}
