/* Rank 0 keeps a lock for long, and the last rank wants it: the line of a job that stands still names who holds it. */
#include <sms.h>
#include <unistd.h>

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (sms_rank == 0) sms_lock(3);
  sms_barrier();
  if (sms_rank == 0) {
    sleep(4);
    sms_unlock(3);
  } else if (sms_rank == sms_nprocs - 1) {
    sms_lock(3);
    sms_unlock(3);
  }
  sms_shutdown();
  return 0;
}
