/* What one actor does in a phase: a list of chores drawn from the phase's key and the actor's number. Run for real by
 * the actor itself, and once more on the model alone by every rank, when the phase is over.
 */
#include "random.h"

enum chore_kind { WRITE, READ, LOCK, ATOMIC, PRELOAD, SYNC, PAUSE };

typedef struct chore {
  enum chore_kind kind;
  uint64_t key;
  int array;
  size_t start, stride, count; /* units: start, start + stride, .. modulo their number */
} chore;

typedef struct run {
  program* p;
  const phase* ph;
  int actor, real;
  rng script;
  sms_request pending[4];
  int npending;
} run;

static chore draw_chore(run* x) {
  static const enum chore_kind often[] = {WRITE, WRITE, WRITE,  WRITE,   READ, READ, READ,
                                          LOCK,  LOCK,  ATOMIC, PRELOAD, SYNC, PAUSE};
  static const enum chore_kind calm[] = {WRITE, WRITE, WRITE, READ, READ, READ, ATOMIC, PRELOAD, PAUSE};
  rng* r = &x->script;
  chore c;
  c.kind = x->p->calm ? calm[rng_int(r, (int)(sizeof calm / sizeof calm[0]))]
                      : often[rng_int(r, (int)(sizeof often / sizeof often[0]))];
  c.key = rng_next(r);
  c.array = rng_int(r, x->p->narrays);
  const layer* l = &x->ph->layers[c.array];
  c.start = rng_below(r, l->units);
  const size_t page = PAGE / l->unit + 1; /* strides of a page and backwards, too */
  const size_t strides[] = {1, 1, 1, 2, page, l->units - 1, 1 + rng_below(r, l->units)};
  c.stride = strides[rng_int(r, 7)];
  c.count = rng_once_in(r, 8) ? l->units : 1 + rng_below(r, l->units < 300 ? l->units : 300);
  return c;
}

static size_t chore_unit(const run* x, const chore* c, size_t i) {
  return (c->start + i * c->stride) % x->ph->layers[c->array].units;
}

/* ---- plain writes and reads ------------------------------------------------------------------------------ */

/* The bytes that a write puts into a unit: all of it or a part, chosen by the hash. */
typedef struct change {
  size_t from, bytes;
  unsigned char value[5120];
} change;

static void draw_change(const run* x, const chore* c, size_t unit, size_t bytes, change* out) {
  const uint64_t hash = mix2(c->key, unit);
  out->from = 0;
  out->bytes = bytes;
  if ((hash & 7) == 0) {
    out->from = (hash >> 8) % bytes;
    out->bytes = 1 + (hash >> 32) % (bytes - out->from);
  }
  if (out->bytes > sizeof out->value) out->bytes = sizeof out->value;
  for (size_t i = 0; i < out->bytes; i += 8) {
    uint64_t word = mix(hash + i);
    if (x->ph->small_values) word &= 0x0101010101010101u;
    memcpy(out->value + i, &word, 8);
  }
}

/* With one store where the size has one, as a program would. */
static void store(unsigned char* to, const unsigned char* from, size_t bytes) {
  if (bytes == 8 && (uintptr_t)to % 8 == 0) {
    uint64_t word;
    memcpy(&word, from, 8);
    *(volatile uint64_t*)to = word;
  } else if (bytes == 4 && (uintptr_t)to % 4 == 0) {
    uint32_t word;
    memcpy(&word, from, 4);
    *(volatile uint32_t*)to = word;
  } else {
    memcpy(to, from, bytes);
  }
}

static void do_write(const run* x, const chore* c) {
  const layer* l = &x->ph->layers[c->array];
  const array* a = &x->p->arrays[c->array];
  change change;
  for (size_t i = 0; i < c->count; ++i) {
    const size_t u = chore_unit(x, c, i);
    if (l->owner[u] != x->actor) continue;
    draw_change(x, c, u, unit_bytes(x->p, x->ph, (spot){c->array, u}), &change);
    const size_t at = u * l->unit + change.from;
    if (x->real) store(a->shared + at, change.value, change.bytes);
    memcpy(a->model + at, change.value, change.bytes);
  }
}

static void compare(const run* x, int index, size_t at, size_t bytes, const char* what) {
  const array* a = &x->p->arrays[index];
  if (memcmp(a->shared + at, a->model + at, bytes) == 0) return;
  size_t byte = at;
  while (byte + 1 < at + bytes && a->shared[byte] == a->model[byte]) ++byte;
  fail_at(x->p, index, byte, what);
}

static void do_read(const run* x, const chore* c) {
  if (!x->real) return;
  const layer* l = &x->ph->layers[c->array];
  for (size_t i = 0; i < c->count; ++i) {
    const size_t u = chore_unit(x, c, i);
    const int own = l->owner[u] == x->actor;
    if (own || l->owner[u] == NOBODY)
      compare(x, c->array, u * l->unit, unit_bytes(x->p, x->ph, (spot){c->array, u}),
              own ? "lost or mixed up what this thread wrote"
                  : "wrong value of an element that nobody writes in this phase");
  }
}

