/* For option stats: the last rank comes 0.3 s late to a barrier, holds a lock for 0.2 s while the others want it, and
 * every rank puts 1000 bytes into the next one's part of a coarray. */
#include <unistd.h>
#include <xmp.h>

#include "programs.h"

int main(int argc, char** argv) {
  xmp_init(&argc, &argv);
  const int last = sms_rank == sms_nprocs - 1;
  char own[1000] = "put";
  const xmp_section from = {NULL, 0, own, 1, {1000}, {1}};
  const int64_t extent[] = {2000};
  xmp_coarray* const table = xmp_coarray_malloc(1, 1, extent, "table", XMP_HERE);
  char* const part = table->data;
  const xmp_section to = {table, (sms_rank + 1) % sms_nprocs, part, 1, {1000}, {1}};
  xmp_assign(&to, &from, 1, XMP_HERE);
  xmp_sync_all(NULL);
  if (last) usleep(300000);
  sms_barrier();
  if (last) sms_lock(1);
  sms_barrier();
  if (last) usleep(200000), sms_unlock(1);
  else sms_lock(1), sms_unlock(1);
  sms_barrier();
  xmp_finalize();
  return 0;
}
