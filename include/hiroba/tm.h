/* tm.h: the macros of STAMP's programs, on top of transaction.h. A program of STAMP includes it in the place of its
 * own.
 *
 * Threads are started by the program (thread.h of STAMP); memory is private, or shared arrays and the heap of sms.h.
 * TM_BEGIN and TM_END are in the same function, as STAMP has them. A local variable that a transaction changes and that
 * is in use after a restart has to be volatile, or set in it.
 */
#ifndef HIROBA_TM_H
#define HIROBA_TM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "transaction.h"

#define MAIN(argc, argv) int main(int argc, char** argv)
#define MAIN_RETURN(value) return value
#define GOTO_SIM()
#define GOTO_REAL()
#define IS_IN_SIM() 0
#define SIM_GET_NUM_CPU(count)

/* ---- threads and arguments ------------------------------------------------------------------------------------ */

#define TM_ARG
#define TM_ARG_ALONE
#define TM_ARGDECL
#define TM_ARGDECL_ALONE
#define TM_CALLABLE
#define TM_PURE
#define TM_SAFE
/* Once, in a transaction that runs alone. */
#define TM_PRINTF(...) (hiroba_tx_depth() > 0 ? hiroba_tx_irrevocable() : (void)0, printf(__VA_ARGS__))
#define TM_PRINT0 TM_PRINTF
#define TM_PRINT1 TM_PRINTF
#define TM_PRINT2 TM_PRINTF
#define TM_PRINT3 TM_PRINTF
#define TM_STARTUP(threads)
#define TM_SHUTDOWN()
#define TM_THREAD_ENTER()
#define TM_THREAD_EXIT()
#define P_MEMORY_STARTUP(threads)
#define P_MEMORY_SHUTDOWN()

/* ---- transactions --------------------------------------------------------------------------------------------- */

#define TM_BEGIN()                                    \
  do {                                                \
    hiroba_tx_frame hiroba_tx_here = HIROBA_TX_FRAME; \
    (void)_setjmp(hiroba_tx_here.jump);               \
  (void)hiroba_tx_begin(&hiroba_tx_here)
#define TM_BEGIN_RO() TM_BEGIN()
#define TM_END()                     \
  hiroba_tx_commit(&hiroba_tx_here); \
  }                                  \
  while (0)
/* Runs the transaction again, as after a conflict. */
#define TM_RESTART() hiroba_tx_restart()
#define TM_EARLY_RELEASE(object)

/* ---- memory --------------------------------------------------------------------------------------------------- */

#define TM_MALLOC(bytes) hiroba_tx_malloc(bytes)
#define TM_FREE(object) hiroba_tx_free(object)
#define P_MALLOC(bytes) malloc(bytes)
#define P_FREE(object) free(object)
#define SEQ_MALLOC(bytes) malloc(bytes)
#define SEQ_FREE(object) free(object)

/* Words are long, as in STAMP. */
#define TM_SHARED_READ(variable)                                                  \
  (__extension__({                                                                \
    __typeof__(variable) hiroba_tx_it;                                            \
    hiroba_tx_read(&hiroba_tx_it, (const void*)&(variable), sizeof hiroba_tx_it); \
    hiroba_tx_it;                                                                 \
  }))
#define TM_SHARED_WRITE(variable, value)                                     \
  (__extension__({                                                           \
    __typeof__(variable) hiroba_tx_it = (value);                             \
    hiroba_tx_write((void*)&(variable), &hiroba_tx_it, sizeof hiroba_tx_it); \
    hiroba_tx_it;                                                            \
  }))
#define TM_SHARED_READ_P(variable) TM_SHARED_READ(variable)
#define TM_SHARED_READ_F(variable) TM_SHARED_READ(variable)
#define TM_SHARED_WRITE_P(variable, value) TM_SHARED_WRITE(variable, value)
#define TM_SHARED_WRITE_F(variable, value) TM_SHARED_WRITE(variable, value)
/* Variables that only this thread uses. */
#define TM_LOCAL_WRITE(variable, value) ((variable) = (value))
#define TM_LOCAL_WRITE_P(variable, value) ((variable) = (value))
#define TM_LOCAL_WRITE_F(variable, value) ((variable) = (value))

#endif
