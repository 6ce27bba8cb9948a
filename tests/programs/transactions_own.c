/* Each rank stores to memory that is at home on another rank, plainly and by transactions in turn, without a fence: its
 * own accesses keep their order. Usage: transactions_own. Prints "ok". */
#include <hiroba/sms.h>
#include <hiroba/transaction.h>
#include <stdio.h>

enum { rounds = 200, stride = 1024 };

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int64_t* all[2];
  for (int i = 0; i < 2; ++i) all[i] = sms_alloc(sizeof(int64_t), (size_t)sms_nprocs * stride, i % sms_nprocs);
  int wrong = 0;
  for (int round = 1; round <= rounds; ++round)
    for (int i = 0; i < 2; ++i) {
      int64_t* const mine = all[i] + (size_t)sms_rank * stride;
      mine[0] = round; /* then read and changed by a transaction */
      mine[1] = -1;    /* then overwritten by one that has not read it */
      HIROBA_ATOMIC {
        hiroba_tx_store_int64(&mine[0], hiroba_tx_load_int64(&mine[0]) + 1000);
        hiroba_tx_store_int64(&mine[1], round);
      }
      wrong += mine[0] != round + 1000;
      wrong += mine[1] != round;
      mine[2] += mine[0] - 1000;
    }
  sms_barrier();
  for (int i = 0; i < 2; ++i)
    for (int r = 0; r < sms_nprocs; ++r) {
      const int64_t* const of = all[i] + (size_t)r * stride;
      wrong += of[0] != rounds + 1000 || of[1] != rounds || of[2] != (int64_t)rounds * (rounds + 1) / 2;
    }
  if (wrong > 0) printf("rank %d: %d values are wrong\n", sms_rank, wrong);
  if (sms_reduce_int64(wrong, SMS_SUM) == 0 && sms_rank == 0) puts("ok");
  sms_shutdown();
  return wrong > 0;
}
