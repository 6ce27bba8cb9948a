#include <xmp.h>
int a[4]:[2];
int main(void) { return a[1]; }
// expected: 2:9: the last codimension is `*`: as many as there are images for
// remedy: write :[*]
