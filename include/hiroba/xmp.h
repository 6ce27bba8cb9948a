/* xmp.h: coarrays, images and the directives of XcalableMP's local view, as calls of C.
 *
 * hirobacc translates `a[1:8]:[i] += b[0:8];` and `#pragma xmp ...` into the calls below, so the same program can be
 * written with any C compiler. docs/coarrays.md is a guide to them; docs/memory-model.md defines their order.
 *
 * Words: an image is a rank. Image indices count from 0 in the executing set: all images at first, those of a task
 * inside it. A coarray is an array of which each image has a part; parts of images on this node are accessed by loads
 * and stores.
 * Who owns what: a coarray belongs to the job; a descriptor to the program that declared it, and must exist while it is
 * used.
 * Collective: every image of the executing set makes the call, in the same order, with the same arguments.
 * Blocking: puts (assignments to another image) do not wait: they are complete after the next xmp_sync_memory or any
 * other synchronisation of this image, and their source may be changed on return. Gets wait, unless started.
 * Threads: everything that moves data, post, wait, locks and atomics may be called by many threads at once. Collective
 * calls, xmp_sync_* except xmp_sync_memory, and xmp_task_* are made by one thread at a time, outside of parallel
 * regions.
 * Errors: misuse ends the job with one message that names image, place, limit and value. `place` is "file:line".
 */
#ifndef HIROBA_XMP_H
#define HIROBA_XMP_H

#include "smint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- start and end ----------------------------------------------------------------------------------------------- */

/* Starts the job, if it has not started yet, and ends it when the program ends with status 0; hirobacc inserts it at
 * the beginning of main(). argc and argv may be NULL. Collective over all images; blocks. */
void xmp_start(int* argc, char*** argv);
/* The same for programs that end the job explicitly. Collective over all images; block. */
void xmp_init(int* argc, char*** argv);
void xmp_finalize(void);
/* Ends the program of this image, as exit(); if status is not 0, the whole job with it. */
void xmp_exit(int status) __attribute__((noreturn));
double xmp_wtime(void); /* seconds since some time in the past */
double xmp_wtick(void); /* seconds between two values of it */

/* ---- images and node arrays -------------------------------------------------------------------------------------- */

/* Constants, which preprocessed text can name, too. */
enum {
  XMP_DIMS = 7,         /* the most dimensions of anything here */
  XMP_REST = INT32_MIN, /* a length: to the end */
  XMP_SELF = INT32_MIN, /* an index of a node: this image's */
  /* No number that an index can be by mistake, as -1 is on the left of image 0: */
  XMP_EACH_IMAGE = INT32_MIN, /* an image: all of them, one after the other */
  XMP_ANY_IMAGE = INT32_MIN   /* an image to wait for: any */
};

/* An ordered set of ranks: first, first + step, ..., or those of the table. Opaque but to the functions below. */
typedef struct xmp_images {
  int first, step, count;
  const int* table; /* NULL: first and step define it */
} xmp_images;
extern xmp_images xmp_executing; /* the set in which image indices count; changed by xmp_task_begin and xmp_task_end */

int xmp_num_images(void), xmp_num_nodes(void), xmp_all_num_nodes(void); /* of the executing set; all_: of the job */
int xmp_node_num(void), xmp_all_node_num(void);                         /* this image, counted from 1 */
int xmp_this_image(void), xmpc_this_image(void), xmpc_node_num(void), xmpc_all_node_num(void); /* from 0 */

/* A node array: images as an array of up to 7 dimensions. `#pragma xmp nodes p[2][*]`: name, dims, extent {2, 0}. */
typedef struct xmp_nodes {
  const char *name, *place;
  int dims;
  int extent[XMP_DIMS]; /* 0 (*): as many as the images allow; of several, the earlier ones at least as many */
  int first_fastest;    /* the form p(2,*), in which the first index changes fastest */
  const struct xmp_node_reference* of; /* nodes p[..] = q[1:2][*]; NULL: the executing set; XMP_ALL_NODES */
  xmp_images images;                   /* set by xmp_nodes_define, in the order of the array */
  int of_executing;                    /* the form p[..] = * */
  int has_communicator;                /* of these images, in the bytes of: */
  void* communicator;                  /* an MPI_Comm (hiroba_mpi.h: xmp_nodes_comm) */
} xmp_nodes;

