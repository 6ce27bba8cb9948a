/* example.h: an example of a model. */
#ifndef HIROBA_EXAMPLE_H
#define HIROBA_EXAMPLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of barriers that the program has begun. */
int64_t hiroba_example_barriers(void);

#ifdef __cplusplus
}
#endif

#endif
