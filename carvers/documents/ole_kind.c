/*
 * Which program wrote a compound file: determined by the names of streams and storages in the root,
 * and for Windows Installer by the root's class.
 */
#include "ole.h"

#include <string.h>

enum {
	WORD = 1 << 0,
	EXCEL = 1 << 1,
	POWERPOINT = 1 << 2,
	VISIO = 1 << 3,
	PUBLISHER = 1 << 4,
	MESSAGE = 1 << 5,
	THUMBS = 1 << 6,
	HANGUL = 1 << 7,
	WORKS = 1 << 8,
	JUMP_LIST = 1 << 9,
	SOLUTION = 1 << 10,
	PROJECT = 1 << 11,
	MAX_SCENE = 1 << 12,
	STAR_WRITER = 1 << 13,
	STAR_CALC = 1 << 14,
	STAR_DRAW = 1 << 15,
	STAR_MATH = 1 << 16,
	WORDPERFECT = 1 << 17,
	QUATTRO = 1 << 18,
	FLASHPIX = 1 << 19,
	INVENTOR = 1 << 20,
	SOLIDWORKS = 1 << 21,
	STICKY_NOTES = 1 << 22,
	WORKS_SHEET = 1 << 23,
	TEMPLATE = 1 << 24, /* by a bit in Word's first bytes */
	CATALOG = 1 << 25,
};

static const struct {
	const char *name;
	uint32_t means;
} names[] = {
	{ "WordDocument", WORD },
	{ "Workbook", EXCEL },
	{ "Book", EXCEL },
	{ "PowerPoint Document", POWERPOINT },
	{ "PP97_DUALSTORAGE", POWERPOINT },
	{ "VisioDocument", VISIO },
	{ "Quill", PUBLISHER },
	{ "__properties_version1.0", MESSAGE },
	{ "Catalog", THUMBS },
	{ "FileHeader", HANGUL },
	{ "MatOST", WORKS },
	{ "WksSSWorkBook", WORKS_SHEET },
	{ "DestList", JUMP_LIST },
	{ "SolutionConfiguration", SOLUTION },
	{ "   114", PROJECT },
	{ "   19", PROJECT },
	{ "   112", PROJECT },
	{ "ClassDirectory3", MAX_SCENE },
	{ "StarWriterDocument", STAR_WRITER },
	{ "StarCalcDocument", STAR_CALC },
	{ "StarDrawDocument", STAR_DRAW },
	{ "StarDrawDocument3", STAR_DRAW },
	{ "StarMathDocument", STAR_MATH },
	{ "PerfectOffice_MAIN", WORDPERFECT },
	{ "NativeContent_MAIN", QUATTRO },
	{ "Image Contents", FLASHPIX },
	{ "RSeStorageInfo", INVENTOR },
	{ "SwDocMgrTempStorage", SOLIDWORKS },
	{ "Metafile", STICKY_NOTES },
};

/* The first row whose mark was seen wins: a presentation also contains the objects it shows. */
static const struct {
	uint32_t needs;
	const char *extension;
} kinds[] = {
	{ WORD | TEMPLATE, "dot" },
	{ WORD, "doc" },
	{ POWERPOINT, "ppt" },
	{ VISIO, "vsd" },
	{ PUBLISHER, "pub" },
	{ WORKS_SHEET, "xlr" },
	{ EXCEL, "xls" },
	{ MESSAGE, "msg" },
	{ HANGUL, "hwp" },
	{ WORKS, "wps" },
	{ JUMP_LIST, "automaticDestinations-ms" },
	{ SOLUTION, "suo" },
	{ PROJECT, "mpp" },
	{ MAX_SCENE, "max" },
	{ STAR_WRITER, "sdw" },
	{ STAR_CALC, "sdc" },
	{ STAR_DRAW, "sda" },
	{ STAR_MATH, "smf" },
	{ WORDPERFECT, "wpd" },
	{ QUATTRO, "qpw" },
	{ FLASHPIX, "fpx" },
	{ INVENTOR, "ipt" },
	{ SOLIDWORKS, "sldprt" },
	{ STICKY_NOTES, "snt" },
	{ THUMBS, "db" },
};

/* Classes {000C108x-0000-0000-C000-000000000046}. */
static const struct {
	uint8_t first;
	const char *extension;
} installers[] = {
	{ 0x82, "mst" },
	{ 0x84, "msi" },
	{ 0x86, "msp" },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool ole_named(const struct ole_entry *entry, const char *name)
{
	size_t i = 0;

	for (; name[i]; i++)
		if (i >= COUNT(entry->name) || entry->name[i] != (uint8_t)name[i])
			return false;
	return i < COUNT(entry->name) && entry->name[i] == 0;
}

bool ole_starts_with(const struct ole_entry *entry, const char *start)
{
	for (size_t i = 0; start[i]; i++)
		if (i >= COUNT(entry->name) || entry->name[i] != (uint8_t)start[i])
			return false;
	return true;
}

struct ole_search {
	struct ole *ole;
	uint32_t seen;
};

static bool is_template(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint8_t start[11];

	return entry->len >= ole->cutoff && ole_read(ole, &position, 0, start, sizeof(start)) &&
	       start[10] & 1;
}

static bool visit_entry(void *context, const struct ole_entry *entry)
{
	struct ole_search *search = context;

	for (size_t i = 0; i < COUNT(names); i++)
		if (ole_named(entry, names[i].name))
			search->seen |= names[i].means;
	if (ole_named(entry, "WordDocument") && is_template(search->ole, entry))
		search->seen |= TEMPLATE;
	return true;
}

const char *ole_kind(struct ole *ole, const struct ole_entry *root)
{
	static const uint8_t installer[] = { 0x10, 0x0c, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0,
		0x46 };
	struct ole_search search = { .ole = ole };

	for (size_t i = 0; i < COUNT(installers); i++)
		if (root->class_id[0] == installers[i].first &&
			memcmp(root->class_id + 1, installer, sizeof(installer)) == 0)
			return installers[i].extension;
	ole_each_in_root(ole, root, visit_entry, &search);
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((search.seen & kinds[i].needs) == kinds[i].needs)
			return kinds[i].extension;
	return "ole";
}

const char *ole_guess_kind(struct ole *ole)
{
	static const struct {
		uint8_t start[4];
		const char *extension;
	} starts[] = {
		{ { 0xec, 0xa5, 0xc1, 0x00 }, "doc" },
		{ { 0x09, 0x08, 0x10, 0x00 }, "xls" },
		{ { 0x0f, 0x00, 0xe8, 0x03 }, "ppt" },
	};
	const uint8_t *p = view_peek(ole->view, ole_sector_at(ole, 0), 4);

	for (size_t i = 0; p && i < COUNT(starts); i++)
		if (memcmp(p, starts[i].start, 4) == 0)
			return starts[i].extension;
	return NULL;
}
