#include "all.h"

int v = 5, *p = &v, **pp = &p;
char* names[3] = {"a", "bb", "ccc"};
int main(void) {
  int w = 6;
  const char* c;
#pragma hiroba atomic
  {
    **pp += 1;
    *pp = &w;
    **pp *= 2;
    c = names[1];
    names[1] = names[2] + 1;
    v += (int)(names[1] - names[2]);
  }
  p = &v;
  printf("%d %d %s %s\n", v, w, c, names[1]);
}
