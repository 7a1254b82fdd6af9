#include "gpu/kernel_list.h"

#include <stddef.h>

const struct gpu_kernel_info gpu_kernel_list[] = {
	{ "gram",
		"filter by pairs of two-byte grams, exact confirmation; the default for up to "
		"some thousand patterns",
		false },
	{ "bloom",
		"Bloom filter of windows at every byte, exact confirmation; for large "
		"dictionaries",
		false },
	{ "ac", "Aho-Corasick automaton, text and table in shared memory", false },
	{ "ac-plain",
		"Aho-Corasick automaton, one thread a KiB of text; for comparison, auto "
		"never takes it",
		false },
	{ "pfac0", "PFAC (Lin et al.): failureless Aho-Corasick, a thread a byte", true },
	{ "pfac1", "pfac0, with the text through shared memory", true },
	{ "pfac2", "pfac1, with the initial state's transitions in shared memory", true },
	{ "pfac3", "pfac2, with the table through texture", true },
	{ "pfac4", "pfac3, with merged entries, or else reordered output", true },
	{ "pfac5", "pfac4, with coalesced writes", true },
	{ "nfa-u", "Aho-Corasick with goto and supply functions (Kouzinopoulos et al.)", true },
	{ "nfa-cr", "nfa-u, with coalesced reads to shared memory", true },
	{ "nfa-r16", "nfa-cr, with reads of 16 bytes", true },
	{ "nfa-cw", "nfa-r16, with coalesced writes of counts", true },
	{ "wm-u", "Wu-Manber with blocks of three bytes (Kouzinopoulos et al.)", true },
	{ "wm-tc", "wm-u, with the tables through texture", true },
	{ "wm-cr", "wm-tc, with coalesced reads to shared memory", true },
	{ "wm-r16", "wm-cr, with reads of 16 bytes", true },
	{ "wm-cw", "wm-r16, with coalesced writes of counts", true },
	{ "stt-p1", "small automata side by side (Tran et al.), text in global memory", true },
	{ "stt-p2", "the same, text in shared memory by the diagonal scheme", true },
	{ "bmh", "Boyer-Moore-Horspool (Han), a pass a pattern", true },
	{ "ac0", "Aho-Corasick with a state for each byte (Zha and Sahni)", true },
	{ "ac1", "ac0, with the table through texture", true },
	{ "ac2", "ac1, with reads of 16 bytes", true },
	{ "ac3", "ac2, with coalesced reads to shared memory", true },
	{ "ac4", "ac3, with text in registers and coalesced writes of states", true },
	{ "mbm0", "multipattern Boyer-Moore after Commentz-Walter (Zha and Sahni)", true },
	{ "mbm1", "mbm0, with the reverse trie through texture", true },
	{ "mbm2", "mbm1, with reads of 16 bytes to shared memory", true },
	{ "mbm3", "mbm2, with coalesced reads to shared memory", true },
	{ "mbm4", "mbm3, with coalesced writes of nodes", true },
	{ NULL, NULL, false },
};
