#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  double sum = 0;
#pragma hiroba task in(a) shared(sum)
  {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += a[i];
  }
#pragma hiroba taskwait
  return sum > 1;
}
// expected: 7:40: `sum` is shared with the program, and stands here in another directive
// remedy: use a variable of the task there
