/* The method: what a cell does in a step, for update.c on processors and cells.cu on devices, which so compute the same
 * bits. Pointers are those of the cell in each array; `row` and `plane` are the elements from a row and a plane to the
 * next. Cells beside solid ones read these as mirrors; `walls` is constant where these functions are inlined, so the
 * loops over open rows have no conditions. */
#ifndef FDTD_CELL_H
#define FDTD_CELL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __CUDACC__
#define CELL static inline __host__ __device__
#else
#define CELL static inline __attribute__((always_inline))
#endif

enum { PAD = 2, PAD_X = 8, HALO = 2, FACES = 6, SPLIT = 3 };
/* Kinds of rows: no solid cell near; some; no other. */
enum { OPEN, BESIDE_SOLID, ALL_SOLID };

/* Cells [z0, z1) x [y0, y1) x [x0, x1). */
typedef struct box {
  int z0, z1, y0, y1, x0, x1;
} box;

/* A number for each direction. */
typedef struct triple {
  double x, y, z;
} triple;

/* The difference over one step of the grid, from values at -3/2, -1/2, 1/2 and 3/2 steps. */
CELL double rise(double a, double b, double c, double d) { return 9.0 / 8 * (c - b) - 1.0 / 24 * (d - a); }

/* The same beside rigid walls, where sound goes on as its mirror image: p with the same sign, u with the other. That is
 * exact for a plane wall, and conserves energy beside any. The flags say whether the outer cells of the four points
 * (p), or the cells beside the middle one (u), are solid. */
CELL double rise_p(double a, double b, double c, double d, bool before, bool after) {
  return rise(before ? b : a, b, c, after ? c : d);
}
CELL double rise_u(double a, double b, double c, double d, bool before, bool after) {
  return rise(before ? -c : a, b, c, after ? -b : d);
}

CELL triple rises_of_p(const double* p, const unsigned char* s, ptrdiff_t row, ptrdiff_t plane, const bool walls) {
  triple r;
  if (walls) {
    r.x = rise_p(p[-2], p[-1], p[0], p[1], s[-2], s[1]);
    r.y = rise_p(p[-2 * row], p[-row], p[0], p[row], s[-2 * row], s[row]);
    r.z = rise_p(p[-2 * plane], p[-plane], p[0], p[plane], s[-2 * plane], s[plane]);
  } else {
    r.x = rise(p[-2], p[-1], p[0], p[1]);
    r.y = rise(p[-2 * row], p[-row], p[0], p[row]);
    r.z = rise(p[-2 * plane], p[-plane], p[0], p[plane]);
  }
  return r;
}

CELL triple rises_of_u(const double* ux, const double* uy, const double* uz, const unsigned char* s, ptrdiff_t row,
                       ptrdiff_t plane, const bool walls) {
  triple r;
  if (walls) {
    r.x = rise_u(ux[-1], ux[0], ux[1], ux[2], s[-1], s[1]);
    r.y = rise_u(uy[-row], uy[0], uy[row], uy[2 * row], s[-row], s[row]);
    r.z = rise_u(uz[-plane], uz[0], uz[plane], uz[2 * plane], s[-plane], s[plane]);
  } else {
    r.x = rise(ux[-1], ux[0], ux[1], ux[2]);
    r.y = rise(uy[-row], uy[0], uy[row], uy[2 * row]);
    r.z = rise(uz[-plane], uz[0], uz[plane], uz[2 * plane]);
  }
  return r;
}

CELL void cell_u(const double* p, double* ux, double* uy, double* uz, const unsigned char* s, triple keep, triple add,
                 ptrdiff_t row, ptrdiff_t plane, const bool walls) {
  const triple in = rises_of_p(p, s, row, plane, walls);
  const double to_x = keep.x * *ux - add.x * in.x;
  const double to_y = keep.y * *uy - add.y * in.y;
  const double to_z = keep.z * *uz - add.z * in.z;
  *ux = walls && (s[0] | s[-1]) ? 0 : to_x;
  *uy = walls && (s[0] | s[-row]) ? 0 : to_y;
  *uz = walls && (s[0] | s[-plane]) ? 0 : to_z;
}

CELL void cell_p(double* p, const double* ux, const double* uy, const double* uz, const unsigned char* s,
                 double courant, ptrdiff_t row, ptrdiff_t plane, const bool walls) {
  const triple r = rises_of_u(ux, uy, uz, s, row, plane, walls);
  const double to = *p - courant * (r.x + r.y + r.z);
  *p = walls && s[0] ? 0 : to;
}

/* In an absorbing layer, where p is the sum of three parts. */
CELL void cell_pml_p(double* p, double* px, double* py, double* pz, const double* ux, const double* uy,
                     const double* uz, const unsigned char* s, triple keep, triple add, ptrdiff_t row, ptrdiff_t plane,
                     const bool walls) {
  const triple r = rises_of_u(ux, uy, uz, s, row, plane, walls);
  const double to_x = keep.x * *px - add.x * r.x;
  const double to_y = keep.y * *py - add.y * r.y;
  const double to_z = keep.z * *pz - add.z * r.z;
  *px = walls && s[0] ? 0 : to_x;
  *py = walls && s[0] ? 0 : to_y;
  *pz = walls && s[0] ? 0 : to_z;
  *p = *px + *py + *pz;
}

/* After a change of cells [x0, x1) of a row of p, or of u_x. `end`: the first cell after the box. */
CELL void mirror_p(double* p, int x0, int x1, int end) {
  if (x0 == PAD_X) p[PAD_X - 1] = p[PAD_X], p[PAD_X - 2] = p[PAD_X + 1];
  if (x1 == end) p[end] = p[end - 1];
}
CELL void mirror_u(double* ux, int x0, int x1, int end) {
  if (x0 == PAD_X) ux[PAD_X - 1] = -ux[PAD_X + 1];
  if (x1 == end) ux[end + 1] = -ux[end - 1];
}

/* The three parts of p in an absorbing layer: `first` is row y0 of the first part in plane 0, where x counts from x0.
 */
typedef struct split_part {
  double* first;
  int rows, width;
  box cells;
} split_part;

CELL ptrdiff_t split_at(const split_part* s, int z, int part, int y) {
  return ((ptrdiff_t)(z * SPLIT + part) * s->rows + (y - s->cells.y0)) * s->width;
}

/* Adds a source's part to a cell, and in a layer a third of it to each part of the cell. */
CELL void cell_source(double* p, const split_part layers[FACES], int z, int y, int x, double more) {
  for (int b = 0; b < FACES; b++) {
    const box* l = &layers[b].cells;
    if (z < l->z0 || z >= l->z1 || y < l->y0 || y >= l->y1 || x < l->x0 || x >= l->x1) continue;
    double parts[SPLIT];
    for (int i = 0; i < SPLIT; i++)
      parts[i] = layers[b].first[split_at(&layers[b], z, i, y) + x - l->x0] += more / (double)SPLIT;
    *p = parts[0] + parts[1] + parts[2];
    return;
  }
  *p += more;
}

/* The arguments of a kernel of cells.cu. Fields are such that element z * plane + y * row + x is that of cell
 * (z, y, x). */
typedef struct cells {
  box b; /* that it changes */
  int rows, end;
  ptrdiff_t row, plane;
  double courant;
  double *p, *u[3];
  const unsigned char *solid, *kind;
  const double *keep[3], *add[3];
  split_part layer; /* in which they are; .first = NULL: in none */
} cells;
typedef struct all_layers {
  split_part of[FACES];
} all_layers;

#endif