/* Part of a node array: for each dimension first, count and step, counted from 0. */
typedef struct xmp_node_reference {
  const xmp_nodes* nodes;
  struct {
    int first, count, step; /* count XMP_REST: to the end. first XMP_SELF: this image's index alone ([*] in `on`) */
  } range[XMP_DIMS];
} xmp_node_reference;
#define XMP_ALL_NODES ((const xmp_node_reference*)1) /* nodes p[..] = **: all images of the job */

/* Fills in extent and images. Not collective, but its content must be the same on all images of the executing set. Ends
 * the job if there are too few images, or if their number is not divisible. May be repeated: the last call is valid. */
void xmp_nodes_define(xmp_nodes* nodes);
/* The index, in the executing set, of the one image that the reference names. */
int xmp_image_at(const xmp_node_reference* one, const char* place);

/* `task on`: if this image is in the set, makes it the executing set and returns 1. Does not wait. */
int xmp_task_begin(const xmp_node_reference* on, const char* place);
void xmp_task_end(void);
/* The same for a variable with what xmp_task_begin has returned, at its end: __attribute__((cleanup(xmp_task_leave))).
 */
static inline void xmp_task_leave(const int* entered) {
  if (*entered) xmp_task_end();
}

/* ---- coarrays ---------------------------------------------------------------------------------------------------- */

typedef struct xmp_coarray {
  /* Set by the program: */
  const char *name, *place;
  size_t element; /* bytes */
  int dims, codims;
  int64_t extent[XMP_DIMS]; /* elements, in C order */
  int coextent[XMP_DIMS];   /* :[2][*] is {2, 0}; the first changes fastest. The last is not read. codims 0 is 1 */
  const xmp_nodes* on;      /* NULL, or the node array in which its image indices count, instead of the executing set */
  /* Set by the allocation: */
  void* data;                       /* this image's part; zero, or the first values */
  size_t bytes;                     /* of a part */
  ptrdiff_t stride;                 /* bytes from one part to the next, of images on this node */
  int rank, near_first, near_count; /* this rank; the ranks on this node */
  const xmp_images* images;         /* the set in which image indices count */
  void* opaque;
} xmp_coarray;

/* Allocates the coarray of the descriptor, and returns `data`. `initial` is the first content of each part (element
 * times all extents bytes), or NULL. Collective over all images, with the same sizes; blocks until all may use it. For
 * coarrays at file scope see smint_declare. */
void* xmp_coarray_allocate(xmp_coarray* coarray, const void* initial);
/* The same with a descriptor made by the library. */
xmp_coarray* xmp_coarray_malloc(size_t element, int dims, const int64_t extent[], const char* name, const char* place);
/* Frees either. Collective over all images; blocks. Also an aligned array of xmp_malloc, by its address or descriptor:
 * that is not collective. */
void xmp_free(void* coarray);
/* xmp_malloc(xmp_desc_of(y), n, m): sets the extents of a descriptor whose element and codims are set, and allocates
 * it. */
void* xmp_malloc_at(void* descriptor, int dims, const int64_t extent[], const char* place);

/* ---- elements: no call if the image is on this node -------------------------------------------------------------- */

/* Returns an image index of any integer type: one that is too large remains too large. `| 0` does not compile for
 * other types. */
static inline int xmp_image(int64_t index) {
  return index > INT32_MAX ? INT32_MAX : index <= INT32_MIN ? INT32_MIN + 1 : (int)index;
}

/* The address at which this image can load and store the element of another image that is at `address` in its own part;
 * NULL if that image is on another node or does not exist, if `bytes` there are not in the coarray, or with option
 * check. */
