/* xmp_global.h: XcalableMP's global view as calls of C: templates, arrays aligned with them, loops that nodes share.
 * <xmp.h> includes it, whose words and rules on errors hold here.
 *
 * hirobacc makes these calls of `#pragma xmp template`, `distribute`, `align`, `shadow`, `loop`, `reflect` and `gmove`.
 * docs/global-view.md is a guide to them.
 *
 * Dimensions count from 0 in C's order: the last changes fastest, however the program writes them.
 * Descriptors belong to the program, and must exist while they are used; the memory of an aligned array belongs to the
 * library, on each node its part alone.
 * Collective: calls that say so are made by all images of the executing set, in the same order.
 */
#ifndef HIROBA_XMP_GLOBAL_H
#define HIROBA_XMP_GLOBAL_H

#include "xmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- templates --------------------------------------------------------------------------------------------------- */

enum xmp_format {
  XMP_NOT_DISTRIBUTED = 2100, /* `*` */
  XMP_BLOCK,
  XMP_CYCLIC, /* blocks of `width` in turn */
  XMP_GBLOCK  /* blocks of the sizes in a table */
};

typedef struct xmp_division {
  enum xmp_format format;
  int64_t width;     /* of XMP_CYCLIC; of XMP_BLOCK 0, or that of all blocks but the last, which has the rest */
  const void* sizes; /* of XMP_GBLOCK: of each node along the dimension; NULL: xmp_template_fix gives them */
  int64_t count;     /* sizes in the table; XMP_REST: not known */
  int bytes;         /* of one of them, a signed integer */
} xmp_division;

/* `#pragma xmp template t[N][M]` and `distribute t[block][cyclic(2)] onto p`. */
typedef struct xmp_template {
  const char *name, *place;
  int dims;
  int64_t lower[XMP_DIMS], extent[XMP_DIMS]; /* the indices lower .. lower + extent - 1 */
  const xmp_nodes* onto;
  xmp_division division[XMP_DIMS];
  int later;         /* xmp_template_fix gives extents that are 0, or sizes of XMP_GBLOCK */
  const char* fixed; /* the place where that was done */
  int first_fastest; /* the form t(0:7,0:7): inquiry functions count dimensions in the order in which it names them */
  /* Set by xmp_template_define: what this node owns, as indices from `begin` to before `end`; of XMP_CYCLIC the
   * distance from one of its blocks to the next, and its first one. */
  int here; /* this node is one of those */
  int64_t begin[XMP_DIMS], end[XMP_DIMS], cycle[XMP_DIMS];
  void* opaque;
} xmp_template;

/* Ends the job if the divided dimensions are not those of the nodes, if sizes do not add up, or if it is defined
 * already. Not collective, but all images call it alike. */
void xmp_template_define(xmp_template* t);
/* `template_fix[gblock(m)] t[n]`: gives a template with `later`, and all others of its name and place (of the files
 * that include one header), what they lack: bounds, or NULL; divisions of all dimensions, or NULL. Arrays that are
 * aligned with it are allocated now. Ends the job if it is fixed already, or has other bounds. Not collective, but all
 * images call it alike. */
void xmp_template_fix(xmp_template* t, const int64_t lower[], const int64_t extent[], const xmp_division division[],
                      const char* place);

/* A part of a template, for each dimension `count` indices from `first` on; count XMP_REST: all. Returns its nodes, for
 * calls that have an `on`; the same object for the same nodes. */
typedef struct xmp_template_range {
  int64_t first, count;
} xmp_template_range;
const xmp_node_reference* xmp_template_nodes(const xmp_template* t, const xmp_template_range range[],
                                             const char* place);

/* ---- aligned arrays ---------------------------------------------------------------------------------------------- */

/* `#pragma xmp align a[i][j][*] with t[i + 1][j]` and `shadow a[1][1:2][0]`. */
typedef struct xmp_aligned {
  const char *name, *place;
  size_t element; /* bytes */
  int dims;
  int64_t extent[XMP_DIMS];
  const xmp_template* with;
  int axis[XMP_DIMS]; /* the dimension of the template; -1: none, each node has all indices */
  int64_t offset[XMP_DIMS];
  int64_t low[XMP_DIMS], high[XMP_DIMS]; /* shadow; low XMP_REST: all of the dimension */
  int type;                              /* an xmp_type; -1: another, which is only moved */
  /* Set by xmp_aligned_allocate: */
  void* data;                               /* this node's part with its shadow, in C order, zero at first */
  void* base;                               /* the address that the element with subscripts 0 would have */
  int64_t size[XMP_DIMS];                   /* elements of the part, with its shadow; 1 if there are none */
  int64_t first[XMP_DIMS], count[XMP_DIMS]; /* this node's least index, and how many it has */
  /* Subscripts of a dimension with XMP_CYCLIC are those of xmp_subscript. */
  int64_t shift[XMP_DIMS], width[XMP_DIMS], cycle[XMP_DIMS];
  void* opaque;
} xmp_aligned;

