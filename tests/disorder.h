/* Whether jobs of the pool start late and in any order (disorder.c). */
#ifndef BURIN_TESTS_DISORDER_H
#define BURIN_TESTS_DISORDER_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool disorder; /* initially true */

#endif
