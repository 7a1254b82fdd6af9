/* The automaton of Aho and Corasick on the CPU: the engines `ac` and `ac-copies`, and others that
 * differ in how they divide the text. */
#ifndef BURIN_GPU_PAPERS_CPU_AC_H
#define BURIN_GPU_PAPERS_CPU_AC_H

#include "gpu/papers/cpu_sequential.h"

/* The tables of the GPU's kernel `ac`, searched byte by byte. */
extern const struct sequential ac_sequential;

#endif
