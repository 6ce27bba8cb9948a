/* set.h: a set of numbers in shared memory, as a red-black tree of nodes on the heap of sms.h.
 *
 * The functions are called within a critical section of the way `with` (critical.h), but set_check. */
#ifndef RBTREE_SET_H
#define RBTREE_SET_H

#include <stdbool.h>

#include "../common/critical.h"

typedef struct node node;
struct node {
  int64_t key, red;
  node *kid[2], *parent; /* kid[0] has the smaller keys */
};

typedef struct set {
  node* root;
} set;

CRITICAL_FUNCTION bool set_has(critical with, set* s, int64_t key);
CRITICAL_FUNCTION bool set_insert(critical with, set* s, int64_t key); /* false: it was there */
CRITICAL_FUNCTION bool set_remove(critical with, set* s, int64_t key); /* false: it was not there */

/* While nobody changes the set. Returns what is wrong with the tree, or NULL and the number of its elements. */
const char* set_check(const set* s, int64_t* size);

#endif
