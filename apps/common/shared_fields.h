/* shared_fields.h: the two fields of a stencil program as shared arrays. */
#ifndef APPS_COMMON_SHARED_FIELDS_H
#define APPS_COMMON_SHARED_FIELDS_H

#include "shared.h"
#include "stencil.h"

typedef struct shared_fields {
  double *src, *dst;
  ptrdiff_t own; /* the first element of this rank's planes */
} shared_fields;

/* Whole planes of the box are divided among the ranks; each fills its own. Collective. */
static inline shared_fields shared_fields_fill(job* job) {
  const int dim[] = {job->nz + 2, (int)job->plane_points, -1}, div[] = {sms_nprocs, 1, -1};
  shared_fields out = {.own = job->first * job->plane_points};
  out.src = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  out.dst = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  job_fill(job, out.src + out.own, out.dst + out.own);
  sms_sync_drop();
  return out;
}

#endif
