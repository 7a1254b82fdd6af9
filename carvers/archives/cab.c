/*
 * Cabinets ([MS-CAB]).
 *
 *	file:   header, folders, files, data blocks, [a signature, whose offset the header's reserve
 *		gives]
 *	header: 'MSCF', length of the whole at 8, offset of the files at 16, version 1.3 at 24,
 *		numbers of folders and files, flags, [lengths of reserves], [names of the previous
 *		and next cabinets]
 *	folder: offset of its first data block, number of blocks, compression
 *	data:   checksum, length, decompressed length, [reserve], contents
 *
 * All folders' blocks are walked, and each checksum that is not 0 is compared; a cabinet with one
 * that is 0 stays unverified. The blocks must end where the file ends according to the header. Each
 * cabinet of a set is a file of its own. A signature's elements (X.690, 8.1) must end where it does;
 * their content is named as unverified.
 *
 * Damage. The file is valid up to the first invalid block.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "plain_text.h"
#include "walk.h"

#define SUM_BITS 32 /* see view_proved */

enum {
	HEADER_LEN = 36,
	FOLDER_LEN = 8,
	FILE_LEN = 16,
	DATA_LEN = 8,
	NAME_MAX_LEN = 256,
	HAS_PREVIOUS = 1,
	HAS_NEXT = 2,
	HAS_RESERVE = 4,
	BLOCK_MAX_LEN = 32768,
	GAP_MAX_LEN = 4096,
	SIGNATURE_DEPTH = 32,
	SIGNATURE_PADDING = 8,
	TAIL_LEN = 96,
	/* Compression may make a block longer. */
	COMPRESSED_MAX_LEN = BLOCK_MAX_LEN + 6144,
};

struct cab {
	struct view *view;
	struct finding *finding;
	uint64_t len, files_at, folders_at;
	uint64_t end; /* after the files, then after each data block */
	uint16_t folder_count, file_count;
	uint8_t folder_reserve, data_reserve;
	uint64_t signature_at, signature_end;
	bool unproven; /* some blocks have no checksum */
};

/* Moves *at past the text there and its zero. */
static bool skip_text(struct view *view, uint64_t *at)
{
	size_t len;

	if (!walk_ended_text(view, *at, NAME_MAX_LEN, &len))
		return false;
	*at += len + 1;
	return true;
}

/* The reserve of a signed cabinet gives the offset of the signature, mostly directly after the
 * cabinet. */
static void read_signature(struct cab *cab, uint64_t at, uint16_t len)
{
	const uint8_t *p = len == 20 ? view_peek(cab->view, at, 20) : NULL;
	uint64_t start = p ? le32(p + 4) : 0, signature_len = p ? le32(p + 8) : 0;

	if (!p || le32(p) != 0x100000 || start < cab->len || start > cab->len + 16)
		return;
	p = view_peek(cab->view, start, 2);
	if (p && p[0] == 0x30 && p[1] >= 0x80) {
		cab->signature_at = start;
		cab->signature_end = start + signature_len;
	}
}

/* Whether the last bytes of the last element, if it is long, look like random ones, as a signature
 * does: neither text nor one byte repeated. */
static bool is_tail_random(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at < TAIL_LEN ? NULL : view_peek(view, end - TAIL_LEN, TAIL_LEN);
	size_t text = 0;

	if (end - at < TAIL_LEN)
		return true;
	while (p && text < TAIL_LEN && plain_text_byte(p[text]))
		text++;
	return p && text < TAIL_LEN && memcmp(p, p + 1, TAIL_LEN - 1) != 0;
}

