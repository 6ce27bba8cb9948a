// Transactions of GCC (-fgnu-tm) by libhiroba_tm, without a job: threads, a list, nested blocks, cancels, relaxed
// blocks.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAFE __attribute__((transaction_safe, noinline))

static long a, b, sum;
static char text[64];
static struct node {
  struct node* next;
  long value;
}* head;

SAFE static long same(long x) { return x; }
static long (*volatile call)(long) __attribute__((transaction_safe)) = same;
SAFE static void fill(long* out) {
  for (int i = 0; i < 8; ++i) out[i] = a + i;
}

static void expect(int right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
  exit(3);
}

static void* run(void* unused) {
  for (int i = 0; i < 20000; ++i) {
    __transaction_atomic { ++a, --b; }
    __transaction_atomic {
      struct node* const node = malloc(sizeof *node);
      node->value = i, node->next = head;
      head = node;
    }
    __transaction_atomic {
      struct node* const node = head;
      head = node->next, sum += call(node->value);
      free(node);
    }
    long mine[8];
    __transaction_atomic { fill(mine); }
    expect(mine[7] - mine[0] == 7, "an array on the stack");
  }
  return unused;
}

/* Code that runs at the end of a thread, twice, after its C++ objects are gone. */
static pthread_key_t at_end;
static long ends;
static void* begin_thread(void* unused) {
  pthread_setspecific(at_end, &ends);
  __transaction_atomic { ++ends; }
  return unused;
}
static void end_thread(void* unused) {
  (void)unused;
  __transaction_atomic { ++ends; }
  if (ends < 3) pthread_setspecific(at_end, &ends);
}

int main(void) {
  pthread_t thread;
  pthread_key_create(&at_end, end_thread);
  pthread_create(&thread, NULL, begin_thread, NULL);
  pthread_join(thread, NULL);
  expect(ends == 3, "transactions at the end of a thread");
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  pthread_join(thread, NULL);
  expect(a == 40000 && b == -40000 && sum == 2 * 19999L * 10000 && head == NULL, "two threads");
  int x = 1;
  __transaction_atomic {
    a = 100, x = 2;
    if (b < 0) __transaction_cancel;
  }
  expect(a == 40000 && x == 1, "a cancel");
  __transaction_atomic {
    a = 1;
    __transaction_atomic {
      a = 2, b = 7;
      __transaction_cancel;
    }
  }
  expect(a == 1 && b == -40000, "a cancel of a nested block");
  __transaction_relaxed {
    a = 3;
    printf("relaxed: %ld\n", a);
    ++a;
  }
  __transaction_atomic {
    memcpy(text, "hello world", 12);
    memset(text + 5, '-', 3);
  }
  expect(a == 4 && strcmp(text, "hello---rld") == 0, "a relaxed block, and copies");
  printf("done\n");
}
