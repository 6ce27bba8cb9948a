#include <task.h>
double x;
int main(void) {
#pragma hiroba task reduction(| : x)
  x += 1;
}
// expected: 4:21: `x` is no integer, and | is for integers
// remedy: take another operator
