#include <sms.h>
#include <stdlib.h>

#include "check.h"

/* A list whose nodes blocks allocate and free, by functions that are recursive, and defined behind their use. */
typedef struct node {
  struct node* next;
  long key;
} node;
typedef struct list {
  node* head;
  long count;
} list;

static node* insert(node* at, long key, long* count);
long length(const node* at);
static inline __attribute__((always_inline)) void drop(list* all) {
  node* first = all->head;
  all->head = first->next;
  all->count--;
  free(first);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  list* all = sms_alloc(sizeof *all, 1, 0);
  long made = 0, seen = 0, wrong = 0;
  for (long i = 0; i < 60; i++) {
#pragma hiroba atomic
    {
      all->head = insert(all->head, (i * 7 + sms_rank) % 31, &made);
      all->count = seen = length(all->head);
    }
    wrong += seen > 31;
  }
  sms_barrier();
  for (long n = 0; n < 31; n++) {
#pragma hiroba atomic
    if (all->head) drop(all);
  }
  sms_barrier();
  made = (long)sms_reduce_int64(made, SMS_SUM);
  const int end = verdict(wrong + (made != 31) + (all->head != NULL) + (all->count != 0));
  sms_shutdown();
  return end;
}

static node* insert(node* at, long key, long* count) {
  if (at == NULL || at->key > key) {
    node* made = malloc(sizeof *made);
    made->key = key;
    made->next = at;
    ++*count;
    return made;
  }
  if (at->key < key) at->next = insert(at->next, key, count);
  return at;
}

long length(const node* at) { return at ? 1 + length(at->next) : 0; }
