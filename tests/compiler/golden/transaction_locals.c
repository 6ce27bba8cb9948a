#include <sms.h>
#include <string.h>

#include "check.h"

/* Variables of the function: copies, those that others may change, arrays, and what a restart undoes. */
static void swap(int* a, int* b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}
__attribute__((noinline)) static int work(int64_t* shared, int n, const char* name) {
  int again = 0, x = 1, y = 2, table[n], many[4] = {1, 2, 3, 4};
  static int calls;
  register int r = 5;
  char text[20];
  memset(table, 0, sizeof table);
#pragma hiroba atomic
  {
    int z = n;
    r++;
    swap(&x, &y);
    swap(&z, &many[1]);
    strcpy(text, name);
    calls++;
    table[n - 1] += z + (int)(sizeof table / sizeof table[0]);
    many[0] += many[1];
    shared[many[1] % 4] += 1;
    for (int i = 0; i < 4; i++) many[i]++;
    again++;
  }
  return again == 1 && x == 2 && y == 1 && r == 6 && table[n - 1] == 2 + n && many[0] == 2 + n && many[1] == n + 1 &&
         many[3] == 5 && strcmp(text, name) == 0 && calls > 0;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int64_t* shared = sms_alloc(sizeof *shared, 4, 0);
  int right = 0;
  for (int i = 0; i < 40; i++) right += work(shared, 4 + i % 4, "a name");
  sms_barrier();
  int64_t sum = 0;
  for (int i = 0; i < 4; i++) sum += shared[i];
  const int end = verdict((right != 40) + (sum != 40 * sms_nprocs) + (shared[2] != 10 * sms_nprocs));
  sms_shutdown();
  return end;
}
