/* tree.h: the trees of the Unbalanced Tree Search benchmark (UTS; Olivier et al., 2006). From a node follow its
 * children, and nothing else: how large a subtree is shows only when it has been visited. A node is a hash (SHA-1) of
 * its parent's and of its number among its siblings, so the tree is the same everywhere. Local; nothing here blocks. */
#ifndef WORKQUEUE_TREE_H
#define WORKQUEUE_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum { TREE_HASH = 20 };

typedef struct node {
  uint8_t hash[TREE_HASH];
  int32_t depth;
} node;

/* Geometric: up to a depth each node has a geometrically distributed number of children. Binomial: each node but the
 * root has `many` children with probability `chance`, else none. */
typedef struct tree {
  bool binomial;
  int seed;
  int limit;       /* geometric: the depth at which there are no children */
  double children; /* geometric: on the average; binomial: of the root */
  int many;
  double chance;
} tree;

node tree_root(const tree* t);
int tree_children(const tree* t, const node* of);
node tree_child(const node* of, int number);

/* What was found in a tree, or in a part of it. */
typedef struct tree_count {
  int64_t nodes, leaves, depth;
} tree_count;

#endif
