/* Headers of all programs here. Each is one process, and prints what a compiler without the directive makes of it. */
#ifndef ATOMIC_ALL_H
#define ATOMIC_ALL_H

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#endif