/* NOLINTBEGIN(modernize-use-nullptr): C, too */
static inline void* xmp_near(const xmp_coarray* coarray, int image, const void* address, size_t bytes) {
  const xmp_images* const images = coarray->images;
  const size_t offset = (size_t)((const char*)address - (const char*)coarray->data);
  int rank;
  if (images == NULL || (unsigned)image >= (unsigned)images->count) return NULL;
  rank = images->table != NULL ? images->table[image] : images->first + image * images->step;
  if ((unsigned)(rank - coarray->near_first) >= (unsigned)coarray->near_count) return NULL;
  if (bytes > coarray->bytes || offset > coarray->bytes - bytes) return NULL;
  return (char*)coarray->data + (ptrdiff_t)(rank - coarray->rank) * coarray->stride + offset;
}
/* NOLINTEND(modernize-use-nullptr) */

/* For elements for which xmp_near returns NULL: copies one, or ends the job with the reason. */
void xmp_get(void* to, const xmp_coarray* coarray, int image, const void* address, size_t bytes, const char* place);
void xmp_put(const xmp_coarray* coarray, int image, void* address, const void* from, size_t bytes, const char* place);

/* XMP_READ(&a_coarray, i, a[3].x, place) is a[3].x:[i], and XMP_WRITE(&a_coarray, i, a[3].x, v, place) is
 * a[3].x:[i] = v; a is this image's part. Of any type that can be assigned. */
#define XMP_READ(coarray_, image_, lvalue_, place_)                                                             \
  __extension__({                                                                                               \
    const xmp_coarray* const xmp_c = (coarray_);                                                                \
    const int xmp_i = xmp_image((image_) | 0);                                                                  \
    __typeof__(lvalue_)* const xmp_own = &(lvalue_);                                                            \
    __typeof__(lvalue_)* const xmp_at = (__typeof__(lvalue_)*)xmp_near(xmp_c, xmp_i, xmp_own, sizeof *xmp_own); \
    __typeof__(lvalue_) xmp_value;                                                                              \
    if (__builtin_expect(xmp_at != NULL, 1)) xmp_value = *xmp_at;                                               \
    else xmp_get(&xmp_value, xmp_c, xmp_i, xmp_own, sizeof *xmp_own, place_);                                   \
    xmp_value;                                                                                                  \
  })
#define XMP_WRITE(coarray_, image_, lvalue_, value_, place_)                                                    \
  __extension__({                                                                                               \
    const xmp_coarray* const xmp_c = (coarray_);                                                                \
    const int xmp_i = xmp_image((image_) | 0);                                                                  \
    __typeof__(lvalue_)* const xmp_own = &(lvalue_);                                                            \
    __typeof__(lvalue_)* const xmp_at = (__typeof__(lvalue_)*)xmp_near(xmp_c, xmp_i, xmp_own, sizeof *xmp_own); \
    const __typeof__(lvalue_) xmp_value = (value_);                                                             \
    if (__builtin_expect(xmp_at != NULL, 1)) *xmp_at = xmp_value;                                               \
    else xmp_put(xmp_c, xmp_i, xmp_own, &xmp_value, sizeof *xmp_own, place_);                                   \
    xmp_value;                                                                                                  \
  })

/* Returns the image that coindices name: index[0] + coextent[0] * (index[1] + coextent[1] * ...). Checked except for
 * the number of images, which the caller checks. */
void xmp_coindex_error(const xmp_coarray* coarray, int dimension, int64_t index, const char* place)
    __attribute__((noreturn));
static inline int xmp_coindex(const xmp_coarray* coarray, int codims, const int64_t index[], const char* place) {
  int64_t image = index[codims - 1];
  for (int d = codims - 2; d >= 0; --d) {
    if ((uint64_t)index[d] >= (uint64_t)coarray->coextent[d]) xmp_coindex_error(coarray, d, index[d], place);
    if (image < 0 || image > INT32_MAX) break;
    image = image * coarray->coextent[d] + index[d];
  }
  if (image < 0 || image > INT32_MAX) xmp_coindex_error(coarray, codims - 1, index[codims - 1], place);
  return (int)image;
}

