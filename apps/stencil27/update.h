/* The new value of a point, for block.c on processors and block.cu on devices. Both sum in this order, so they give the
 * same bits. The weights are powers of two: a product with them is exact, so it does not matter where a compiler
 * contracts a product and a sum. */
#ifndef STENCIL27_UPDATE_H
#define STENCIL27_UPDATE_H

/* The point itself, and those beside it through a face, an edge and a corner. */
#define CENTRE (8.0 / 64)
#define FACE (4.0 / 64)
#define EDGE (2.0 / 64)
#define CORNER (1.0 / 64)

/* Sums over y and z at some x: of the points beside the middle one through a face, and of those across an edge. `at`
 * are 3 points along y, `z` the sums of those below and above them. */
#define BESIDE(at, z) (((at)[0] + (at)[2]) + (z)[1])
#define ACROSS(z) ((z)[0] + (z)[2])
/* The sums that these 9 points add to the new one at the same x, and to those one step lower and higher in x. */
#define MIDDLE(at, beside, across) (CENTRE * (at) + FACE * (beside) + EDGE * (across))
#define SIDE(at, beside, across) (FACE * (at) + EDGE * (beside) + CORNER * (across))
/* A new point, or a vector of them. All values are summed in the order that is written here. */
#define NEW(middle, side_l, side_r) ((middle) + ((side_l) + (side_r)))

#endif
