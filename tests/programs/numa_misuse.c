/* Wrong uses of placement.h, by name; numa_misuse.py checks what comes of them. */
#include <placement.h>

#include "programs.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const name = argv[1];
  static int mine[10];
  if (strcmp(name, "not_started") == 0) hiroba_next_touch(mine);
  sms_startup(&argc, &argv);
  int* const array = spread(sms_nprocs * 2, 1024, sizeof(int));
  const sms_range all[] = {{0, (int64_t)sms_nprocs * 2, 1}, {0, 1024, 1}}, past[] = {{0, 99, 1}, {0, 1024, 1}};
  array[(size_t)sms_rank * 2048] = 1;
  sms_barrier();
  if (strcmp(name, "no_domain") == 0) hiroba_place_memory(array, 999);
  if (strcmp(name, "no_place") == 0) hiroba_place_memory(array, -9);
  if (strcmp(name, "private") == 0) hiroba_place_memory(mine, 0);
  if (strcmp(name, "no_rank") == 0) hiroba_migrate(array, all, sms_nprocs);
  if (strcmp(name, "past") == 0) hiroba_migrate(array, past, 0);
  if (strcmp(name, "other_node") == 0) hiroba_migrate(array, all, 0);
  if (strcmp(name, "unequal") == 0) sms_rank == 0 ? hiroba_next_touch(array) : sms_barrier();
  if (strcmp(name, "freed") == 0) sms_free(array), hiroba_next_touch(array);
  if (strcmp(name, "domain_of") == 0) hiroba_numa_domain_of(sms_nprocs);
  sms_shutdown();
  return 0;
}
