#include <xmp.h>
int a[4]:[*];
int value = a[1]:[0];
int main(void) { return value; }
// expected: 3:13: images are not there before the program starts
// remedy: write this in a function