/* Ends the job if the array does not fit the template. Not collective, but all images call it alike. Returns NULL if
 * the template is not fixed yet; xmp_template_fix then allocates the array. */
void* xmp_aligned_allocate(xmp_aligned* array);
/* For a pointer: xmp_malloc(xmp_desc_of(a), n, m) gives the extents, and allocates; all but the first must be those
 * that the descriptor has. xmp_free(a) and xmp_free(xmp_desc_of(a)) free it. */
void xmp_aligned_describe(xmp_aligned* array);
void xmp_aligned_free(xmp_aligned* array, const char* place);
/* Ends the job if an array has no memory. */
void xmp_aligned_absent(const xmp_aligned* array, const char* place) __attribute__((noreturn));
static inline void xmp_aligned_check(const xmp_aligned* array, const char* place) {
  if (!array->data) xmp_aligned_absent(array, place);
}
/* The same at the end of a block that declares the array; nothing if it has no memory. */
void xmp_aligned_leave(xmp_aligned* array);
/* The aligned array whose part on this node is at an address: of a parameter. */
const xmp_aligned* xmp_aligned_of(const void* data, const char* name, const char* place);

/* The subscript, in this node's memory, of an index that it owns, in a dimension with XMP_CYCLIC. */
static inline int64_t xmp_subscript(const xmp_aligned* array, int dimension, int64_t index) {
  const uint64_t g = (uint64_t)(index + array->shift[dimension]), cycle = (uint64_t)array->cycle[dimension];
  const uint64_t width = (uint64_t)array->width[dimension];
  return (int64_t)(width == 1 ? g / cycle : g / cycle * width + g % width);
}

/* hirobacc --check: the subscript of an index, as in `text`. Ends the job if this node does not have the index, its
 * shadow included, or if it is read from a shadow, and this node has written elements of its own in a loop before, and
 * not reflected since. */
enum xmp_use { XMP_READS, XMP_WRITES, XMP_NAMES };
int64_t xmp_checked(const xmp_aligned* array, int dimension, int64_t index, enum xmp_use use, const char* text,
                    const char* place);
/* A loop begins that uses the array. */
void xmp_check_loop(const xmp_aligned* array, const char* place);

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* The iterations of this node: `for (i = first; i < end; i += step)` on t[i + offset] has them from xmp_loop_first to
 * before xmp_loop_end, in steps, for block, gblock and `*`. `past` is the last index and one step of 1 further. */
static inline int64_t xmp_loop_first(const xmp_template* t, int dimension, int64_t first, int64_t step,
                                     int64_t offset) {
  if (step > 0) {
    const int64_t begin = t->begin[dimension] - offset;
    return first >= begin ? first : step == 1 ? begin : first + (begin - first + step - 1) / step * step;
  }
  const int64_t last = t->end[dimension] - 1 - offset;
  return first <= last ? first : step == -1 ? last : first + (last - first + step + 1) / step * step;
}
static inline int64_t xmp_loop_end(const xmp_template* t, int dimension, int64_t past, int64_t step, int64_t offset) {
  const int64_t own = step > 0 ? t->end[dimension] - offset : t->begin[dimension] - 1 - offset;
  return (step > 0) == (past < own) ? past : own;
}

/* The same for XMP_CYCLIC: several runs, of which each has indices first, first + step, ... to before end. The
 * xmp_subscript of the first, of an array without offset, is `local`; the others follow by the step of the loop, to
 * before `local_end`. */
typedef struct xmp_runs {
  int64_t first, end, step, local, local_end;
  const xmp_template* t;
  int64_t origin, past, by, from, offset;
  int dimension;
} xmp_runs;
xmp_runs xmp_runs_begin(const xmp_template* t, int dimension, int64_t first, int64_t past, int64_t step,
                        int64_t offset);