/* ---- critical sections ----------------------------------------------------------------------------------- */

static size_t spot_at(const run* x, spot s) { return s.unit * x->ph->layers[s.array].unit; }

static void add_to(unsigned char* at, size_t bytes, uint64_t delta) {
  uint64_t word = 0;
  if (bytes > 8) bytes = 8;
  memcpy(&word, at, bytes);
  word += delta;
  memcpy(at, &word, bytes);
}

/* All members of a group have moved by the same number since the phase began. */
static void check_group(const run* x, const group* g) {
  unsigned char moved = 0;
  for (int m = 0; m < g->members; ++m) {
    const array* a = &x->p->arrays[g->member[m].array];
    const size_t at = spot_at(x, g->member[m]);
    const unsigned char now = (unsigned char)(a->shared[at] - a->model[at]);
    if (m == 0) moved = now;
    if (now != moved) fail_at(x->p, g->member[m].array, at, "a critical section saw an earlier one in part");
  }
}

static void add_to_group(const run* x, const group* g, uint64_t delta) {
  if (x->real) check_group(x, g);
  for (int m = 0; m < g->members; ++m) {
    const array* a = &x->p->arrays[g->member[m].array];
    add_to((x->real ? a->shared : a->model) + spot_at(x, g->member[m]), unit_bytes(x->p, x->ph, g->member[m]), delta);
  }
}

static void look_at_group(const run* x, const group* g) {
  if (!x->real) return;
  sms_lock_shared(g->lock);
  check_group(x, g);
  sms_unlock_shared(g->lock);
}

static void take_lock(int lock, int trying) {
  if (!trying) {
    sms_lock(lock);
    return;
  }
  for (int looks = 0; !sms_trylock(lock); ++looks) pause_between_looks(looks);
}

static void do_lock(const run* x, const chore* c) {
  if (x->ph->ngroups == 0) return;
  const group* one = &x->ph->groups[c->key % (uint64_t)x->ph->ngroups];
  const group* two = &x->ph->groups[(c->key >> 16) % (uint64_t)x->ph->ngroups];
  if ((c->key >> 52 & 3) == 0) return look_at_group(x, one);
  const int both = (c->key >> 32 & 3) == 0 && one->lock < two->lock; /* in ascending order: no deadlock */
  if (x->real) take_lock(one->lock, (c->key >> 40 & 7) == 0);
  if (x->real && both) take_lock(two->lock, 0);
  add_to_group(x, one, c->key);
  if (both) add_to_group(x, two, mix(c->key));
  if (x->real && both) sms_unlock((c->key >> 48 & 1) != 0 ? two->lock : one->lock);
  if (x->real) sms_unlock(both && (c->key >> 48 & 1) == 0 ? two->lock : one->lock);
}

/* ---- atomics, preload, the rest -------------------------------------------------------------------------- */

static void atomic_add(void* at, size_t bytes, uint64_t delta, int by_swap) {
  if (bytes == 8 && !by_swap) {
    sms_fetch_add(at, (int64_t)delta);
  } else if (bytes == 8) {
    int64_t seen = sms_atomic_load(at);
    for (int64_t old; (old = sms_compare_swap(at, seen, (int64_t)((uint64_t)seen + delta))) != seen;) seen = old;
  } else if (!by_swap) {
    sms_fetch_add32(at, (int32_t)delta);
  } else {
    int32_t seen = 0;
    for (int32_t old; (old = sms_compare_swap32(at, seen, (int32_t)((uint32_t)seen + (uint32_t)delta))) != seen;)
      seen = old;
  }
}

static void do_atomic(const run* x, const chore* c) {
  for (uint64_t i = 0; x->ph->natomics > 0 && i <= (c->key & 7); ++i) {
    const uint64_t hash = mix2(c->key, i);
    const spot s = x->ph->atomics[hash % (uint64_t)x->ph->natomics];
    const size_t at = spot_at(x, s), bytes = unit_bytes(x->p, x->ph, s);
    if (x->real) atomic_add(x->p->arrays[s.array].shared + at, bytes, hash, (hash >> 60 & 1) != 0);
    else add_to(x->p->arrays[s.array].model + at, bytes, hash);
  }
}

static void do_preload(run* x, const chore* c) {
  if (!x->real) return;
  const array* a = &x->p->arrays[c->array];
  rng r = {c->key};
  if (rng_once_in(&r, 3)) {
    const size_t from = rng_below(&r, a->bytes);
    sms_preload_bytes(a->shared + from, 1 + rng_below(&r, a->bytes - from));
    return;
  }
  sms_range section[MAX_DIMS];
  for (int d = 0; d < a->ndim; ++d) {
    section[d].base = (int64_t)rng_below(&r, (uint64_t)a->dim[d]);
    section[d].step = 1 + (rng_once_in(&r, 2) ? 0 : (int64_t)rng_below(&r, (uint64_t)a->dim[d]));
    section[d].length = 1 + (int64_t)rng_below(&r, (uint64_t)((a->dim[d] - section[d].base - 1) / section[d].step + 1));
  }
  if (rng_once_in(&r, 2)) {
    sms_preload(a->shared, section);
  } else if (x->npending < 4) {
    x->pending[x->npending++] = sms_preload_start(a->shared, section);
  } else {
    while (x->npending > 0) sms_preload_wait(&x->pending[--x->npending]);
  }
}

