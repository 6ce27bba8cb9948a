#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  int i = 0;
#pragma hiroba taskloop grainsize(3)
  while (i < 10) a[i] = i, i++;
}
// expected: 5:1: the loop below #pragma hiroba taskloop is no for loop
// remedy: write for (int i = first; i < end; i++)
