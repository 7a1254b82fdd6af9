/* The rows of the kernel table; one line a family. */
#ifndef BURIN_GPU_ROWS_CUH
#define BURIN_GPU_ROWS_CUH

#include "gpu/kernel.h"

extern const struct gpu_kernel gpu_gram;
extern const struct gpu_kernel gpu_bloom;
extern const struct gpu_kernel gpu_ac;
extern const struct gpu_kernel gpu_ac_plain;
extern const struct gpu_kernel gpu_pfac0;
extern const struct gpu_kernel gpu_pfac1;
extern const struct gpu_kernel gpu_pfac2;
extern const struct gpu_kernel gpu_pfac3;
extern const struct gpu_kernel gpu_pfac4;
extern const struct gpu_kernel gpu_pfac5;
extern const struct gpu_kernel gpu_nfa_u;
extern const struct gpu_kernel gpu_nfa_cr;
extern const struct gpu_kernel gpu_nfa_r16;
extern const struct gpu_kernel gpu_nfa_cw;
extern const struct gpu_kernel gpu_wm_u;
extern const struct gpu_kernel gpu_wm_tc;
extern const struct gpu_kernel gpu_wm_cr;
extern const struct gpu_kernel gpu_wm_r16;
extern const struct gpu_kernel gpu_wm_cw;
extern const struct gpu_kernel gpu_stt_p1;
extern const struct gpu_kernel gpu_stt_p2;
extern const struct gpu_kernel gpu_bmh;
extern const struct gpu_kernel gpu_zha_ac0;
extern const struct gpu_kernel gpu_zha_ac1;
extern const struct gpu_kernel gpu_zha_ac2;
extern const struct gpu_kernel gpu_zha_ac3;
extern const struct gpu_kernel gpu_zha_ac4;
extern const struct gpu_kernel gpu_mbm0;
extern const struct gpu_kernel gpu_mbm1;
extern const struct gpu_kernel gpu_mbm2;
extern const struct gpu_kernel gpu_mbm3;
extern const struct gpu_kernel gpu_mbm4;

#endif
