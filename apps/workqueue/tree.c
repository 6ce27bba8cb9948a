#include "tree.h"

#include <math.h>
#include <string.h>

/* ---- SHA-1 (FIPS 180) of a message that fits into one block ------------------------------------------------------ */

enum { BLOCK = 64, WORDS = 16, ROUNDS = 80, STATE = 5 };

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t load(const uint8_t* from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void store(uint8_t* to, uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void sha1(const uint8_t* message, size_t bytes, uint8_t out[TREE_HASH]) {
  uint32_t state[STATE] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, w[ROUNDS];
  uint8_t block[BLOCK] = {0};
  memcpy(block, message, bytes);
  block[bytes] = 0x80;
  store(block + BLOCK - 4, (uint32_t)(8 * bytes));
  for (int i = 0; i < WORDS; i++) w[i] = load(block + 4 * i);
  for (int i = WORDS; i < ROUNDS; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < ROUNDS; i++) {
    uint32_t f, k;
    if (i < 20) f = (b & c) | (~b & d), k = 0x5a827999;
    else if (i < 40) f = b ^ c ^ d, k = 0x6ed9eba1;
    else if (i < 60) f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
    else f = b ^ c ^ d, k = 0xca62c1d6;
    const uint32_t next = rotate(a, 5) + f + e + k + w[i];
    e = d, d = c, c = rotate(b, 30), b = a, a = next;
  }
  const uint32_t sum[STATE] = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
  for (int i = 0; i < STATE; i++) store(out + 4 * i, sum[i]);
}

/* ---- nodes, as UTS makes them ------------------------------------------------------------------------------------ */

node tree_root(const tree* t) {
  uint8_t message[TREE_HASH] = {0};
  node root = {.depth = 0};
  store(message + TREE_HASH - 4, (uint32_t)t->seed);
  sha1(message, sizeof message, root.hash);
  return root;
}

node tree_child(const node* of, int number) {
  uint8_t message[TREE_HASH + 4];
  node child = {.depth = of->depth + 1};
  memcpy(message, of->hash, TREE_HASH);
  store(message + TREE_HASH, (uint32_t)number);
  sha1(message, sizeof message, child.hash);
  return child;
}

/* In [0, 1). */
static double number_of(const node* n) { return (load(n->hash + TREE_HASH - 4) & 0x7fffffff) / 2147483648.0; }

int tree_children(const tree* t, const node* of) {
  enum { MOST = 100 }; /* UTS has this limit, too */
  if (t->binomial) {
    if (of->depth == 0) return (int)t->children;
    return number_of(of) < t->chance ? t->many : 0;
  }
  if (of->depth >= t->limit) return 0;
  const double p = 1 / (1 + t->children), found = floor(log(1 - number_of(of)) / log(1 - p));
  return found > MOST ? MOST : (int)found;
}
