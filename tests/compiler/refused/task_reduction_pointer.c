#include <task.h>
double* p;
int main(void) {
#pragma hiroba task reduction(+ : p)
  *p += 1;
}
// expected: 4:35: a reduction of `p`, which is a pointer
// remedy: name a variable, an element x[i], *p, or contiguous elements x[base:length]