/* Whether the signature is a tree of elements that all end where the one that contains them does. */
static bool is_signature_whole(const struct cab *cab)
{
	uint64_t at = cab->signature_at, ends[SIGNATURE_DEPTH];
	unsigned depth = 0;

	do {
		const uint8_t *p = view_peek(cab->view, at, 2);
		uint64_t len = p ? p[1] : 0;
		unsigned len_len = len >= 0x80 ? (unsigned)len & 0x7f : 0;
		bool constructed = p && p[0] & 0x20;

		if (!p || len == 0x80 || len_len > 4)
			return false;
		p = len_len ? view_peek(cab->view, at + 2, len_len) : NULL;
		for (unsigned i = 0; i < len_len; i++)
			len = (i ? len << 8 : 0) | (p ? p[i] : 0);
		at += 2 + len_len;
		if ((len_len && !p) || at > cab->signature_end || len > cab->signature_end - at ||
			(depth && len > ends[depth - 1] - at))
			return false;
		if (constructed && len) {
			if (depth == SIGNATURE_DEPTH)
				return false;
			ends[depth++] = at + len;
			continue;
		}
		if (cab->signature_end - at - len < SIGNATURE_PADDING &&
			!is_tail_random(cab->view, at, at + len))
			return false;
		view_unverified(cab->view, at, at + len);
		at += len;
		while (depth && at == ends[depth - 1])
			depth--;
	} while (depth);
	/* What follows is padding. */
	return cab->signature_end - at < SIGNATURE_PADDING &&
	       walk_zeros(cab->view, at, cab->signature_end);
}

/* What is wrong with the header, or NULL. */
static const char *read_header(struct cab *cab)
{
	const uint8_t *p = view_peek(cab->view, 0, HEADER_LEN);
	uint64_t at = HEADER_LEN;
	uint16_t flags, reserve;

	if (!p || memcmp(p, "MSCF\0\0\0", 8) != 0 || p[25] != 1)
		return "no header";
	cab->len = le32(p + 8);
	cab->files_at = le32(p + 16);
	cab->folder_count = le16(p + 26);
	cab->file_count = le16(p + 28);
	flags = le16(p + 30);
	if (flags > 7 || !cab->folder_count || cab->files_at < HEADER_LEN + FOLDER_LEN ||
		cab->files_at > cab->len)
		return "impossible fields";
	if (flags & HAS_RESERVE) {
		p = view_peek(cab->view, at, 4);
		if (!p)
			return "no room for the reserve";
		reserve = le16(p);
		cab->folder_reserve = p[2];
		cab->data_reserve = p[3];
		read_signature(cab, at + 4, reserve);
		at += 4 + reserve;
	}
	for (int texts = (flags & HAS_PREVIOUS ? 2 : 0) + (flags & HAS_NEXT ? 2 : 0); texts;
		texts--)
		if (!skip_text(cab->view, &at))
			return "no names of other cabinets";
	cab->folders_at = at;
	return at + (uint64_t)cab->folder_count * (FOLDER_LEN + cab->folder_reserve) > cab->files_at
		       ? "no room for the folders"
		       : NULL;
}

/* Checks the files: what is wrong, or NULL. Sets the extension and the time. */
static const char *read_files(struct cab *cab)
{
	uint64_t at = cab->files_at;

	for (uint32_t i = 0; i < cab->file_count; i++) {
		const uint8_t *p = view_peek(cab->view, at, FILE_LEN);
		uint64_t name = at + FILE_LEN;
		int64_t time;

		if (!p)
			return "no room for the files";
		if (le16(p + 8) >= cab->folder_count && le16(p + 8) < 0xfffd)
			return "a file in no folder";
		time = dos_seconds((uint32_t)le16(p + 10) << 16 | le16(p + 12));
		if (time > cab->finding->time)
			cab->finding->time = time;
		at = name;
		if (!skip_text(cab->view, &at))
			return "a file without a name";
		p = view_peek(cab->view, name, at - name);
		if (p && memmem(p, at - name, ".onetoc2", 9))
			cab->finding->extension = "onepkg";
	}
	cab->end = at;
	return NULL;
}

/* The checksum of [MS-CAB] 3.1, over len bytes, continuing from sum: words xored, the odd bytes at
 * the end in the other byte order. */
static uint32_t checksum(const uint8_t *p, size_t len, uint32_t sum)
{
	uint32_t rest = 0;

	for (; len >= 4; p += 4, len -= 4)
		sum ^= le32(p);
	for (; len; p++, len--)
		rest = rest << 8 | *p;
	return sum ^ rest;
}