/* Returns this image's index in the set in which those of the coarray count; ends the job if it is not in the set. */
int xmp_own_image(const xmp_coarray* coarray, const char* place);

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* Elements of a coarray on an image, or of this image's memory: count[d] of them in dimension d (outermost first),
 * stride[d] bytes apart. No dims is a single element. */
typedef struct xmp_section {
  const xmp_coarray* coarray; /* NULL: any memory of this image */
  int image;                  /* or XMP_EACH_IMAGE: the first dimension is the image (stride[0] is not read) */
  void* address;              /* the first element, in this image's own part */
  int dims;
  int64_t count[XMP_DIMS];
  int64_t stride[XMP_DIMS]; /* may be negative */
} xmp_section;

/* Returns the length of base:length:step in a dimension of `extent` elements; XMP_REST means all the rest, extent
 * XMP_UNKNOWN memory that a pointer names. Ends the job if the section is not inside. `text` is the text of the
 * program. */
#define XMP_UNKNOWN INT64_MAX
void xmp_range_error(int64_t base, int64_t length, int64_t step, int64_t extent, int dimension, const char* text,
                     const char* place) __attribute__((noreturn));
static inline int64_t xmp_length(int64_t base, int64_t length, int64_t step, int64_t extent, int dimension,
                                 const char* text, const char* place) {
  if (length == XMP_REST && step != 0 && base >= 0 && base < extent && (extent != XMP_UNKNOWN || step < 0))
    return step > 0 ? (extent - base + step - 1) / step : base / -step + 1;
  if (step == 0 || length < 0) xmp_range_error(base, length, step, extent, dimension, text, place);
  if (length > 0 && extent != XMP_UNKNOWN) {
    /* Divides, because a product could overflow. */
    if (base < 0 || base >= extent || length - 1 > (step > 0 ? (extent - 1 - base) / step : -(base / step)))
      xmp_range_error(base, length, step, extent, dimension, text, place);
  }
  return length;
}
/* Checks and returns an index. */
static inline int64_t xmp_index(int64_t index, int64_t extent, int dimension, const char* text, const char* place) {
  if ((uint64_t)index >= (uint64_t)extent) xmp_range_error(index, 1, 1, extent, dimension, text, place);
  return index;
}

/* Two sections of one expression, `b[0:n] = c[0:m] + 1`, must have equal numbers of elements in each dimension.
 * `text` names both. */
void xmp_shape_error(int64_t left, int64_t right, int dimension, const char* text, const char* place)
    __attribute__((noreturn));
static inline void xmp_same(int64_t left, int64_t right, int dimension, const char* text, const char* place) {
  if (left != right) xmp_shape_error(left, right, dimension, text, place);
}
/* For option check, where xmp_checking is 1: this image reads or writes a section of its own part by loads and stores.
 */
extern int xmp_checking;
void xmp_touch(const xmp_section* section, size_t element, int writes, const char* place);
/* Returns memory for an expression over sections: never NULL; free it with free(). */
void* xmp_temporary(size_t bytes, const char* place);
/* Returns the coarray in whose part of this image an address lies, for parameters; ends the job if there is none. */
const xmp_coarray* xmp_coarray_of(const void* address, const char* place);

/* to = from, element by element, each of `element` bytes; either side may be on any image, both may be (the data passes
 * through this image), and they may overlap. Counts must agree: those of sections of equally many dimensions one by one
 * (dimensions of length 1 left out), else those of all elements; a single element (no dims) goes to all. */
void xmp_assign(const xmp_section* to, const xmp_section* from, size_t element, const char* place);
/* to = one value for all. */
void xmp_fill(const xmp_section* to, const void* value, size_t element, const char* place);

/* An assignment that may still be under way when the call returns: neither side may be used until it is waited for.
 * A put has left then; it is complete when other puts are. */
typedef hiroba_request xmp_request;
xmp_request xmp_assign_start(const xmp_section* to, const xmp_section* from, size_t element, const char* place);
void xmp_request_wait(xmp_request* request);
int xmp_request_test(xmp_request* request); /* 1 if it is complete */

