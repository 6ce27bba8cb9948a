/* Lines that end as on Windows, and bytes that are no UTF-8. */
#include <stdio.h>
#define LONG(x) \
  ((x) + \
   __LINE__)
int main(void) {
  // grün
  puts("grün åºƒå ´" __FILE__);
  return LONG(
    1) - __COUNTER__;
}
