/* stencil7.h: the 7-point stencil of the mSMS paper, for its variants. apps/common/stencil.h has what is around it. */
#ifndef STENCIL3D_STENCIL7_H
#define STENCIL3D_STENCIL7_H

#include "../common/stencil.h"

/* Blocks of BLOCK_Z planes by BLOCK_Y rows: 3 planes of a block stay in the cache while the block is computed, and
 * rows are long runs of memory. Smaller blocks in y lose more by breaking the hardware's prefetch than they win. */
enum { BLOCK_Z = 4, BLOCK_Y = 256 };

extern const stencil stencil7;

#endif
