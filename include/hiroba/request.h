/* A request: something that was started and continues while the program computes: a collective operation
 * (collective.h), an assignment of a coarray (xmp.h), a preload (sms.h). Each header has its own name for the type.
 * hiroba_wait and its like take all of them. */
#ifndef HIROBA_REQUEST_H
#define HIROBA_REQUEST_H

#include <stdint.h>

typedef struct hiroba_request {
  uint64_t number; /* opaque; 0: complete */
} hiroba_request;

#endif
