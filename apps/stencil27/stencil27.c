#include "stencil27.h"

#include <stdlib.h>

#include "../common/memory.h"

#define FIELD(member) offsetof(stencil27, member)

static const option more[] = {
    {"--depth", "BT", "steps at once, after which ranks exchange BT planes (default 4); 1: no temporal blocking",
     OPTION_NUMBER, FIELD(depth)},
    {"--block-y", "B", "rows that a thread computes at a time (default: 8 for each step, at least 64)", OPTION_NUMBER,
     FIELD(block_y)},
    {"--block-z", "B", "planes that a thread computes at a time (default: as many as there are)", OPTION_NUMBER,
     FIELD(block_z)},
#ifdef STENCIL27_DEVICES
    {"--devices", "K",
     "slabs of each rank, on as many of its devices; several of them are on one device if it has fewer (default 1)",
     OPTION_NUMBER, FIELD(devices)},
#endif
};

/* The weights are products of 1/4, 1/2, 1/4 in each direction, so the factor is a product, too. It is computed without
 * the weights of block.c, so that a mistake there is noticed. */
static double factor(double cx, double cy, double cz) { return (1 + cx) * (1 + cy) * (1 + cz) / 8; }

static const stencil description = {
    .name = "stencil27",
    .about =
        "heat spreads through a box: the 27-point stencil, several steps at once, in double precision\n\n"
        "  64 new = 8*(the point) + 4*(6 beside faces) + 2*(12 beside edges) + (8 beside corners)\n"
        "  the boundary keeps its value, 0\n\n"
        "It starts from a sine mode that the stencil damps by a known factor per step, so --verify knows the "
        "answer.\n",
    .examples =
        "  stencil27_omp --size 256 --steps 32 --verify                                       on the cores of a "
        "machine\n"
        "  hirobarun -n 2 stencil27_sms --size 256 --steps 32 --depth 1 --verify              without temporal "
        "blocking\n"
        "  hirobarun -n 4 --nodes 2 stencil27_sms --size 128 --steps 100 --verify --json      2 virtual nodes\n"
        "  hirobarun -n 2 --devices host:4 stencil27_device --devices 2 --size 256 --verify    on two devices a rank\n"
        "  mpirun -n 2 stencil27_mpi --size 256 --steps 32 --verify                           the rival\n",
    .options = more,
    .option_count = sizeof more / sizeof more[0],
    .align = 8, /* a cache line */
    .factor = factor,
};

/* The rows of a block: enough that at most about a tenth of the block is computed twice, few enough that its data fits
 * into the last-level cache, and a number that gives all threads the same share. */
static int fitting_rows(const stencil27* s) {
  const int most = larger(64, 8 * s->depth), of_thread = (s->job.ny + s->job.threads - 1) / s->job.threads;
  const int blocks = (of_thread + most - 1) / most;
  return (of_thread + blocks - 1) / blocks;
}

void stencil27_begin(stencil27* s, const char* program, team team, int argc, char** argv) {
  *s = (stencil27){.depth = 4, .devices = 1};
  job* job = &s->job;
  job_begin(job, &description, program, team, argc, argv);
  s->depth = smaller(s->depth, job->steps);
  if (s->block_y == 0) s->block_y = fitting_rows(s);
  if (s->block_z == 0) s->block_z = job->nz;
  s->block_y = smaller(s->block_y, job->ny);
  s->scratch = calloc((size_t)job->threads, sizeof *s->scratch);
  bool good = s->scratch != NULL;
  for (int t = 0; good && t < job->threads; t++) good = (s->scratch[t] = memory_pages(scratch_bytes(s))) != NULL;
  team_agree(&job->team, good, TEAM_BAD_INPUT,
             "there is no memory for %d threads with %.1f MiB each; use a smaller --depth or --block-y", job->threads,
             (double)scratch_bytes(s) / 1048576);
}

int stencil27_finish(stencil27* s, const double* field, const counter counters[]) {
  counter all[STENCIL27_COUNTERS + 4] = {{"depth", s->depth}, {"block_y", s->block_y}, {"block_z", s->block_z}};
  for (int i = 0; i < STENCIL27_COUNTERS && counters != NULL && counters[i].name != NULL; i++) all[3 + i] = counters[i];
  const int threads = s->job.threads, status = job_finish(&s->job, field, all);
  for (int t = 0; t < threads; t++) free(s->scratch[t]);
  free(s->scratch);
  return status;
}
