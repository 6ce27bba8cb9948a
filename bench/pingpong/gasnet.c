/* GASNet-EX by itself, as the paper's first layer. A blocking put is at the target when it returns. */
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <stdio.h>
#include <stdlib.h>

#include "pingpong.h"

static gex_TM_t team;
static double *local, *there;

static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }

static void put(const pp_case* c) { gex_RMA_PutBlocking(team, 1, there, local, c->bytes, 0); }

static void get(const pp_case* c) { gex_RMA_GetBlocking(team, local, 1, there, c->bytes, 0); }

static void put2(const pp_case* c) {
  const ptrdiff_t stride = 2 * sizeof(double);
  gex_VIS_StridedPutBlocking(team, 1, there, &stride, local, &stride, sizeof(double), &c->words, 1, 0);
}

static void get2(const pp_case* c) {
  const ptrdiff_t stride = 2 * sizeof(double);
  gex_VIS_StridedGetBlocking(team, local, &stride, 1, there, &stride, sizeof(double), &c->words, 1, 0);
}

static void require(int error, const char* what) {
  if (error == GASNET_OK) return;
  fprintf(stderr, "gasnet: %s: %s\n", what, gasnet_ErrorDesc(error));
  exit(1);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  setenv("GASNET_MAX_SEGSIZE", "256MB/P", 0);
  setenv("GASNET_HOST_DETECT", "hostname", 0); /* which processes share memory */
  require(gex_Client_Init(&client, &endpoint, &team, "PINGPONG", &argc, &argv, 0), "start");
  double* shared = malloc(PP_WORDS * sizeof(double));
  local = malloc(PP_WORDS * sizeof(double));
#ifndef GASNET_SEGMENT_EVERYTHING /* else all memory can be reached */
  const size_t most = (PP_WORDS * sizeof(double) + GASNET_PAGESIZE) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  gex_Segment_t segment;
  require(gex_Segment_Attach(&segment, team, most), "segment");
  free(shared);
  shared = gex_Segment_QueryAddr(segment);
#endif
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 1, &there, &shared, sizeof there, 0));
  const int rank = (int)gex_TM_QueryRank(team);
  const pp_contestant gasnet = {"gasnet", rank, local, shared, barrier, {put, get, put2, get2, NULL, NULL, NULL, NULL}};
  const int status = pp_main(&gasnet, argc, argv);
  barrier();
  gasnet_exit(status);
}
