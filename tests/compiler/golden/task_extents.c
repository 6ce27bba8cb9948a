/* Extents that are known only at run time: of what pointers point to, of parameters, of arrays on the stack. */
#include <stdlib.h>
#include <task.h>
#include "check.h"

static int function(int n, int m, int whole[n][m][2]) {
  int wrong = 0;
  int stack[n][m], (*rows)[m] = malloc(sizeof(int[n][m]));
  int (**to)[m] = malloc(sizeof *to);
  *to = malloc(sizeof(int[m]));
#pragma hiroba task out(stack[0:n][0:m], rows[0:n][:]) inout(whole[:n][:][:])
  for (int i = 0; i < n * m; i++) {
    stack[i / m][i % m] = i;
    rows[i / m][i % m] = 2 * i;
    whole[i / m][i % m][1] = (int)(sizeof *rows / sizeof(int)) + (int)(sizeof stack / sizeof stack[0]);
  }
  int rest = m;
  m = 1;
#pragma hiroba task in(stack[n - 1], rows[0][0:rest], whole[n - 1][rest - 1][1]) out(to[0][0:1]) out(wrong)
  {
    wrong = stack[n - 1][rest - 1] != n * rest - 1 || rows[0][rest - 1] != 2 * (rest - 1);
    wrong += whole[n - 1][rest - 1][1] != rest + n || sizeof **to != rest * sizeof(int);
    (**to)[0] = wrong;
  }
#pragma hiroba taskwait
  wrong += (**to)[0] != 0;
  free(rows);
  free(*to);
  free(to);
  return wrong;
}

int main(void) {
  int whole[4][3][2];
  return verdict(function(4, 3, whole));
}
