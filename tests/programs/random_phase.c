/* The plan of a phase: who owns which unit of each array, and what is shared under a lock, atomics or a relay. */
#include "random.h"

size_t unit_bytes(const program* p, const phase* ph, spot s) {
  const layer* l = &ph->layers[s.array];
  const size_t left = p->arrays[s.array].bytes - s.unit * l->unit;
  return left < l->unit ? left : l->unit;
}

/* Small enough that neighbours share words and pages, large enough that a plan stays short. */
static size_t draw_unit(const array* a, rng* r) {
  const size_t units[] = {1, 1, 2, 3, 4, 5, 8, 8, 13, 24, 64, 100, 509, 4096, 5000};
  size_t unit = units[rng_int(r, 15)];
  if (rng_once_in(r, 3)) unit = a->elemsize;
  while (a->bytes / unit > 4000) unit *= 2;
  return (unit + a->scalar - 1) / a->scalar * a->scalar;
}

/* Runs of units for one actor each, with gaps that nobody writes. */
static void own_runs(layer* l, const phase* ph, rng* r) {
  const size_t grains[] = {1, 1, 1, 2, 3, 8, 64, PAGE / l->unit + 1};
  const size_t grain = grains[rng_int(r, 8)];
  const uint64_t gaps = rng_below(r, 100);
  for (size_t u = 0; u < l->units;) {
    const int16_t owner = rng_below(r, 100) < gaps ? NOBODY : (int16_t)rng_int(r, ph->actors);
    const size_t end = u + 1 + rng_below(r, grain);
    for (; u < end && u < l->units; ++u) l->owner[u] = owner;
  }
}

/* What most programs do: each element belongs to the rank that has it at home. */
static void own_by_home(const program* p, phase* ph, int index, rng* r) {
  layer* l = &ph->layers[index];
  const array* a = &p->arrays[index];
  for (size_t u = 0; u < l->units; ++u)
    l->owner[u] = (int16_t)(sms_home(a->shared + u * l->unit) * ph->threads + rng_int(r, ph->threads));
}

static void plan_layer(program* p, phase* ph, int index) {
  rng* r = &p->script;
  const array* a = &p->arrays[index];
  layer* l = &ph->layers[index];
  l->unit = draw_unit(a, r);
  l->units = (a->bytes + l->unit - 1) / l->unit;
  l->owner = malloc(l->units * sizeof *l->owner);
  if (l->owner == NULL) fail("no memory for a plan");
  const int way = rng_int(r, 6);
  if (way == 0) {
    for (size_t u = 0; u < l->units; ++u) l->owner[u] = NOBODY;
  } else if (way == 1) {
    own_by_home(p, ph, index, r);
  } else {
    own_runs(l, ph, r);
  }
}

/* Takes a unit away from whoever had it. Returns 0 if it is taken already. */
static int take(program* p, phase* ph, spot* s) {
  s->array = rng_int(&p->script, p->narrays);
  layer* l = &ph->layers[s->array];
  s->unit = rng_below(&p->script, l->units);
  if (l->owner[s->unit] == TAKEN) return 0;
  l->owner[s->unit] = TAKEN;
  return 1;
}

static void plan_groups(program* p, phase* ph) {
  ph->ngroups = p->calm ? 0 : rng_int(&p->script, MAX_GROUPS + 1);
  for (int g = 0; g < ph->ngroups; ++g) {
    group* to = &ph->groups[g];
    to->lock = rng_int(&p->script, rng_once_in(&p->script, 2) ? 8 : SMS_LOCKS);
    to->members = 0;
    for (int tries = 1 + rng_int(&p->script, MAX_MEMBERS); tries > 0; --tries)
      if (take(p, ph, &to->member[to->members])) ++to->members;
  }
}

static void plan_atomics(program* p, phase* ph) {
  ph->natomics = 0;
  for (int tries = rng_int(&p->script, MAX_MEMBERS); tries > 0; --tries) {
    spot s;
    if (!take(p, ph, &s)) continue;
    const size_t bytes = unit_bytes(p, ph, s);
    const uintptr_t at = (uintptr_t)(p->arrays[s.array].shared + s.unit * ph->layers[s.array].unit);
    if ((bytes == 8 || bytes == 4) && at % bytes == 0) ph->atomics[ph->natomics++] = s;
  }
}

static void plan_relay(program* p, phase* ph) {
  rng* r = &p->script;
  relay* to = &ph->relay;
  memset(to, 0, sizeof *to);
  if (p->calm || !rng_once_in(r, 2)) return;
  to->by_lock = rng_once_in(r, 3);
  to->lock = rng_int(r, SMS_LOCKS);
  for (int tries = 1 + rng_int(r, MAX_RELAY); tries > 0; --tries)
    if (take(p, ph, &to->member[to->members])) ++to->members;
  /* Each holder once, at most one per rank, in random order. */
  const int start = rng_int(r, sms_nprocs);
  to->holders = 1 + rng_int(r, sms_nprocs);
  for (int h = 0; h < to->holders; ++h)
    to->holder[h] = (start + h) % sms_nprocs * ph->threads + rng_int(r, ph->threads);
  for (int h = to->holders - 1; h > 0; --h) {
    const int other = rng_int(r, h + 1), was = to->holder[h];
    to->holder[h] = to->holder[other];
    to->holder[other] = was;
  }
}

void phase_plan(program* p, phase* ph) {
  rng* r = &p->script;
  ph->key = rng_next(r);
  ph->threads = rng_once_in(r, 2) ? 1 : 1 + rng_int(r, p->set->threads);
  ph->actors = ph->threads * sms_nprocs;
  ph->small_values = rng_once_in(r, 2);
  for (int a = 0; a < p->narrays; ++a) plan_layer(p, ph, a);
  plan_groups(p, ph);
  plan_atomics(p, ph);
  plan_relay(p, ph);
}

void phase_release(phase* ph, int narrays) {
  for (int a = 0; a < narrays; ++a) free(ph->layers[a].owner);
}
