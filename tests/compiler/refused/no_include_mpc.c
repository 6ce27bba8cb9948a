shared int a[10]::[4](0, 4);
int main(void) { return a[0]; }
// expected: 1:1: this file does not include <mpc.h>
// remedy: put #include <mpc.h> at its beginning
