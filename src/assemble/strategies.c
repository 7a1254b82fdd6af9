/* THE TABLE of passes, in their order: the surest and cheapest first. */
#include "assemble/strategies.h"

static bool is_of_texts(const struct carver *carver)
{
	return carver->is_text;
}

const struct strategy strategies[] = {
	{ "file system", FRAGMENTS_KNOWN, FRAGMENTS_SEARCH, ASSEMBLY_FILE_SYSTEM, 100, true, false,
		false, false, NULL, find_in_file_system },
	{ "pointer blocks", FRAGMENTS_KNOWN, FRAGMENTS_SEARCH, ASSEMBLY_POINTER_BLOCKS, 100, false,
		false, false, false, NULL, find_pointer_blocks },
	{ "tables", FRAGMENTS_KNOWN, FRAGMENTS_NEAR, ASSEMBLY_TABLE, 100, false, true, false, false,
		NULL, find_by_table },
	{ "tables", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_TABLE, 100, false, true, false,
		false, NULL, find_by_sure_table },
	{ "sums", FRAGMENTS_KNOWN, FRAGMENTS_SEARCH, ASSEMBLY_TABLE, 100, false, true, false, false,
		NULL, find_by_sum },
	{ "two pieces, near", FRAGMENTS_NEAR, FRAGMENTS_NEAR, ASSEMBLY_NEAR, 3, false, false, false,
		false, NULL, find_near },
	{ "stored content", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_SEARCH, 100, false, true,
		false, false, NULL, find_stored_chain },
	{ "tables of stored content", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_TABLE, 100,
		false, true, false, false, NULL, find_by_unsure_table },
	{ "texts", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_SEARCH, 100, false, false, false,
		false, is_of_texts, find_text_chain },
	{ "pieces before a tail", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_SEARCH, 50, false,
		true, true, true, NULL, find_before_tail },
	{ "pieces anywhere", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_SEARCH, 50, false, false,
		true, true, NULL, find_anywhere },
	{ "places", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_TABLE, 100, false, false, false,
		false, NULL, find_by_places },
	{ "pieces anywhere, again", FRAGMENTS_SEARCH, FRAGMENTS_SEARCH, ASSEMBLY_SEARCH, 150, false,
		true, true, true, NULL, find_again },
	{ 0 },
};

bool strategies_repeat_from(unsigned pass)
{
	for (const struct strategy *strategy = &strategies[pass]; strategy->name; strategy++)
		if (strategy->repeats)
			return true;
	return false;
}

bool strategies_use_known(unsigned pass)
{
	for (unsigned before = 0; before < pass; before++)
		if (strategies[before].repeats)
			return strategies_repeat_from(pass);
	return false;
}
