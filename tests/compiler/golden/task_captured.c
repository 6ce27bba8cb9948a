/* Variables of the function around a task: copied when it is created, arrays and structs too; shared by their address;
 * its own; static ones, functions and globals as they are. */
#include <string.h>
#include <task.h>
#include "check.h"

struct point {
  int x, y;
};
typedef int row[3];
static int global = 1;
static int twice(int n) { return 2 * n; }

static int function(const int* first, int rows[][3], int (*of)(int), const char* name) {
  static int times = 0;
  const int fixed[3] = {1, 2, 3};
  row typed = {4, 5, 6};
  struct point p = {7, 8}, *to = &p;
  const char *words[2] = {"a", "bc"}, *const last = words[1];
  int i = 5, kept = 0, scratch = -1, sums[2] = {0, 0};
  unsigned char small = 200;
#pragma hiroba task shared(kept) private(scratch) out(sums[0:2])
  {
    scratch = fixed[1] + typed[2];
    kept = scratch + i + small;
    sums[0] = p.x + to->y + first[1] + rows[1][2];
    sums[1] = of(global) + (int)strlen(words[1]) + (int)sizeof typed + (int)sizeof(fixed) + (last[1] == 'c') + name[0];
    times++;
    i = typed[0] = 0;
  }
  i = 6;
  p.x = typed[2] = 0;
  words[1] = "wrong";
  small = 0;
#pragma hiroba taskwait
  int wrong = kept != 2 + 6 + 5 + 200 || sums[0] != 7 + 8 + 20 + 6 || scratch != -1 || typed[0] != 4 || i != 6;
  wrong += sums[1] != 2 + 2 + 12 + 12 + 1 + 'n' || times != 1;
#pragma hiroba task firstprivate(global) out(wrong)
  {
    int i = 3; /* not that of the function */
    global += i;
    wrong += global != 4;
  }
#pragma hiroba taskwait
  return wrong + (global != 1);
}

int main(void) {
  int numbers[2] = {10, 20}, rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  return verdict(function(numbers, rows, twice, "name"));
}
