int main(void) {
  int b[4], x = 3;
  b[0:2] = x ? 1 : 2;
  return b[0];
}
// expected: 3:4: this file does not include <xmp.h>
// remedy: put #include <xmp.h> at its beginning
