/* A core file has no shared memory in it: each mapping of the address range, and of the memory files, says so to the
 * kernel (dd in VmFlags). */
#include <stdbool.h>

#include "programs.h"

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int n = 4000000;
  double* words = spread(n, 1, sizeof *words);
  for (int i = sms_rank; i < n; i += 100) words[i] = i;
  sms_barrier();
  double sum = 0;
  for (int i = 0; i < n; i += 100) sum += words[i];
  FILE* const maps = fopen("/proc/self/smaps", "r");
  char line[512], name[512] = "";
  int checked = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long long first, end;
    if (sscanf(line, "%llx-%llx", &first, &end) == 2) strcpy(name, end - first < 16 << 20 ? "" : line);
    const bool of_hiroba = strstr(name, "/memfd:hiroba-") != NULL || strstr(name, "/hiroba-node") != NULL;
    if (strncmp(line, "VmFlags:", 8) != 0 || !of_hiroba) continue;
    ++checked;
    if (strstr(line, " dd") == NULL) fail("core_size: on rank %d a core file would have %s", sms_rank, name);
  }
  if (checked == 0 || sum < 0) fail("core_size: no mapping found");
  sms_barrier();
  sms_shutdown();
  return 0;
}
