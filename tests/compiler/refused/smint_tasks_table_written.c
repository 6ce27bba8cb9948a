#include <smint.h>
#define N 16
#pragma SMint shared ::[NPROCS](0,NPROCS)
double a[N];
int main(void) {
  static int row[N];
#pragma SMint parallel for tasks tile(1)
  for (int i = 0; i < N; i++) {
    a[row[i]] = i;
    row[i] = 2;
  }
}
// expected: 7:1: this loop cannot become tasks: row[i] is written, and subscripts are read from `row`
// remedy: write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away
