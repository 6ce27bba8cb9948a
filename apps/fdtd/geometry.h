/* geometry.h: which cells are solid, and which are driven and measured. Collective. */
#ifndef FDTD_GEOMETRY_H
#define FDTD_GEOMETRY_H

#include "fdtd.h"

/* The size of the box: --size, or that of --solid, which must agree. */
void geometry_size(fdtd* f);

/* The solid cells in and beside the planes of this rank, and the kinds of rows. */
void geometry_read(fdtd* f);

/* Sources and probes: inside of the box, not inside of solids. The wave of the sources. */
void geometry_places(fdtd* f);

#endif
