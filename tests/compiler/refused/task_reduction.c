#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task reduction(/ : a[0])
  a[0] /= 2;
}
// expected: 4:21: `/` in reduction(..)
// remedy: write reduction(op: x) with one of + - * & | ^ && || max min
