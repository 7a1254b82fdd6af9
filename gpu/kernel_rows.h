/*
 * THE TABLE of kernels, the general ones first: a kernel is a .cu file with a struct gpu_kernel
 * (gpu/kernel.h), and a row here. Its variable, its name, whether it is here to be compared with
 * (`auto` never takes it, and `burin list kernels` shows it with --all), and what it does. Included
 * with ROW defined: without CUDA for the names alone.
 */
ROW(gpu_gram, "gram", false,
	"filter by pairs of two-byte grams, exact confirmation; the default for up to some "
	"thousand patterns")
ROW(gpu_bloom, "bloom", false,
	"Bloom filter of windows at every byte, exact confirmation; for large dictionaries")
ROW(gpu_ac, "ac", false, "Aho-Corasick automaton, text and table in shared memory")
ROW(gpu_ac_plain, "ac-plain", true, "Aho-Corasick automaton, one thread a KiB of text")
ROW(gpu_pfac0, "pfac0", true, "PFAC (Lin et al.): failureless Aho-Corasick, a thread a byte")
ROW(gpu_pfac1, "pfac1", true, "pfac0, with the text through shared memory")
ROW(gpu_pfac2, "pfac2", true, "pfac1, with the initial state's transitions in shared memory")
ROW(gpu_pfac3, "pfac3", true, "pfac2, with the table through texture")
ROW(gpu_pfac4, "pfac4", true, "pfac3, with merged entries, or else reordered output")
ROW(gpu_pfac5, "pfac5", true, "pfac4, with coalesced writes")
ROW(gpu_nfa_u, "nfa-u", true, "Aho-Corasick with goto and supply functions (Kouzinopoulos et al.)")
ROW(gpu_nfa_cr, "nfa-cr", true, "nfa-u, with coalesced reads to shared memory")
ROW(gpu_nfa_r16, "nfa-r16", true, "nfa-cr, with reads of 16 bytes")
ROW(gpu_nfa_cw, "nfa-cw", true, "nfa-r16, with coalesced writes of counts")
ROW(gpu_nfa_tc, "nfa-tc", true, "nfa-cw, with the tables through texture")
ROW(gpu_wm_u, "wm-u", true, "Wu-Manber with blocks of three bytes (Kouzinopoulos et al.)")
ROW(gpu_wm_tc, "wm-tc", true, "wm-u, with the tables through texture")
ROW(gpu_wm_cr, "wm-cr", true, "wm-tc, with coalesced reads to shared memory")
ROW(gpu_wm_r16, "wm-r16", true, "wm-cr, with reads of 16 bytes")
ROW(gpu_wm_cw, "wm-cw", true, "wm-r16, with coalesced writes of counts")
ROW(gpu_stt_p1, "stt-p1", true, "small automata side by side (Tran et al.), text in global memory")
ROW(gpu_stt_p2, "stt-p2", true, "the same, text in shared memory by the diagonal scheme")
ROW(gpu_bmh, "bmh", true, "Boyer-Moore-Horspool (Han), a pass a pattern")
ROW(gpu_zha_ac0, "ac0", true, "Aho-Corasick with a state for each byte (Zha and Sahni)")
ROW(gpu_zha_ac1, "ac1", true, "ac0, with the table through texture")
ROW(gpu_zha_ac2, "ac2", true, "ac1, with reads of 16 bytes")
ROW(gpu_zha_ac3, "ac3", true, "ac2, with coalesced reads to shared memory")
ROW(gpu_zha_ac4, "ac4", true, "ac3, with text in registers and coalesced writes of states")
ROW(gpu_mbm0, "mbm0", true, "multipattern Boyer-Moore after Commentz-Walter (Zha and Sahni)")
ROW(gpu_mbm1, "mbm1", true, "mbm0, with the reverse trie through texture")
ROW(gpu_mbm2, "mbm2", true, "mbm1, with reads of 16 bytes to shared memory")
ROW(gpu_mbm3, "mbm3", true, "mbm2, with coalesced reads to shared memory")
ROW(gpu_mbm4, "mbm4", true, "mbm3, with coalesced writes of nodes")
#undef ROW
