int a[4]:[*];
int main(void) { return a[1]:[0]; }
// expected: 1:9: this file does not include <xmp.h>
// remedy: put #include <xmp.h> at its beginning
