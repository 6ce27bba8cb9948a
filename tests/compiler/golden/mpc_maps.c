#include <mpc.h>
#include "check.h"

#define SIDE 64
#define ALL (0, NPROCS)
shared int by_rows[SIDE][SIDE]::[NPROCS][1](0, NPROCS);
shared int by_columns[SIDE][SIDE]::[1][NPROCS](0, NPROCS);
shared int blocks[SIDE][SIDE]::[1][1 + NPROCS / 2](0, NPROCS);
shared int with_macro[SIDE][SIDE]::[NPROCS][]ALL;
shared int halves[SIDE]::[(NPROCS + 1) / 2](0, NPROCS);
shared int on_last[SIDE]::[1](NPROCS - 1, 1);
shared int short_map[SIDE][SIDE]::[NPROCS];
shared int spaced[SIDE] :: [ NPROCS ] ( 0 , NPROCS );
shared int on_two_lines[SIDE][SIDE]
    ::[NPROCS][1]
      (0, NPROCS);

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == 0)
    for (int i = 0; i < SIDE; i++) {
      for (int j = 0; j < SIDE; j++)
        by_rows[i][j] = by_columns[i][j] = blocks[i][j] = with_macro[i][j] = short_map[i][j] = on_two_lines[i][j] =
            i * j;
      halves[i] = on_last[i] = spaced[i] = i;
    }
  mpc_barrier();
  int wrong = 0;
  for (int i = 0; i < SIDE; i++) {
    for (int j = 0; j < SIDE; j++)
      wrong += by_rows[i][j] != i * j || by_columns[i][j] != i * j || blocks[i][j] != i * j ||
               with_macro[i][j] != i * j || short_map[i][j] != i * j || on_two_lines[i][j] != i * j;
    wrong += halves[i] != i || on_last[i] != i || spaced[i] != i;
  }
  verdict(wrong);
  return mpc_exit();
}