/* ---- compound assignment ----------------------------------------------------------------------------------------- */

enum xmp_type {
  XMP_BOOL,
  XMP_INT8,
  XMP_UINT8,
  XMP_INT16,
  XMP_UINT16,
  XMP_INT32,
  XMP_UINT32,
  XMP_INT64,
  XMP_UINT64,
  XMP_FLOAT,
  XMP_DOUBLE,
  XMP_LONG_DOUBLE,
  XMP_COMPLEX_FLOAT,
  XMP_COMPLEX_DOUBLE,
  XMP_COMPLEX_LONG_DOUBLE
};

enum xmp_operator {
  XMP_ADD,
  XMP_SUB, /* as a reduction: XMP_ADD */
  XMP_MUL,
  XMP_DIV,
  XMP_MOD,
  XMP_BITAND,
  XMP_BITOR,
  XMP_BITXOR,
  XMP_SHL,
  XMP_SHR,
  /* of reductions only: */
  XMP_AND,
  XMP_OR,
  XMP_MAX,
  XMP_MIN,
  XMP_FIRSTMAX,
  XMP_FIRSTMIN,
  XMP_LASTMAX,
  XMP_LASTMIN
};

/* to = to op from, for elements of type `to_type`. `from` has values of type `type`, in which C computes: the common
 * type of both sides after promotion, for shifts the promoted left side. No accumulate to an element is lost, from
 * any image and thread; they are complete when puts are. A plain access in the same segment is a race. */
void xmp_update(const xmp_section* to, enum xmp_type to_type, const xmp_section* from, enum xmp_type type,
                enum xmp_operator op, const char* place);
/* The same for one element and a value of this image. */
void xmp_update_element(const xmp_coarray* coarray, int image, void* address, enum xmp_type to_type, const void* value,
                        enum xmp_type type, enum xmp_operator op, const char* place);

/* ---- synchronisation --------------------------------------------------------------------------------------------- */

#define XMP_STAT_SUCCESS 0
#define XMP_STAT_STOPPED_IMAGE 1 /* never returned: an image that stops ends the job */

/* `status` may be NULL, and is set to XMP_STAT_SUCCESS. */
void xmp_sync_memory(int* status);           /* puts of this image have arrived. Not collective */
void xmp_sync_all(int* status);              /* collective: a barrier of the executing set, and sync_memory */
void xmp_sync_image(int image, int* status); /* with that image, which must do the same with this one */
void xmp_sync_images(int count, const int images[], int* status);
void xmp_sync_images_all(int* status); /* pair by pair with all others of the executing set */
void xmp_barrier(void);                /* as xmp_sync_all */
void xmp_barrier_on(const xmp_node_reference* on, const char* place); /* of these; others do nothing. NULL: executing */

/* Operations before the post are complete before those after the wait that it ends. Posts are queued without limit; a
 * wait takes the oldest that matches, and returns the image that posted it. */
#define XMP_ANY_TAG INT64_MIN
void xmp_post(int image, int64_t tag, const char* place);
int xmp_wait(int image, int64_t tag, const char* place);
/* The same with one node of a node array, which need not be in the executing set: within a task, another task's. */
void xmp_post_node(const xmp_node_reference* one, int64_t tag, const char* place);
int xmp_wait_node(const xmp_node_reference* one, int64_t tag, const char* place);

/* A lock is an element of a coarray, initially zero. Given in the order of requests; held by a thread; acquire and
 * release, of shared arrays and the heap (sms.h), too. */
typedef struct xmp_lock_t {
  uint32_t next, serving;
  uint64_t holder, reserved;
} xmp_lock_t;
void xmp_lock_at(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* place);
int xmp_trylock_at(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* place); /* 1 if it was taken */
void xmp_unlock_at(const xmp_coarray* coarray, int image, xmp_lock_t* lock, const char* place);

