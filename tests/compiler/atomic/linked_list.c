#include "all.h"

typedef struct n {
  struct n* next;
  int k;
} n;
static n* head;
static void push(int k) {
  n* x = malloc(sizeof(n));
  x->k = k;
  x->next = head;
  head = x;
}
static int pop(void) {
  if (!head) return -1;
  n* x = head;
  int k = x->k;
  head = x->next;
  free(x);
  return k;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 10; i++) {
#pragma hiroba atomic
    {
      push(i);
      if (i % 3 == 0) s += pop();
    }
  }
  int m = 0;
  for (n* x = head; x; x = x->next) m = m * 7 + x->k;
  printf("%d %d\n", s, m);
}