int xmp_runs_next(xmp_runs* runs);

/* expand, margin and peel_and_wait: a node's own iterations, and the expanded ones: `low` before its first index and
 * `high` after its last (fewer if negative) where other nodes have the iterations beyond; with `unbound` also where the
 * loop ends. A margin is what only one of the two has: of n loops, 2 n pieces from 1 on; piece 0 is expanded. */
typedef struct xmp_expand {
  int64_t low, high;
  int unbound;
} xmp_expand;
typedef struct xmp_bounds {
  int64_t begin, end; /* as xmp_loop_first and xmp_loop_end */
} xmp_bounds;
enum xmp_loop_part {
  XMP_LOOP_EXPANDED,
  XMP_LOOP_BOTH,   /* own and expanded */
  XMP_LOOP_EITHER, /* own or expanded */
  XMP_LOOP_LOW,    /* the margin before */
  XMP_LOOP_HIGH    /* the margin after */
};
xmp_bounds xmp_loop_bounds(const xmp_template* t, int dimension, int64_t first, int64_t past, int64_t step,
                           int64_t offset, xmp_expand width, enum xmp_loop_part part);
static inline enum xmp_loop_part xmp_margin_part(int piece, int loop) {
  if (piece == 0) return XMP_LOOP_EXPANDED;
  if ((piece - 1) / 2 != loop) return loop < (piece - 1) / 2 ? XMP_LOOP_BOTH : XMP_LOOP_EITHER;
  return piece % 2 == 1 ? XMP_LOOP_LOW : XMP_LOOP_HIGH;
}

/* True if this node executes iterations of a loop on a template: it is one of the nodes, and has the index of each
 * dimension whose range is a single one. */
int xmp_loop_here(const xmp_template* t, const xmp_template_range range[], const char* place);

/* Ends the job if the loop has iterations first .. (to before past) outside of the template. The call is made only if
 * the bounds do not tell that all are inside. */
void xmp_loop_check(const xmp_template* t, int dimension, int64_t first, int64_t past, int64_t step, int64_t offset,
                    const char* place);
static inline void xmp_loop_inside(const xmp_template* t, int dimension, int64_t first, int64_t past, int64_t step,
                                   int64_t offset, const char* place) {
  const int64_t last = past - (step > 0) + (step < 0), least = step > 0 ? first : last, most = step > 0 ? last : first;
  const int64_t low = t->lower[dimension], high = low + t->extent[dimension] - 1;
  if (!t->opaque || least + offset < low || most + offset > high)
    xmp_loop_check(t, dimension, first, past, step, offset, place);
}

/* `array on`: ends the job if the left side's first index, with its step, is not that of the template's range. */
void xmp_array_error(const xmp_template* t, int dimension, int64_t index, int64_t step, int64_t first, const char* text,
                     const char* place) __attribute__((noreturn));
static inline void xmp_array_on(const xmp_template* t, int dimension, int64_t index, int64_t step, int64_t first,
                                const char* text, const char* place) {
  if (index != first || step != 1) xmp_array_error(t, dimension, index, step, first, text, place);
}

/* reduction of a loop: before it all nodes but the first set their values to what changes nothing; after it the values
 * of the nodes, which differ in the dimensions of the template that `shared` (bits) names, are combined. So the values
 * before the loop count once, as in a sequential run. Collective over the nodes of the template. */
void xmp_loop_reduction_begin(const xmp_template* t, unsigned shared, void* data, int64_t count, enum xmp_type type,
                              enum xmp_operator op, const char* place);
void xmp_loop_reduction_end(const xmp_template* t, unsigned shared, void* data, int64_t count, enum xmp_type type,
                            enum xmp_operator op, const char* place);
/* firstmax and its like: `order` is the number of the iteration that set the value last, -1 if none did. */
void xmp_loop_locate(const xmp_template* t, unsigned shared, void* data, int64_t order, enum xmp_type type,
                     enum xmp_operator op, const xmp_location locations[], int nlocations, const char* place);

/* ---- data movement (collective over the executing set; blocking) ------------------------------------------------- */

/* Copies the elements of the owners into the shadows. `width[d]` is what a `width` clause says; `low` XMP_REST: all of
 * the shadow. */
