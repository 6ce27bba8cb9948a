#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template v[:]
#pragma xmp distribute v[block] onto p
double *q, *other;
#pragma xmp align q[i] with v[i]
void get(double** at);
int main(void) {
  get(&q);
  return 0;
}
// expected: 11:8: `q` is an aligned pointer, whose address cannot change
// remedy: pass q itself, which is the address of this node's part