/* The length of the data block at `at`; 0 when it is invalid or not all there. */
static uint64_t read_block(struct cab *cab, uint64_t at)
{
	const uint8_t *p = view_peek(cab->view, at, DATA_LEN);
	uint32_t want = p ? le32(p) : 0, sum;
	uint16_t len = p ? le16(p + 4) : 0, plain_len = p ? le16(p + 6) : 0;
	size_t head = DATA_LEN + cab->data_reserve;

	if (!p || len > COMPRESSED_MAX_LEN || plain_len > BLOCK_MAX_LEN)
		return 0;
	p = view_peek(cab->view, at, head + len);
	if (!p)
		return 0;
	cab->unproven |= !want && len;
	if (want) {
		sum = checksum(p + head, len, 0);
		if (checksum(p + 4, head - 4, sum) != want)
			return 0;
		/* Clusters in another order have the same sum: it proves one joint. */
		view_linked(cab->view, at, at + head + len, SUM_BITS);
	}
	return head + len;
}

/* Walks the blocks of all folders. Returns the offset of an invalid one, or 0. */
static uint64_t walk_blocks(struct cab *cab)
{
	for (uint32_t i = 0; i < cab->folder_count; i++) {
		const uint8_t *p = view_peek(cab->view,
			cab->folders_at + (uint64_t)i * (FOLDER_LEN + cab->folder_reserve),
			FOLDER_LEN);
		uint64_t at = p ? le32(p) : 0, len;

		if (!p || at < cab->files_at)
			return cab->files_at;
		if (!le16(p + 4))
			continue;
		for (uint32_t blocks = le16(p + 4); blocks; blocks--, at += len) {
			len = read_block(cab, at);
			if (!len)
				return at;
			/* Folders that share blocks could be walked for ever. */
			if (at < cab->end)
				return cab->end;
		}
		cab->end = at;
	}
	return 0;
}

static enum verdict judge_damage(struct cab *cab, uint64_t at)
{
	struct view *view = cab->view;
	uint64_t size = view_size(view), valid_end = at < size ? at : size;

	if (valid_end < cab->files_at)
		valid_end = cab->files_at < size ? cab->files_at : size;
	if (cab->len > size)
		return walk_cut_filled(view, cab->finding, cab->len, valid_end);
	cab->finding->length = valid_end;
	return verdict_because(
		CARVE_TRUNCATED, cab->finding, "no data block with its checksum at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct cab cab = { .view = view, .finding = finding };
	const char *problem = read_header(&cab);
	uint64_t broken;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	finding->extension = "cab";
	problem = read_files(&cab);
	if (problem && view_size(view) > cab.len)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, problem, cab.files_at);
	broken = problem ? cab.files_at : walk_blocks(&cab);
	if (broken || cab.end > view_size(view))
		return walk_past_unread(
			view, finding, judge_damage(&cab, broken ? broken : cab.end), cab.len);
	finding->length = cab.len;
	if (cab.end > cab.len || cab.len - cab.end > GAP_MAX_LEN) {
		finding->length = cab.end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the data ends at %" PRIu64 ", but at %" PRIu64 " according to the header",
			cab.end, cab.len);
	}
	if (cab.signature_end > cab.len) {
		finding->length = cab.signature_end;
		view_holds(view, cab.signature_at, cab.signature_end);
	}
	if (finding->length > view_size(view))
		return walk_cut(view, finding, finding->length, view_size(view));
	if (cab.signature_end > cab.len && !is_signature_whole(&cab))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the signature at %" PRIu64 " is not valid up to its end",
			cab.signature_at);
	view_unverified(view, cab.end, cab.len);
	if (cab.unproven)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "has data blocks without a checksum");
	return CARVE_COMPLETE;
}

const struct carver cab_carver = {
	.name = "cab",
	.summary = "Microsoft's cabinets, by the checksums of their data blocks",
	.check = check,
};
