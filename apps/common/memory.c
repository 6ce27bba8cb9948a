#define _GNU_SOURCE
#include "memory.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A number for this machine, exact in a double. */
static double machine(void) {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  uint32_t number = 0;
  for (const char* c = name; *c != '\0'; c++) number = number * 31 + (unsigned char)*c;
  return number;
}

void memory_check(const team* team, double bytes_of_rank, const char* what) {
  const bool one_machine = team_max(team, machine()) == -team_max(team, -machine());
  const double need = one_machine ? team_sum(team, bytes_of_rank) : bytes_of_rank;
  const double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const double gib = 1073741824;
  team_agree(team, need <= have, TEAM_BAD_INPUT,
             "%s needs %.1f GiB of memory, this machine has %.1f GiB; use a smaller --size%s", what, need / gib,
             have / gib, one_machine ? "" : " or more machines");
}

void* memory_pages(size_t bytes) {
  const size_t huge_page = 2 << 20, whole = (bytes + huge_page - 1) / huge_page * huge_page;
  void* memory = aligned_alloc(huge_page, whole > 0 ? whole : huge_page);
  if (memory != NULL) madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}
