/*
 * HTML help (Matthew T. Russotto, Microsoft's HTML Help (.chm) format).
 *
 *	header:    'ITSF', version, its length, ..., where sections 0 and 1 are, and the content
 *	section 0: the file's length
 *	section 1: the directory: 'ITSP', then chunks 'PMGL' (names, offsets in the content,
 *	           lengths) and 'PMGI' (an index of those)
 *	content:   what the directory lists; most of it compressed as one stream
 *
 * The directory's chunks are walked: each entry has to be within the file, and no chunk may be
 * missing. The compressed content has a block of control data 'LZXC' where the directory places it,
 * and a table of its blocks' offsets: each block at which the compression (LZX) restarts has to
 * begin with a possible block header. A chunk with impossible entries contradicts the rest, but
 * does not end the file, unless the number of entries at its end is impossible, too: its length is
 * a field of its own. Nothing else in the content can be checked without decompressing it: files
 * that end with it, and not with that table, are unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define MAX_CHUNK 65536
#define MIN_ENTRY 5 /* a name of one byte, and four numbers */
#define CONTROL "::DataSpace/Storage/MSCompressed/ControlData"
#define COMPRESSED "::DataSpace/Storage/MSCompressed/Content"
#define TABLE \
	"::DataSpace/Storage/MSCompressed/Transform/{7FC28940-9D31-11D0-9B27-00A0C91E9C7C}/" \
	"InstanceData/ResetTable"
#define SYSTEM "/#SYSTEM"
#define BLOCK_LEN 0x8000 /* of decompressed data */
#define TABLE_LEN 40     /* of the table's head */
#define UNCHECKED_MAX 32 /* bytes at the end that need no confirmation */
#define TITLE_CODE 3

struct chm {
	struct view *view;
	uint64_t len; /* according to section 0 */
	uint64_t directory, content;
	uint32_t chunk_len, chunk_count;
	uint64_t odd_at;                /* a chunk with impossible entries, or 0 */
	bool beyond;                    /* an entry is past the end of the file */
	uint64_t control_at, system_at; /* 0: missing */
	uint64_t compressed_at, compressed_len, table_at;
	uint64_t valid_end;
};

/* What is wrong with header and section 0, or NULL. */
static const char *read_header(struct chm *chm)
{
	const uint8_t *p = view_peek(chm->view, 0, 0x60);
	uint64_t section;
	uint32_t version, header_len;

	if (!p || memcmp(p, "ITSF", 4) != 0)
		return "no header at 0";
	version = le32(p + 4);
	header_len = le32(p + 8);
	if (!(version == 3 && header_len == 0x60) && !(version == 2 && header_len == 0x58))
		return "an unknown version at 4";
	section = le64(p + 0x38);
	chm->directory = le64(p + 0x48);
	chm->content = version == 3 ? le64(p + 0x58) : chm->directory + le64(p + 0x50);
	if (section > 4096 || chm->directory > UINT32_MAX || chm->content > UINT32_MAX)
		return "impossible section offsets at 56";
	p = view_peek(chm->view, section, 24);
	if (!p || (le32(p) != 0x1fe && le32(p) != 0x1ff))
		return "no section 0 at the offset in the header";
	chm->len = le64(p + 8);
	if (chm->len < 0x60 || chm->len < section + 24 || chm->len < chm->directory + 0x54)
		return "an impossible file length in section 0";
	p = view_peek(chm->view, chm->directory, 0x54);
	if (!p || memcmp(p, "ITSP", 4) != 0 || le32(p + 8) != 0x54)
		return "no directory at the offset in the header";
	chm->chunk_len = le32(p + 16);
	chm->chunk_count = le32(p + 44);
	if (chm->chunk_len < 32 || chm->chunk_len > MAX_CHUNK || !chm->chunk_count ||
		chm->len <= chm->content)
		return "an impossible chunk length or number in the directory";
	chm->valid_end = chm->directory + 0x54;
	return NULL;
}

/* Bytes inside the file; NULL if they are not all there. */
static const uint8_t *peek_file(struct chm *chm, uint64_t at, size_t len)
{
	if (at > chm->len || len > chm->len - at)
		return NULL;
	return view_peek(chm->view, at, len);
}

