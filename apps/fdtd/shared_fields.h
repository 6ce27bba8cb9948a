/* shared_fields.h: the fields of fdtd as shared arrays. Private; for variants on sms.h. */
#ifndef APPS_FDTD_SHARED_FIELDS_H
#define APPS_FDTD_SHARED_FIELDS_H

#include "../common/shared.h"
#include "fdtd.h"

/* Whole planes of the box are divided among the ranks; each fills its own. Collective. */
static inline fields fdtd_shared_fields(fdtd* f) {
  const int dim[] = {f->size[2] + 2 * PAD, f->rows, f->row, -1}, div[] = {sms_nprocs, 1, 1, -1};
  fields a = fdtd_private_layers(f);
  a.p = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  for (int d = 0; d < 3; d++) a.u[d] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  fdtd_fill(f, &a);
  sms_sync_drop();
  return a;
}

#endif
