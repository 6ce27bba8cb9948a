/* Runs random data-race-free programs and compares them with a sequential oracle; random.h says how.
 *   random [--seed S] [--seeds COUNT] [--phases P] [--threads T] [--scale X] [--twins 1] [--progress 1]
 * Deterministic for a seed, a number of ranks, and these options. The first wrong value ends the job with a message.
 */
#include "random.h"

#include <pthread.h>

typedef struct job {
  program* p;
  const phase* ph;
  int actor;
} job;

static void* run_job(void* argument) {
  const job* j = argument;
  actor_run(j->p, j->ph, j->actor, 1);
  return NULL;
}

/* This rank's actors, one thread each. */
static void run_phase(program* p, const phase* ph) {
  pthread_t thread[MAX_THREADS];
  job jobs[MAX_THREADS];
  for (int t = 0; t < ph->threads; ++t) jobs[t] = (job){p, ph, sms_rank * ph->threads + t};
  for (int t = 1; t < ph->threads; ++t)
    if (pthread_create(&thread[t], NULL, run_job, &jobs[t]) != 0) fail("cannot start a thread");
  run_job(&jobs[0]);
  for (int t = 1; t < ph->threads; ++t) pthread_join(thread[t], NULL);
}

/* Every rank's value is known to all, so the result is too: combined in rank order, to the last bit. */
static void check_reductions(program* p) {
  const uint64_t key = rng_next(&p->script);
  const int op = (int)(key & 3);
  double want = 0;
  int64_t want_integer = 0;
  for (int r = 0; r < sms_nprocs; ++r) {
    const double v = (double)(int64_t)mix2(key, (uint64_t)r) * 1e-13;
    const int64_t i = (int64_t)(mix2(key, (uint64_t)r) >> 50);
    const double next[] = {want + v, v < want ? v : want, v > want ? v : want, want * v};
    const int64_t next_integer[] = {want_integer + i, i < want_integer ? i : want_integer,
                                    i > want_integer ? i : want_integer,
                                    (int64_t)((uint64_t)want_integer * (uint64_t)i)};
    want = r == 0 ? v : next[op];
    want_integer = r == 0 ? i : next_integer[op];
  }
  const uint64_t mine = mix2(key, (uint64_t)sms_rank);
  const double got = sms_reduce_double((double)(int64_t)mine * 1e-13, (enum sms_op)op);
  if (memcmp(&got, &want, sizeof got) != 0)
    fail("seed %lu: reduction %d of doubles is %.17g, expected %.17g", p->seed, op, got, want);
  const int64_t integer = sms_reduce_int64((int64_t)(mine >> 50), (enum sms_op)op);
  if (integer != want_integer)
    fail("seed %lu: reduction %d of integers is %ld, expected %ld", p->seed, op, integer, want_integer);
}

/* What this rank has written itself it sees whatever the others do. Its actors have written it to the model, too. */
static void check_own(const program* p, const phase* ph) {
  for (int a = 0; a < p->narrays; ++a)
    for (size_t u = 0; u < ph->layers[a].units; ++u) {
      const int owner = ph->layers[a].owner[u];
      if (owner < 0 || owner / ph->threads != sms_rank) continue;
      const size_t first = u * ph->layers[a].unit, end = first + unit_bytes(p, ph, (spot){a, u});
      for (size_t at = first; at < end; ++at)
        if (p->arrays[a].shared[at] != p->arrays[a].model[at]) fail_at(p, a, at, "wrong value between two halves");
    }
}

static void end_phase(program* p, const phase* ph) {
  if (rng_once_in(&p->script, 4)) check_reductions(p);
  switch (rng_int(&p->script, 8)) {
    case 0:
    case 1: sms_sync_drop(); break;
    case 2:
      sms_sync_drop_start();
      check_own(p, ph);
      sms_sync_drop_wait();
      sms_barrier(); /* who is through would write what another still checks */
      break;
    case 3:
      sms_barrier(); /* and once more */
      __attribute__((fallthrough));
    default: sms_barrier();
  }
}

static void one_phase(program* p) {
  phase ph;
  phase_plan(p, &ph);
  run_phase(p, &ph);
  end_phase(p, &ph);
  for (int actor = 0; actor < ph.actors; ++actor) actor_run(p, &ph, actor, 0);
  relay_apply(p, &ph);
  phase_release(&ph, p->narrays);
  for (int a = 0; a < p->narrays; ++a) array_check_queries(p, &p->arrays[a], &p->script);
  if (p->narrays > 1 && rng_once_in(&p->script, 5)) array_destroy(p, rng_int(&p->script, p->narrays));
  if (p->narrays < MAX_ARRAYS && rng_once_in(&p->script, 4)) array_create(p);
}

/* Everything, at the end; each rank from another place on. */
static void check_all(const program* p) {
  for (int a = 0; a < p->narrays; ++a)
    for (size_t i = 0; i < p->arrays[a].bytes; ++i) {
      const size_t at = (i + p->arrays[a].bytes / (size_t)sms_nprocs * (size_t)sms_rank) % p->arrays[a].bytes;
      if (p->arrays[a].shared[at] != p->arrays[a].model[at]) fail_at(p, a, at, "wrong value at the end");
    }
  sms_barrier();
}

static void run_program(const settings* set, uint64_t seed) {
  program p = {.set = set, .seed = seed, .script = {mix2(seed, (uint64_t)sms_nprocs)}};
  p.calm = rng_once_in(&p.script, 3);
  p.control = sms_alloc(sizeof(int64_t), 2, rng_int(&p.script, sms_nprocs));
  for (int arrays = 1 + rng_int(&p.script, 3); arrays > 0; --arrays) array_create(&p);
  const int phases = set->phases > 0 ? set->phases : 1 + rng_int(&p.script, 6);
  for (p.phase = 0; p.phase < phases; ++p.phase) one_phase(&p);
  check_all(&p);
  while (p.narrays > 0) array_destroy(&p, p.narrays - 1);
  sms_free(p.control);
}

int main(int argc, char** argv) {
  settings set = {
      .seed = strtoul(option_text(argc, argv, "--seed", "1"), NULL, 0),
      .seeds = (int)tries(option_number(argc, argv, "--seeds", 1)),
      .phases = (int)option_number(argc, argv, "--phases", 0),
      .threads = (int)option_number(argc, argv, "--threads", 1),
      .scale = (int)option_number(argc, argv, "--scale", 1),
      .twins = (int)option_number(argc, argv, "--twins", 0),
  };
  const long progress = option_number(argc, argv, "--progress", 0);
  sms_startup(&argc, &argv);
  if (set.threads < 1 || set.threads > MAX_THREADS || set.threads * sms_nprocs > MAX_ACTORS || set.scale < 1)
    fail("--threads must be 1 to %d, and at most %d over all ranks; --scale at least 1", MAX_THREADS, MAX_ACTORS);
  for (int i = 0; i < set.seeds; ++i) {
    if (progress && sms_rank == 0) fprintf(stderr, "seed %lu\n", set.seed + (uint64_t)i);
    run_program(&set, set.seed + (uint64_t)i);
  }
  if (sms_rank == 0) printf("random: %d programs from seed %lu, %d ranks, right\n", set.seeds, set.seed, sms_nprocs);
  sms_shutdown();
  return 0;
}
