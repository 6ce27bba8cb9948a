#include <sms.h>
#include <hiroba/transaction.h>

#include "check.h"

/* Blocks in blocks and in functions, an abort, and a wait for what another rank does. */
static int64_t* cell;

static void add(int64_t n) {
#pragma hiroba atomic
  {
    cell[0] += n;
    cell[1] -= n;
  }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  cell = sms_alloc(sizeof *cell, 4, 0);
  int64_t wrong = 0, passed = 0;
  for (int i = 0; i < 50; i++) {
#pragma hiroba atomic
    {
      add(i);
#pragma hiroba atomic
      add(1);
    }
    add(2);
#pragma hiroba atomic
    {
      add(1000);
      passed++;
      if (cell[0] + cell[1] == 0) hiroba_tx_abort(7);
      wrong++;
    }
    wrong += hiroba_tx_value() != 7;
  }
  sms_barrier();
  wrong += passed != 0 || cell[0] != sms_nprocs * (49 * 25 + 150) || cell[0] + cell[1] != 0;
  if (sms_rank == sms_nprocs - 1) {
#pragma hiroba atomic
    cell[2] = 5;
  } else {
#pragma hiroba atomic
    if (cell[2] == 0) hiroba_tx_retry();
  }
  const int end = verdict(wrong);
  sms_shutdown();
  return end;
}