/* Atomics on aligned integers of 4 or 8 bytes: sequentially consistent among themselves, and ordering nothing else. Not
 * to be mixed with compound assignments of the same element in one segment. fetch_add and cas return the old value. */
void xmp_atomic_define_at(const xmp_coarray* coarray, int image, void* address, size_t bytes, int64_t value,
                          const char* place);
int64_t xmp_atomic_ref_at(const xmp_coarray* coarray, int image, const void* address, size_t bytes, const char* place);
int64_t xmp_atomic_fetch_add_at(const xmp_coarray* coarray, int image, void* address, size_t bytes, int64_t value,
                                const char* place);
int64_t xmp_atomic_cas_at(const xmp_coarray* coarray, int image, void* address, size_t bytes, int64_t expected,
                          int64_t desired, const char* place);

/* ---- collective data movement (of the images of `on`, or of the executing set if it is NULL; blocking) ----------- */

/* Combines `count` elements of all images, in the order of the images, so that all get the same bits. */
void xmp_reduction(void* data, int64_t count, enum xmp_type type, enum xmp_operator op, const xmp_node_reference* on,
                   const char* place);
/* firstmax, firstmin, lastmax, lastmin: each location is an array of `count` elements of its size, which becomes that
 * of the first or last image with the extreme value, element by element. */
typedef struct xmp_location {
  void* address;
  size_t bytes; /* of an element */
} xmp_location;
void xmp_reduction_locate(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                          const xmp_location locations[], int nlocations, const xmp_node_reference* on,
                          const char* place);
/* Copies the data of the image `from` to all. NULL: the first image. `data` has no coarray. */
void xmp_bcast(const xmp_section* data, size_t element, const xmp_node_reference* from, const xmp_node_reference* on,
               const char* place);
/* gmove: an assignment that all make together: it reads data written before it, and is complete on all images on
 * return. in, out: each image gets or puts by itself, and its own part is complete on return. */
enum xmp_gmove_mode { XMP_GMOVE, XMP_GMOVE_IN, XMP_GMOVE_OUT };
void xmp_gmove(enum xmp_gmove_mode mode, const xmp_section* to, const xmp_section* from, size_t element,
               const char* place);

/* ---- started operations ------------------------------------------------------------------------------------------ */

/* The calls above, started: complete when xmp_request_wait has returned, or xmp_request_test has returned 1. Until
 * then the variables may be neither read nor written; these calls, and xmp_wait_async, store the results. On an
 * image that does not take part, complete at once. Each image of a set makes the collective calls of that set,
 * started or not, in the same order. xmp_gmove_start, without in and out: it reads data written before it, and is
 * complete on all images when the wait of one has returned. It advances in calls that wait for other images (except
 * barriers of all images) or test. */
xmp_request xmp_reduction_start(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                                const xmp_node_reference* on, const char* place);
xmp_request xmp_reduction_locate_start(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                                       const xmp_location locations[], int nlocations, const xmp_node_reference* on,
                                       const char* place);
xmp_request xmp_bcast_start(const xmp_section* data, size_t element, const xmp_node_reference* from,
                            const xmp_node_reference* on, const char* place);
xmp_request xmp_gmove_start(enum xmp_gmove_mode mode, const xmp_section* to, const xmp_section* from, size_t element,
                            const char* place);

/* async(id): registers a request under a number of this image, which many may share. `what`, "reduction", is for
 * messages. The program must wait for all before it ends. One thread at a time. */
void xmp_async(int64_t id, xmp_request request, const char* what, const char* place);
/* Waits for all requests with these numbers; a number that this image has never used is an error. Images that are not
 * in `on` do nothing. */
void xmp_wait_async(int count, const int64_t ids[], const xmp_node_reference* on, const char* place);
int xmp_test_async(int64_t id); /* 1 if all of them are complete; then as after a wait */

/* ---- inquiry, as in the specification: dimensions and indices of node arrays count from 1 ------------------------ */

