/* mpc.h: C plus `shared` arrays, after the MpC notation of the mSMS paper (Midorikawa et al., jh190039-ISH, 2019):
 *
 *   shared double A[NZ][NY][NX]::[NPROCS][1][1](0, NPROCS);
 *
 * is an array of which dimension d is divided into as many pieces as the d-th bracket names, on ranks 0 .. NPROCS-1;
 * see sms_mapalloc in sms.h. For hirobacc, which allocates such arrays in mpc_init. Pointers to them are plain
 * pointers. */
#ifndef HIROBA_MPC_H
#define HIROBA_MPC_H

#include "../smint.h"

#ifdef __cplusplus
extern "C" {
#endif

int mpc_init(int* argc, char*** argv); /* sms_startup */
void mpc_barrier(void);                /* sms_barrier */
int mpc_exit(void);                    /* sms_shutdown */

#ifdef __cplusplus
}
#endif
#endif
