#include "gpu/list.h"

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
	{ NULL, NULL, false },
};