typedef void* xmp_desc_t; /* xmp_desc_of(p) is the address of a descriptor */
int xmp_nodes_ndims(xmp_desc_t nodes, int* ndims);
int xmp_nodes_index(xmp_desc_t nodes, int dimension, int* index);
int xmp_nodes_size(xmp_desc_t nodes, int dimension, int* size);
int xmp_nodes_rank(xmp_desc_t nodes, int* rank); /* this image in the array, from 1; 0 if it is not in it */
int xmp_nodes_equiv(xmp_desc_t nodes, xmp_desc_t* of, int first[], int last[], int step[]);
enum {
  XMP_ENTIRE_NODES = 2000, /* p[..] */
  XMP_EXECUTING_NODES,     /* p[..] = * */
  XMP_PRIMARY_NODES,       /* p[..] = ** */
  XMP_EQUIVALENCE_NODES    /* p[..] = q[..] */
};
int xmp_nodes_attr(xmp_desc_t nodes, int* attribute);
/* These take coarrays and aligned arrays, whose dimensions count from 1, and whose indices from 0. */
int xmp_array_ndims(xmp_desc_t array, int* ndims);
/* The size; another form, xmp_array_gsize(array, dimension), returns it. */
int xmp_array_gsize(xmp_desc_t array, int dimension, int* size);
int xmp_array_extent(xmp_desc_t array, int dimension);
int xmp_array_lbound(xmp_desc_t array, int dimension, int* bound);
int xmp_array_ubound(xmp_desc_t array, int dimension, int* bound);
size_t xmp_array_type_size(xmp_desc_t array);          /* bytes of an element */
int xmp_array_laddr(xmp_desc_t array, void** address); /* of this image's part, with its shadow */

/* ---- calls with a place, which the macros below provide ---------------------------------------------------------- */

void xmp_free_at(void* coarray, const char* place);
void xmp_sync_memory_at(int* status, const char* place);
void xmp_sync_all_at(int* status, const char* place);
void xmp_sync_image_at(int image, int* status, const char* place);
void xmp_sync_images_at(int count, const int images[], int* status, const char* place);
void xmp_sync_images_all_at(int* status, const char* place);
void xmp_barrier_at(const char* place);

#ifdef __cplusplus
}

template <typename... Extents>
void* xmp_malloc_extents(void* descriptor, const char* place, Extents... extents) {
  const int64_t extent[] = {static_cast<int64_t>(extents)...};
  return xmp_malloc_at(descriptor, static_cast<int>(sizeof...(extents)), extent, place);
}
#define XMP_MALLOC(descriptor, place, ...) xmp_malloc_extents(descriptor, place, __VA_ARGS__)
#else
#define XMP_MALLOC(descriptor, place, ...) \
  xmp_malloc_at(descriptor, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}, place)
#endif

#ifndef SMS_NO_PLACES
#define XMP_OF_THREE(a, b, c, name, ...) name
#define xmp_array_gsize(...) XMP_OF_THREE(__VA_ARGS__, xmp_array_gsize, xmp_array_extent, )(__VA_ARGS__)
#define XMP_HERE __FILE__ ":" SMS_TEXT(__LINE__) /* the place of a call */
#define xmp_malloc(descriptor, ...) XMP_MALLOC(descriptor, XMP_HERE, __VA_ARGS__)
#define xmp_free(...) xmp_free_at(__VA_ARGS__, XMP_HERE)
#define xmp_sync_memory(...) xmp_sync_memory_at(__VA_ARGS__, XMP_HERE)
#define xmp_sync_all(...) xmp_sync_all_at(__VA_ARGS__, XMP_HERE)
#define xmp_sync_image(...) xmp_sync_image_at(__VA_ARGS__, XMP_HERE)
#define xmp_sync_images(...) xmp_sync_images_at(__VA_ARGS__, XMP_HERE)
#define xmp_sync_images_all(...) xmp_sync_images_all_at(__VA_ARGS__, XMP_HERE)
#define xmp_barrier() xmp_barrier_at(XMP_HERE)
#endif

#include "xmp_global.h"

#ifdef MPI_VERSION /* the file includes mpi.h: calls for both */
#include "hiroba_mpi.h"
#endif

#endif
