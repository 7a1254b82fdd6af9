/* The papers' algorithms on the processor, as engines: rows that scan/engines.c takes in after its
 * own, so that they can be named and compared with. `auto` never picks one. */
#include "scan/scan.h"

#include <stddef.h>

extern const struct scan_engine dpac_engine;      /* cpu_dpac.c */
extern const struct scan_engine dpac_dfa_engine;  /* cpu_dpac.c */
extern const struct scan_engine pfac_engine;      /* cpu_pfac.c */
extern const struct scan_engine nfa_engine;       /* cpu_nfa.c */
extern const struct scan_engine wm_engine;        /* cpu_wm.c */
extern const struct scan_engine stt_engine;       /* cpu_stt.c */
extern const struct scan_engine stt_one_engine;   /* cpu_stt.c */
extern const struct scan_engine bmh_engine;       /* cpu_bmh.c */
extern const struct scan_engine ac_engine;        /* cpu_ac.c */
extern const struct scan_engine ac_copies_engine; /* cpu_ac.c */

const struct scan_engine *const scan_paper_engines[] = {
	&dpac_engine,
	&dpac_dfa_engine,
	&pfac_engine,
	&nfa_engine,
	&wm_engine,
	&stt_engine,
	&stt_one_engine,
	&bmh_engine,
	&ac_engine,
	&ac_copies_engine,
	NULL,
};
