#include <smint.h>
struct node { struct node* next; int value; };
int main(void) {
  struct node* first = 0;
#pragma SMint parallel for
  for (struct node* p = first; p; p = p->next) p->value = 1;
  return 0;
}
// expected: 6:3: this is not a counted loop: it has no simple variable
// remedy: write for (i = first; i < end; i += step), and leave by its condition only
