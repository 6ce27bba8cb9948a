/* A queue in shared memory: rank 0 puts numbers in, all other ranks take them out, one lock protects it.
 *
 *   cc producer_consumer.c -lhiroba -o producer_consumer && hirobarun -n 4 --nodes 2 ./producer_consumer
 *
 * Taking a lock shows a rank what was written by those who held it before, wherever they ran. With one rank, rank 0
 * consumes too.
 */
#include <sms.h>
#include <stdio.h>
#include <unistd.h>

enum { NUMBERS = 2000, ROOM = 64, QUEUE_LOCK = 0 };

typedef struct queue {
  int put, taken; /* numbers put and taken so far */
  int slots[ROOM];
} queue;

/* Both return 0 if the queue has no room for a number, or none to take. */
static int put(queue* q, int number) {
  sms_lock(QUEUE_LOCK);
  const int room = q->put - q->taken < ROOM;
  if (room) q->slots[q->put++ % ROOM] = number;
  sms_unlock(QUEUE_LOCK);
  return room;
}

static int take(queue* q, int* number, int* all_taken) {
  sms_lock(QUEUE_LOCK);
  const int any = q->taken < q->put;
  if (any) *number = q->slots[q->taken++ % ROOM];
  *all_taken = q->taken == NUMBERS;
  sms_unlock(QUEUE_LOCK);
  return any;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  queue* q = sms_alloc(sizeof *q, 1, 0); /* zero-filled: empty */
  const int produces = sms_rank == 0, consumes = sms_rank > 0 || sms_nprocs == 1;

  int next = 1, number, all_taken = 0;
  int64_t count = 0, sum = 0;
  while ((produces && next <= NUMBERS) || (consumes && !all_taken)) {
    int idle = 1;
    if (produces && next <= NUMBERS && put(q, next)) next++, idle = 0;
    if (consumes && take(q, &number, &all_taken)) count++, sum += number, idle = 0;
    if (idle) usleep(100); /* leave the lock, and the core, to the others */
  }

  count = sms_reduce_int64(count, SMS_SUM);
  sum = sms_reduce_int64(sum, SMS_SUM);
  if (sms_rank == 0) printf("%d numbers taken, sum %d\n", (int)count, (int)sum);
  sms_shutdown();
  return count == NUMBERS && sum == (int64_t)NUMBERS * (NUMBERS + 1) / 2 ? 0 : 1;
}
