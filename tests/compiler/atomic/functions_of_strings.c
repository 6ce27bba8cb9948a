#include "all.h"

char a[40] = "one", b[40];
int main(void) {
  int r;
#pragma hiroba atomic
  {
    strcpy(b, a);
    strcat(b, "two");
    r = (int)strlen(b) * 10 + (strcmp(a, b) < 0) + (strncmp(a, b, 3) == 0);
    memmove(b + 2, b, 5);
    memset(a, 'x', 2);
    memcpy(a + 5, b, 3);
    r += memcmp(a, b, 2) > 0;
    r += strchr(b, 't') != NULL;
    char l[8];
    memcpy(l, b, 8);
    l[7] = 0;
    strncpy(a + 10, l, 12);
  }
  printf("%d %s %s %s\n", r, a, b, a + 10);
}
