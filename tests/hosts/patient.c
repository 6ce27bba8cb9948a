/* A job that goes on until it is told to end, and checks every value it reads: patient FILE ends when FILE exists.
 * In each round every rank writes its block, and reads the blocks of all others after a barrier. Rank 0 says "running"
 * after the first round, and at the end "right" and how many rounds there were. A wrong value ends the job at once.
 */
#include <inttypes.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 2048, MOST_RANKS = 64 };

static int64_t value(int64_t round, int rank, int i) { return round * 1000003 + rank * 101 + i; }

static void check(int64_t* const* blocks, int64_t round) {
  for (int r = 0; r < sms_nprocs; ++r)
    for (int i = 0; i < WORDS; ++i)
      if (blocks[r][i] != value(round, r, i)) {
        char text[120];
        snprintf(text, sizeof text, "wrong value in round %" PRId64 ": word %d of rank %d is %" PRId64, round, i, r,
                 blocks[r][i]);
        sms_abort(1, text);
      }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (argc != 2 || sms_nprocs > MOST_RANKS) sms_abort(2, "usage: patient FILE, with at most 64 ranks");
  int64_t* blocks[MOST_RANKS];
  for (int r = 0; r < sms_nprocs; ++r) blocks[r] = sms_alloc(sizeof(int64_t), WORDS, r);
  int64_t round = 0, end = 0;
  for (; !end; ++round) {
    for (int i = 0; i < WORDS; ++i) blocks[sms_rank][i] = value(round, sms_rank, i);
    sms_barrier();
    check(blocks, round);
    end = sms_reduce_int64(sms_rank == 0 && access(argv[1], F_OK) == 0, SMS_MAX); /* and so nobody still reads */
    if (sms_rank == 0 && round == 0) puts("running"), fflush(stdout);
    nanosleep(&(struct timespec){0, 2000000}, NULL); /* leaves the machine to others */
  }
  if (sms_rank == 0) printf("right: %" PRId64 " rounds, %d ranks on %d nodes\n", round, sms_nprocs, sms_nnodes);
  sms_shutdown();
  return 0;
}
