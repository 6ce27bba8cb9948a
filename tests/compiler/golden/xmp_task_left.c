#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[cyclic(2)] onto p
int a[20];
#pragma xmp align a[i] with t[i]

int main(void) {
  int found = 0;
#pragma xmp loop on t[i] reduction(||:found)
  for (int i = 0; i < 20; i++)
    if (a[i] == 0) {
      found = 1;
      break;
    }
#pragma xmp task on p[0]
  {
    if (!found) return 1;
    puts("OK");
  }
  return 0;
}
