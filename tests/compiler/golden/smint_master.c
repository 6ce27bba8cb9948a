#include <smint.h>
#include "check.h"

#pragma SMint shared ::[](0, 1)
int total;

int main(void) {
#pragma SMint master
  total += 3;
#pragma SMint barrier
  return verdict(total != 3);
}
