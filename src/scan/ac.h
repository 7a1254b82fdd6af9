/* The automaton of Aho and Corasick on the CPU: the engines `ac` and `ac-copies`, and others that
 * differ in how the text is dealt out. */
#ifndef BURIN_SCAN_AC_H
#define BURIN_SCAN_AC_H

#include "scan/sequential.h"

/* The tables of the GPU's kernel `ac`, searched byte by byte. */
extern const struct sequential ac_sequential;

#endif
