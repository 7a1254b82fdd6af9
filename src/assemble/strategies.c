/* THE TABLE of passes, in their order: the surest and cheapest first. */
#include "assemble/strategies.h"

const struct strategy strategies[] = {
	{ "file system", FRAGMENTS_KNOWN, ASSEMBLY_FILE_SYSTEM, find_in_file_system },
	{ "pointer blocks", FRAGMENTS_KNOWN, ASSEMBLY_POINTER_BLOCKS, find_pointer_blocks },
	{ "two pieces, near", FRAGMENTS_NEAR, ASSEMBLY_NEAR, find_near },
	{ 0 },
};
