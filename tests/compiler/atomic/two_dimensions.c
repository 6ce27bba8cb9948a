#include "all.h"

double m[3][4];
int main(void) {
  double(*row)[4] = m;
  int s = 0;
#pragma hiroba atomic
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      row[i][j] += i * 4 + j;
      m[i][j] *= 2;
      s += (int)m[i][j];
    }
  printf("%g %d\n", m[2][3], s);
}
