/* The automata of Aho and Corasick on the CPU, for engines that differ in how they divide the text. */
#ifndef BURIN_GPU_PAPERS_CPU_AC_H
#define BURIN_GPU_PAPERS_CPU_AC_H

#include "gpu/papers/cpu_sequential.h"

/* A complete DFA, the tables of the GPU's kernel `ac`: a lookup for each byte. cpu_ac.c */
extern const struct sequential ac_sequential;
/* With failure transitions, as in the original: goto and supply functions. cpu_nfa.c */
extern const struct sequential nfa_sequential;

#endif
