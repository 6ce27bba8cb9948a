/* Messages of transactions on memory of nodes that are reached by messages only: one for each stripe that is read, two
 * for each home that is written, one for a home that is only read by a transaction that writes, and one more for each
 * further home, at the first look. Rank 0 has the transactions; ranks 1 and 2 are homes. */
#include <hiroba/sms.h>
#include <hiroba/transaction.h>
#include <stdio.h>

enum { STRIPE = 8, STRIPES = 8 }; /* words in a stripe */

static int64_t *one, *other; /* at home on ranks 1 and 2 */

static void read_some(int64_t* at, int stripes) {
  for (int i = 0; i < stripes; i++) hiroba_tx_load_int64(&at[i * STRIPE]);
}
static void write_some(int64_t* at, int stripes) {
  for (int i = 0; i < stripes; i++)
    hiroba_tx_store_int64(&at[i * STRIPE], i), hiroba_tx_store_int64(&at[i * STRIPE + 1], i);
}

static void reads(void) { read_some(one, STRIPES); }
static void reads_again(void) { read_some(one, 1), read_some(one, 1), hiroba_tx_load_int64(&one[1]); }
static void writes(void) { write_some(one, STRIPES); }
static void changes(void) { read_some(one, 3), write_some(one, 3); }
static void writes_both(void) { write_some(one, 2), write_some(other, 2); }
static void changes_both(void) { read_some(one, 2), read_some(other, 2), write_some(one, 2), write_some(other, 2); }
static void reads_both(void) { read_some(one, 2), read_some(other, 2); }
static void reads_one_writes_other(void) { read_some(one, 2), write_some(other, 2); }

static const struct expected {
  const char* name;
  void (*work)(void);
  uint64_t messages;
} expected[] = {
    {"reads of 8 stripes", reads, 8},
    {"reads of one stripe", reads_again, 1},
    {"stores to 8 stripes", writes, 2},
    {"3 stripes are read and written", changes, 3 + 2},
    {"stores at two homes", writes_both, 2 * 2},
    {"stripes of two homes are read and written", changes_both, 4 + 1 + 2 * 2},
    {"reads at two homes", reads_both, 4 + 1},
    {"reads at one home, stores at another", reads_one_writes_other, 2 + 2 + 1},
};

static uint64_t messages(void) {
  hiroba_tx_statistics all;
  hiroba_tx_stats(&all);
  return all.messages;
}

/* Returns the messages of a transaction with this work. */
static uint64_t messages_of(void (*work)(void)) {
  const uint64_t before = messages();
  HIROBA_ATOMIC { work(); }
  return messages() - before;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int wrong = 0;
  if (sms_rank == 0) {
    one = sms_malloc_on(STRIPES * STRIPE * sizeof *one, 1);
    other = sms_malloc_on(STRIPES * STRIPE * sizeof *other, 2);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
      const uint64_t sent = messages_of(expected[i].work);
      printf("%s: %lu messages\n", expected[i].name, (unsigned long)sent);
      if (sent != expected[i].messages) wrong = printf("wrong: not %lu\n", (unsigned long)expected[i].messages);
    }
    if (!wrong) printf("done\n");
    sms_mfree(one);
    sms_mfree(other);
  }
  sms_barrier();
  sms_shutdown();
  return wrong != 0;
}
