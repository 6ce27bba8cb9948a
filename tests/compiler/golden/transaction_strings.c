#include <sms.h>
#include <string.h>

#include "check.h"

struct entry {
  char name[24];
  int64_t uses;
};

static struct entry* find(struct entry* table, const char* name) {
  for (int i = 0; i < 8; i++) {
    if (table[i].name[0] == 0) strncpy(table[i].name, name, sizeof table[i].name);
    if (strcmp(table[i].name, name) == 0) return &table[i];
  }
  return NULL;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  struct entry* table = sms_alloc(sizeof *table, 8, 0);
  const char* const names[] = {"one", "two", "three", "a rather long name"};
  int64_t wrong = 0, sum = 0;
  for (int i = 0; i < 40; i++) {
    char got[24];
#pragma hiroba atomic
    {
      struct entry* at = find(table, names[i % 4]);
      at->uses++;
      memcpy(got, at->name, sizeof got);
      wrong += memcmp(got, at->name, strlen(names[i % 4]) + 1) != 0;
    }
    wrong += strcmp(got, names[i % 4]) != 0;
  }
  sms_barrier();
  for (int i = 0; i < 8; i++) sum += table[i].uses;
  const int end = verdict(wrong + (sum != 40 * sms_nprocs) + (table[4].name[0] != 0));
  sms_shutdown();
  return end;
}