typedef struct xmp_width {
  int64_t low, high;
  int periodic;
} xmp_width;
void xmp_reflect(const xmp_aligned* array, const xmp_width width[], const char* place);
xmp_request xmp_reflect_start(const xmp_aligned* array, const xmp_width width[], const char* place);

/* The opposite: adds the elements of the shadows to those of the owners. `type` is that of the elements. */
void xmp_reduce_shadow(const xmp_aligned* array, const xmp_width width[], enum xmp_type type, const char* place);
xmp_request xmp_reduce_shadow_start(const xmp_aligned* array, const xmp_width width[], enum xmp_type type,
                                    const char* place);

/* One side of a gmove: a section of an aligned array, or memory of each image. */
typedef struct xmp_moved {
  const xmp_aligned* array; /* NULL: memory */
  void* address;            /* of memory: its first element */
  int dims;
  int64_t base[XMP_DIMS], length[XMP_DIMS], step[XMP_DIMS]; /* of memory: base 0, step 1 */
  int64_t stride[XMP_DIMS];                                 /* of memory: bytes */
} xmp_moved;
/* Memory in a shared array that all images name alike is written once, by owners of the other side; such a move
 * synchronises the executing set before and after, shared arrays included. */
void xmp_gmove_global(const xmp_moved* to, const xmp_moved* from, size_t element, const char* text, const char* place);
/* Starts it. The right side may change when this returns. With a shared array it is complete then. */
xmp_request xmp_gmove_global_start(const xmp_moved* to, const xmp_moved* from, size_t element, const char* text,
                                   const char* place);
/* gmove in and out: not collective. Each image of the executing set moves by itself what it owns of the side that the
 * executing set has: in: the left one, out: the right one. Any images may have the other side, and take no part. The
 * program synchronises with them. in: reads what was written before; out: has arrived when the call returns. */
void xmp_gmove_alone(enum xmp_gmove_mode mode, const xmp_moved* to, const xmp_moved* from, size_t element,
                     const char* text, const char* place);
/* Starts it: neither side may be used until it is waited for. */
xmp_request xmp_gmove_alone_start(enum xmp_gmove_mode mode, const xmp_moved* to, const xmp_moved* from, size_t element,
                                  const char* text, const char* place);

/* The elements of an aligned array that this image has, without its shadow, for xmp_bcast and xmp_reduction_section;
 * ends the job if an image of `on` has others. `what` is for messages. */
xmp_section xmp_copies(const xmp_aligned* a, const xmp_node_reference* on, const char* what, const char* place);
/* xmp_reduction of elements that do not follow each other. A started one is complete then. */
void xmp_reduction_section(const xmp_section* data, size_t element, enum xmp_type type, enum xmp_operator op,
                           const xmp_node_reference* on, const char* place);
xmp_request xmp_reduction_section_start(const xmp_section* data, size_t element, enum xmp_type type,
                                        enum xmp_operator op, const xmp_node_reference* on, const char* place);

/* ---- calls on aligned arrays (collective over the executing set, which has all nodes of them; blocking) ---------- */

/* Arguments are xmp_desc_of(a). Arrays may be distributed in any way, each in its own; elements of all have one type.
 * If nodes have copies, all of them get the result. hirobacc gives the place of the call to those that end in _at.
 */

/* x[i][j] = a[j][i]. `opt` 1 allows the call to change a, which it does not. */
void xmp_transpose(xmp_desc_t x, xmp_desc_t a, int opt);
/* x = a b, of matrices of numbers; each sum in the order of the sequential loop. */
void xmp_matmul(xmp_desc_t x, xmp_desc_t a, xmp_desc_t b);
/* x[i][j] = a[k[i][j]][l[i][j]], with an array of integers for each dimension of a: k, l. They have the shape of x. */
void xmp_gather(xmp_desc_t x, xmp_desc_t a, ...);
/* x[k[i][j]][l[i][j]] = a[i][j], with one for each dimension of x. They have the shape of a. Of several elements for
 * one place the last one in C's order stays. */
void xmp_scatter(xmp_desc_t x, xmp_desc_t a, ...);
/* v[0], v[1], ... = the elements of a, in C's order, where the mask, an array of integers, is not 0. NULL: all. The
 * rest of v stays. */
void xmp_pack(xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask);
/* The opposite: the elements of a where the mask is not 0 become v[0], v[1], ... */
void xmp_unpack(xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask);
/* Sorts the elements of `from` into `to`; NaN counts as greatest. */
void xmp_sort_up(xmp_desc_t from, xmp_desc_t to);
void xmp_sort_down(xmp_desc_t from, xmp_desc_t to);

