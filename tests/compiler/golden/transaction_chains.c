#include <sms.h>

#include "check.h"

/* Pointers to pointers, casts that a parser without types takes for products, and calls in subscripts. */
typedef int64_t number;
struct inner {
  number v[3];
};
struct outer {
  struct inner* in[2];
  void* any;
};

static int third(const number* at) { return (int)(at[2] % 3); }

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  struct outer* o = sms_alloc(sizeof *o, 1, 0);
  struct inner* parts = sms_alloc(sizeof *parts, 2, 0);
  if (sms_rank == 0) o->in[0] = &parts[0], o->in[1] = &parts[1], o->any = parts[1].v, parts[0].v[2] = 4;
  sms_barrier();
  number seen = 0;
  for (int i = 0; i < 20; i++) {
    number* n = &seen;
#pragma hiroba atomic
    {
      o->in[0]->v[third(o->in[0]->v)] += o->in[i & 1]->v[2];
      *(number*)o->any += 2;
      (*o->in[1]).v[2] = (number)*n + (*(struct inner**)o->in)->v[2];
      seen = (number)(o->in[0]->v[1]) - (number)o->in[1]->v[1];
    }
  }
  sms_barrier();
  const int end = verdict((o->in[1]->v[0] != 40 * sms_nprocs) + (o->in[0]->v[2] != 4) + (seen > o->in[0]->v[1]));
  sms_shutdown();
  return end;
}