/* Reads a number in groups of seven bits; false if it does not end. */
static bool read_number(const uint8_t **p, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	for (int i = 0; i < 9 && *p < end; i++) {
		uint8_t byte = *(*p)++;

		*number = *number << 7 | (byte & 0x7f);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool is_named(const uint8_t *name, uint64_t len, const char *want)
{
	return len == strlen(want) && memcmp(name, want, len) == 0;
}

/* Reads the entries of a chunk PMGL at p. */
static bool read_entries(struct chm *chm, const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		uint64_t name_len, section, at, len;
		const uint8_t *name;

		if (!read_number(&p, end, &name_len) || name_len > (uint64_t)(end - p))
			return false;
		name = p;
		p += name_len;
		if (!read_number(&p, end, &section) || !read_number(&p, end, &at) ||
			!read_number(&p, end, &len))
			return false;
		/* Other sections have only offsets in decompressed data. */
		if (section != 0 || len == 0)
			continue;
		if (at > chm->len - chm->content || len > chm->len - chm->content - at) {
			chm->beyond = true;
			continue;
		}
		if (is_named(name, name_len, CONTROL))
			chm->control_at = chm->content + at;
		if (is_named(name, name_len, TABLE))
			chm->table_at = chm->content + at;
		if (is_named(name, name_len, COMPRESSED)) {
			chm->compressed_at = chm->content + at;
			chm->compressed_len = len;
		}
		if (is_named(name, name_len, SYSTEM))
			chm->system_at = chm->content + at;
	}
	return true;
}

/* Reads a chunk of the directory: what is wrong, "" if the view ends before it, or NULL. */
static const char *read_chunk(struct chm *chm, uint64_t at)
{
	const uint8_t *p = peek_file(chm, at, chm->chunk_len);
	uint32_t spare;

	if (!p)
		return at + chm->chunk_len > chm->len ? "a directory past the end" : "";
	spare = le32(p + 4);
	if (memcmp(p, "PMGI", 4) == 0)
		return NULL;
	if (memcmp(p, "PMGL", 4) != 0)
		return "no directory chunk";
	if (spare <= chm->chunk_len - 20 && read_entries(chm, p + 20, p + chm->chunk_len - spare))
		return NULL;
	if (le16(p + chm->chunk_len - 2) > chm->chunk_len / MIN_ENTRY)
		return "no directory chunk";
	chm->odd_at = chm->odd_at ? chm->odd_at : at;
	return NULL;
}

/* /#SYSTEM: a version, then codes with their length and data; 3 is the title. */
static void read_title(struct chm *chm, struct finding *finding)
{
	uint64_t at = chm->system_at + 4;

	for (int i = 0; chm->system_at && i < 32; i++) {
		const uint8_t *p = peek_file(chm, at, 4);
		uint16_t code, len;

		if (!p)
			return;
		code = le16(p);
		len = le16(p + 2);
		p = peek_file(chm, at + 4, len);
		if (code == TITLE_CODE) {
			if (p)
				finding_set_title_latin1(finding, p, len);
			return;
		}
		at += 4 + (uint64_t)len;
	}
}

/* Whether an LZX block can begin at `at`, at the start of a stream: 16-bit words, little-endian,
 * highest bit first. A flag, 32 bits if it is set, type (3 bits), length (24 bits). */
static bool is_possible_block(struct chm *chm, uint64_t at, uint64_t len_max)
{
	const uint8_t *p = peek_file(chm, at, 8);
	uint64_t bits, len;
	unsigned type, skip;

	if (!p)
		return false;
	bits = (uint64_t)le16(p) << 48 | (uint64_t)le16(p + 2) << 32 | (uint64_t)le16(p + 4) << 16 |
	       le16(p + 6);
	skip = bits >> 63 ? 33 : 1;
	type = bits >> (61 - skip) & 7;
	len = bits >> (37 - skip) & 0xffffff;
	return type >= 1 && type <= 3 && len > 0 && len <= len_max;
}

/* Checks the control data and the blocks at which the compression restarts. What is wrong, or NULL;
 * *at is where. */
static const char *check_compressed(struct chm *chm, uint64_t *at)
{
	const uint8_t *p = peek_file(chm, chm->control_at, 16);
	uint64_t interval;
	uint32_t count;

	*at = chm->control_at;
	if (!p || memcmp(p + 4, "LZXC", 4) != 0)
		return "no control data";
	interval = le32(p + 8) == 2 ? le32(p + 12) : le32(p + 12) / BLOCK_LEN;
	*at = chm->table_at;
	p = chm->table_at && interval ? peek_file(chm, chm->table_at, TABLE_LEN) : NULL;
	if (!p)
		return NULL;
	count = le32(p + 4);
	if (le32(p + 8) != 8 || le32(p + 12) != TABLE_LEN || le64(p + 24) != chm->compressed_len)
		return "no block table";
	for (uint64_t i = 0; i < count; i += interval) {
		p = peek_file(chm, chm->table_at + TABLE_LEN + 8 * i, 8);
		/* Some writers list the end, too. */
		if (p && i + 1 == count && le64(p) == chm->compressed_len)
			break;
		if (!p || le64(p) >= chm->compressed_len)
			return "no block table";
		*at = chm->compressed_at + le64(p);
		if (!is_possible_block(chm, *at, interval * BLOCK_LEN))
			return "no compressed block";
		if (*at > chm->valid_end)
			chm->valid_end = *at;
	}
	if (chm->table_at + TABLE_LEN + 8 * (uint64_t)count > chm->valid_end)
		chm->valid_end = chm->table_at + TABLE_LEN + 8 * (uint64_t)count;
	return NULL;
}

static enum verdict judge_end(struct chm *chm, struct finding *finding)
{
	uint64_t size = view_size(chm->view), at;
	const char *problem;

	if (chm->len > size)
		return walk_cut(chm->view, finding, chm->len,
			view_ends_with_image(chm->view) ? size : chm->valid_end);
	problem = chm->control_at && chm->compressed_at ? check_compressed(chm, &at) : NULL;
	finding->length = chm->valid_end;
	if (problem)
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, at);
	finding->length = chm->len;
	if (chm->odd_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"an impossible entry in the directory chunk at %" PRIu64, chm->odd_at);
	if (chm->beyond)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the directory lists data past the end at %" PRIu64, chm->len);
	if (chm->len > chm->valid_end + UNCHECKED_MAX)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the content from %" PRIu64 " on cannot be verified", chm->valid_end);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct chm chm = { .view = view };
	const char *problem = read_header(&chm);
	uint64_t at = chm.valid_end;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	for (uint32_t i = 0; i < chm.chunk_count && !problem; i++) {
		problem = read_chunk(&chm, at);
		if (problem)
			break;
		at += chm.chunk_len;
		chm.valid_end = at;
	}
	if (problem && *problem) {
		finding->length = chm.valid_end;
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, at);
	}
	if (problem)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : chm.valid_end);
	read_title(&chm, finding);
	return judge_end(&chm, finding);
}

const struct carver chm_carver = {
	.name = "chm",
	.summary = "HTML help, by its directory",
	.check = check,
};