void xmp_transpose_at(xmp_desc_t x, xmp_desc_t a, int opt, const char* place);
void xmp_matmul_at(xmp_desc_t x, xmp_desc_t a, xmp_desc_t b, const char* place);
void xmp_gather_at(xmp_desc_t x, xmp_desc_t a, int count, const xmp_desc_t indices[], const char* place);
void xmp_scatter_at(xmp_desc_t x, xmp_desc_t a, int count, const xmp_desc_t indices[], const char* place);
void xmp_pack_at(xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask, const char* place);
void xmp_unpack_at(xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask, const char* place);
void xmp_sort_at(xmp_desc_t from, xmp_desc_t to, int down, const char* place);

/* ---- inquiry, as in the specification ---------------------------------------------------------------------------- */

/* Dimensions count from 1, those of templates in the order in which the program writes them; axes, too, with 0 for
 * none. Those with a result as their last argument return 0, or -1 if there is none, as of a template that is not fixed
 * yet; the others return the result, or -1. */
int xmp_template_fixed(xmp_desc_t t, int* fixed);
int xmp_template_ndims(xmp_desc_t t, int* ndims);
int xmp_template_lbound(xmp_desc_t t, int dimension, int* bound);
int xmp_template_ubound(xmp_desc_t t, int dimension, int* bound);
int xmp_template_gsize(xmp_desc_t t, int dimension);
int xmp_template_lsize(xmp_desc_t t, int dimension); /* indices of this node */
int xmp_dist_format(xmp_desc_t t, int dimension, int* format);
int xmp_dist_blocksize(xmp_desc_t t, int dimension, int* size); /* none of XMP_GBLOCK */
int xmp_dist_stride(xmp_desc_t t, int dimension);               /* of XMP_CYCLIC from a node's block to its next one */
int xmp_dist_gblockmap(xmp_desc_t t, int dimension, int map[]);
int xmp_dist_nodes(xmp_desc_t t, xmp_desc_t* nodes);
int xmp_dist_axis(xmp_desc_t t, int dimension, int* axis); /* the dimension of the node array */

int xmp_align_template(xmp_desc_t array, xmp_desc_t* t);
int xmp_align_axis(xmp_desc_t array, int dimension, int* axis); /* the dimension of the template */
int xmp_align_offset(xmp_desc_t array, int dimension, int* offset);
int xmp_align_format(xmp_desc_t array, int dimension);
int xmp_align_size(xmp_desc_t array, int dimension);                          /* of a block */
int xmp_align_replicated(xmp_desc_t array, int of_template, int* replicated); /* no dimension is aligned with that */

/* Sizes of this node's memory, and subscripts in it, count its shadow. */
int xmp_array_lsize(xmp_desc_t array, int dimension, int* size);
int xmp_array_lead_dim(xmp_desc_t array, int size[]); /* of all dimensions */
int xmp_array_lshadow(xmp_desc_t array, int dimension, int* width);
int xmp_array_ushadow(xmp_desc_t array, int dimension, int* width);
int xmp_array_gtol(xmp_desc_t array, int global[], int local[]); /* subscripts, of an element that this node has */
/* The same of one subscript; hirobacc makes it of xmp_array_gtol with four arguments. */
int xmp_array_gtol_in(xmp_desc_t array, int dimension, int global, int* local);
/* The index, in the node array's dimension, of the node that owns index[dimension - 1]. */
int xmp_array_owner(xmp_desc_t array, int ndims, int index[], int dimension);
/* The least and the greatest index of the array; those of this node; and where these are in its memory. */
int xmp_array_gcglbound(xmp_desc_t array, int dimension), xmp_array_gcgubound(xmp_desc_t array, int dimension);
int xmp_array_gcllbound(xmp_desc_t array, int dimension), xmp_array_gclubound(xmp_desc_t array, int dimension);
int xmp_array_lcllbound(xmp_desc_t array, int dimension), xmp_array_lclubound(xmp_desc_t array, int dimension);
/* Those of this node, as Omni's header has them too. */
void xmp_array_lbound_global(xmp_desc_t array, int dimension, int* index);
void xmp_array_ubound_global(xmp_desc_t array, int dimension, int* index);

#ifdef __cplusplus
}
#endif

#endif