static void do_pause(const run* x, const chore* c) {
  const struct timespec nap = {0, (long)(c->key % 100000)};
  if (x->real) nanosleep(&nap, NULL);
}

/* ---- relay ----------------------------------------------------------------------------------------------- */

/* What holder h writes into member m, if anything. */
static int relay_write(const phase* ph, int h, int m, uint64_t* value) {
  const uint64_t hash = mix2(ph->key + (uint64_t)h, (uint64_t)m);
  *value = ph->small_values ? hash >> 8 & 0x0101010101010101u : mix(hash);
  return (hash & 3) != 0;
}

/* The values of the members when `holders` have been there. */
static void relay_values(const program* p, const phase* ph, int holders, uint64_t value[]) {
  for (int m = 0; m < ph->relay.members; ++m) {
    const spot s = ph->relay.member[m];
    const size_t bytes = unit_bytes(p, ph, s);
    memcpy(&value[m], p->arrays[s.array].model + s.unit * ph->layers[s.array].unit, bytes < 8 ? bytes : 8);
    uint64_t next;
    for (int h = 0; h < holders; ++h)
      if (relay_write(ph, h, m, &next)) value[m] = next;
  }
}

static void relay_hold(const run* x, int h) {
  uint64_t want[MAX_RELAY] = {0}, next;
  relay_values(x->p, x->ph, h, want);
  for (int m = 0; m < x->ph->relay.members; ++m) {
    const spot s = x->ph->relay.member[m];
    unsigned char* at = x->p->arrays[s.array].shared + spot_at(x, s);
    const size_t unit = unit_bytes(x->p, x->ph, s), bytes = unit < 8 ? unit : 8;
    if (memcmp(at, &want[m], bytes) != 0) {
      memcpy(x->p->arrays[s.array].model + spot_at(x, s), &want[m], bytes); /* for the message */
      fail_at(x->p, s.array, spot_at(x, s), "handed over by another rank, the value is not what it wrote");
    }
    if (relay_write(x->ph, h, m, &next)) store(at, (unsigned char*)&next, bytes);
  }
}

static void relay_turn(const run* x, int h) {
  const relay* r = &x->ph->relay;
  int64_t* turn = &x->p->control[r->by_lock];
  const int64_t mine = x->p->turns[r->by_lock] + h;
  if (!r->by_lock) {
    for (int looks = 0; sms_atomic_load(turn) != mine; ++looks) pause_between_looks(looks);
    sms_sync();
    relay_hold(x, h);
    sms_sync();
    sms_atomic_store(turn, mine + 1);
    return;
  }
  if ((r->lock & 1) != 0) {
    sms_lock(r->lock);
    while (*turn != mine) sms_wait(r->lock, r->lock);
    relay_hold(x, h);
    *turn = mine + 1;
    sms_broadcast(r->lock);
    sms_unlock(r->lock);
    return;
  }
  for (int looks = 0, done = 0; !done; ++looks) {
    sms_lock(r->lock);
    done = *turn == mine;
    if (done) relay_hold(x, h), *turn = mine + 1;
    sms_unlock(r->lock);
    if (!done) pause_between_looks(looks);
  }
}

void relay_apply(program* p, const phase* ph) {
  uint64_t value[MAX_RELAY] = {0};
  relay_values(p, ph, ph->relay.holders, value);
  for (int m = 0; m < ph->relay.members; ++m) {
    const spot s = ph->relay.member[m];
    const size_t bytes = unit_bytes(p, ph, s);
    memcpy(p->arrays[s.array].model + s.unit * ph->layers[s.array].unit, &value[m], bytes < 8 ? bytes : 8);
  }
  p->turns[ph->relay.by_lock] += ph->relay.holders;
}

void actor_run(program* p, const phase* ph, int actor, int real) {
  run x = {.p = p, .ph = ph, .actor = actor, .real = real, .script = {mix2(ph->key, (uint64_t)actor)}};
  const int chores = 2 + rng_int(&x.script, 10);
  const int relay_at = rng_int(&x.script, chores);
  for (int i = 0; i < chores; ++i) {
    for (int h = 0; real && i == relay_at && h < ph->relay.holders; ++h)
      if (ph->relay.holder[h] == actor) relay_turn(&x, h);
    const chore c = draw_chore(&x);
    switch (c.kind) {
      case WRITE: do_write(&x, &c); break;
      case READ: do_read(&x, &c); break;
      case LOCK: do_lock(&x, &c); break;
      case ATOMIC: do_atomic(&x, &c); break;
      case PRELOAD: do_preload(&x, &c); break;
      case SYNC:
        if (real) sms_sync();
        break;
      case PAUSE: do_pause(&x, &c); break;
    }
  }
}
