/* What looks like work of every rank, and is not: all of this must compile without a word. */
#include <smint.h>
#include <stdio.h>
#include "check.h"

enum { N = 64 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int per_rank[N];
#pragma SMint shared ::[](0, 1)
int total;

static void add(int more) { total += more; }

static void bounds(int* first, int* end) {
  *first = MYPID;
  *end = MYPID + 1;
}

static void own_part(int begin, int stop) {
  for (int i = begin; i < stop; i++) per_rank[i] += 1;
}

static void only_first(void) {
  if (MYPID != 0) return;
  total += 2;
}

int main(void) {
  int n = 0, first, end;
  double words[2] = {0, 0};
#pragma SMint single copy(n, words)
  {
    n = 5;
    words[1] = 2.5;
  }
  int wrong = n != 5 || words[1] != 2.5;
  if (MYPID == 0) add(1);
#pragma SMint barrier
  only_first();
  bounds(&first, &end);
  own_part(first, end);
  per_rank[MYPID] += 1;
#pragma SMint single
  add(3);
#pragma SMint critical
  total++;
#pragma SMint barrier
  wrong += total != 6 + NPROCS || per_rank[NPROCS - 1] != 2;
  verdict(wrong);
  return 0;
}
