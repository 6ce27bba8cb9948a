#include <task.h>
struct { double x; } s;
int main(void) {
#pragma hiroba task reduction(+ : s.x)
  s.x += 1;
}
// expected: 4:35: a reduction of `s.x`, which is no variable
// remedy: name a variable, an element x[i], *p, or contiguous elements x[base:length]
