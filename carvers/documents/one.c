/*
 * OneNote sections and tables of contents ([MS-ONESTORE]): a file's type and its format, as GUIDs.
 * Programs write a revision store (one_store.c), services a package (one_package.c).
 */
#include <stdbool.h>
#include <string.h>

#include "one.h"

static const uint8_t section[16] = { 0xe4, 0x52, 0x5c, 0x7b, 0x8c, 0xd8, 0xa7, 0x4d, 0xae, 0xb1,
	0x53, 0x78, 0xd0, 0x29, 0x96, 0xd3 };
static const uint8_t contents[16] = { 0xa1, 0x2f, 0xff, 0x43, 0xd9, 0xef, 0x76, 0x4c, 0x9e, 0xe2,
	0x10, 0xea, 0x57, 0x22, 0x76, 0x5f };
static const uint8_t store[16] = { 0x3f, 0xdd, 0x9a, 0x10, 0x1b, 0x91, 0xf5, 0x49, 0xa5, 0xd0, 0x17,
	0x91, 0xed, 0xc8, 0xae, 0xd8 };
static const uint8_t package[16] = { 0x2f, 0xe9, 0x8d, 0x63, 0xd4, 0xa6, 0xc1, 0x4b, 0x9a, 0x36,
	0xb3, 0xfc, 0x25, 0x11, 0xa5, 0xb7 };

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 64);
	enum verdict verdict = CARVE_REJECT;
	bool table;

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "a truncated header");
	table = memcmp(p, contents, 16) == 0;
	if (!table && memcmp(p, section, 16) != 0)
		return verdict_because(CARVE_REJECT, finding, "no OneNote file type at 0");
	if (memcmp(p + 48, store, 16) == 0)
		verdict = one_check_store(view, finding);
	else if (memcmp(p + 48, package, 16) == 0)
		verdict = one_check_package(view, finding);
	else
		verdict_because(CARVE_REJECT, finding, "an unknown file format at 48");
	if (verdict != CARVE_REJECT)
		finding->extension = table ? "onetoc2" : "one";
	return verdict;
}

const struct carver one_carver = {
	.name = "one",
	.summary = "OneNote sections, by their lists of nodes or stream objects",
	.check = check,
};
