#include "all.h"

struct t {
  int k;
  struct t *l, *r;
}* root;
static int size(struct t* t) { return t ? size(t->l) + 1 + size(t->r) : 0; }
static struct t* insert(struct t* t, int k) {
  if (!t) {
    t = calloc(1, sizeof *t);
    t->k = k;
    return t;
  }
  if (k < t->k) t->l = insert(t->l, k);
  else if (k > t->k) t->r = insert(t->r, k);
  return t;
}
int main(void) {
  int n = 0;
  for (int i = 0; i < 50; i++) {
#pragma hiroba atomic
    {
      root = insert(root, i * 37 % 41);
      n = size(root);
    }
  }
  printf("%d %d\n", n, root->k);
}
