/* What was started and goes on while the program computes: a collective operation (collective.h), an assignment of a
 * coarray (xmp.h), a preload (sms.h). Each header names the type after itself. hiroba_wait and its like take all of
 * them. */
#ifndef HIROBA_REQUEST_H
#define HIROBA_REQUEST_H

#include <stdint.h>

typedef struct hiroba_request {
  uint64_t number; /* opaque; 0: complete */
} hiroba_request;

#endif
