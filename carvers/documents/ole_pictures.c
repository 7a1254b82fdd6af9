/*
 * What has a checksum in it, where proof is asked for: pictures in drawings, and the compressed text of messages. The record
 * before a picture ([MS-ODRAW] 2.2.23) identifies it, and Microsoft's programs take the MD4 of its bytes for that: it proves that
 * none of them is another file's. Others take any number, so a wrong one shows nothing. A PNG has CRCs of its own, and a
 * metafile is a stream of zlib, with a checksum. Those of workbooks: ole_book_pictures.c.
 */
#include "ole.h"

#include <string.h>

#include <zlib.h>

#include "bytes.h"
#include "inflated.h"
#include "md5.h"
#include "png_chunks.h"

#define PACKED_HEAD 16
#define METAFILE_UNPACKED_MAX ((uint64_t)64 << 20)

/* Where bytes of a stream are in the file. */
struct part {
	uint64_t at;
	const uint8_t *bytes;
	size_t len;
};

/* Calls visit for the bytes [from, to) of a stream, sector by sector, until it returns false. from: see ole_read. False: they
 * are not all there, or it returned false. */
static bool each_part(struct ole *ole, struct ole_position *position, uint64_t from, uint64_t to,
	bool (*visit)(void *context, const struct part *part), void *context)
{
	bool small = position->entry->len < ole->cutoff;
	size_t sector_len = (size_t)1 << (small ? OLE_MINI_SHIFT : ole->shift);

	while (from < to) {
		struct part part = { .len = sector_len - (size_t)(from % sector_len) };

		if (part.len > to - from)
			part.len = (size_t)(to - from);
		part.at = ole_file_offset(ole, position, from);
		part.bytes = part.at ? view_peek(ole->view, part.at, part.len) : NULL;
		if (!part.bytes || !view_work(ole->view, part.len / 2) || !visit(context, &part))
			return false;
		from += part.len;
	}
	return true;
}

/* ---- what a check covers -------------------------------------------------------------------- */

/* Sectors in a row are declared together: a joint is between two of them. */
struct proof {
	struct ole *ole;
	uint64_t from, to;
	unsigned bits;
};

static void declare(struct proof *proof)
{
	if (proof->to > proof->from && proof->ole->pages)
		ole_prove_pages(proof->ole->pages, proof->from, proof->to, proof->bits);
	else if (proof->to > proof->from && !proof->ole->only_looks)
		view_proved(proof->ole->view, proof->from, proof->to, proof->bits);
}

static bool add_to_proof(void *context, const struct part *part)
{
	struct proof *proof = context;

	if (part->at != proof->to) {
		declare(proof);
		proof->from = part->at;
	}
	proof->to = part->at + part->len;
	return true;
}

/* A check over the bytes [from, to) of the stream agreed. */
void ole_prove(
	struct ole *ole, struct ole_position position, uint64_t from, uint64_t to, unsigned bits)
{
	struct proof proof = { .ole = ole, .bits = bits };

	each_part(ole, &position, from, to, add_to_proof, &proof);
	declare(&proof);
}

/* ---- checks --------------------------------------------------------------------------------- */

static bool add_to_digest(void *context, const struct part *part)
{
	md5_add(context, part->bytes, part->len);
	return true;
}

static bool add_to_crc(void *context, const struct part *part)
{
	uint32_t *crc = context;

	*crc = (uint32_t)crc32(*crc, part->bytes, (uInt)part->len);
	return true;
}

static bool check_digest(
	struct ole *ole, struct ole_position position, const struct ole_picture *picture)
{
	uint8_t digest[MD5_LEN];
	struct md5 md4;

	md4_start(&md4);
	if (!each_part(ole, &position, picture->from, picture->to, add_to_digest, &md4))
		return false;
	md5_end(&md4, digest);
	return memcmp(digest, picture->id, sizeof(digest)) == 0;
}

static uint64_t place_of(struct ole *ole, struct ole_position position, uint64_t offset)
{
	return ole_file_offset(ole, &position, offset);
}

/* A PNG while its chunks are read. */
struct png {
	struct ole *ole;
	struct ole_position position; /* not after the chunk */
	struct png_chunks chunks;
};

static bool add_to_png(void *context, const struct part *part)
{
	struct png *png = context;
	struct ole *ole = png->ole;
	const uint8_t *bytes = part->bytes;
	size_t used;

	for (size_t len = part->len; len; bytes += used, len -= used) {
		enum png_step step = png_chunks_feed(&png->chunks, bytes, len, &used);
		uint64_t at = png->chunks.chunk_at;

		if (step == PNG_MORE)
			break;
		if (step != PNG_CHUNK) {
			ole_contradicts(ole,
				step == PNG_BAD_CRC ? "wrong CRC of a picture's chunk"
						    : "no chunk of a picture",
				place_of(ole, png->position, at));
			return false;
		}
		ole_prove(ole, png->position, at, png->chunks.at, OLE_CHECK_BITS);
		ole_file_offset(ole, &png->position, at);
		bytes = view_peek(ole->view, part->at, part->len);
		if (!bytes)
			return false;
		bytes += part->len - len;
	}
	return true;
}

static void check_png(
	struct ole *ole, struct ole_position position, const struct ole_picture *picture)
{
	uint64_t from = picture->from + PNG_SIGNATURE_LEN;
	struct png png = { ole, position, png_chunks_begin(from, picture->to) };

	if (from < picture->to)
		each_part(ole, &position, from, picture->to, add_to_png, &png);
}

/* A stream of zlib while it is inflated. */
struct packed {
	struct inflated inflated;
	enum inflated_state state;
	uint64_t len; /* that were inflated */
	uint64_t bad_at;
};

static bool inflate_part(void *context, const struct part *part)
{
	struct packed *packed = context;
	size_t used;

	packed->state = inflated_feed(&packed->inflated, part->bytes, part->len, &used);
	packed->len += used;
	if (packed->state == INFLATED_BAD)
		packed->bad_at = part->at + used;
	return packed->state == INFLATED_MORE &&
	       packed->inflated.output_len <= METAFILE_UNPACKED_MAX;
}

static void check_metafile(
	struct ole *ole, struct ole_position position, const struct ole_picture *picture)
{
	struct packed packed = { .state = INFLATED_MORE };
	struct ole_position walk = position;

	if (!inflated_open(&packed.inflated, ole->view, INFLATED_ZLIB))
		return;
	each_part(ole, &walk, picture->from, picture->to, inflate_part, &packed);
	inflated_close(&packed.inflated);
	/* What follows the stream in the record is not checked. */
	if (packed.state == INFLATED_DONE)
		ole_prove(ole, position, picture->from, picture->from + packed.len, OLE_CHECK_BITS);
	else if (packed.state == INFLATED_BAD)
		ole_contradicts(ole, "invalid data of a picture", packed.bad_at);
}

static void check_picture(void *context, struct ole *ole, const struct ole_position *before,
	const struct ole_picture *picture)
{
	uint8_t start[4];
	struct ole_position position = *before, look = *before;

	(void)context;
	if (ole_is_book(position.entry))
		return;
	if (picture->is_packed)
		check_metafile(ole, position, picture);
	else if (check_digest(ole, position, picture))
		ole_prove(ole, position, picture->from, picture->to, OLE_DIGEST_BITS);
	else if (ole_read(ole, &look, picture->from, start, sizeof(start)) &&
		 memcmp(start, "\x89PNG", sizeof(start)) == 0)
		check_png(ole, position, picture);
}

/* ---- a message's text ----------------------------------------------------------------------- */

/* The compressed text of a message ([MS-OXRTFCP] 2.1.3.1): the length of what follows, that of the text, a number, and a CRC-32 of
 * what is after it, from 0 on and without the inversions. */
static void check_packed_text(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry }, walk = position;
	uint8_t head[PACKED_HEAD];
	uint32_t crc = UINT32_MAX;

	if (!ole_read(ole, &walk, 0, head, sizeof(head)) || memcmp(head + 8, "LZFu", 4) != 0 ||
		le32(head) + (uint64_t)4 != entry->len)
		return;
	if (!each_part(ole, &walk, PACKED_HEAD, entry->len, add_to_crc, &crc))
		return;
	if ((crc ^ UINT32_MAX) == le32(head + 12))
		ole_prove(ole, position, 0, entry->len, OLE_CHECK_BITS);
	else
		ole_contradicts(ole, "wrong CRC of a message's text", place_of(ole, position, 0));
}

void ole_check_pictures(struct ole *ole)
{
	struct ole_entry entry;

	for (uint32_t i = 0; i < ole_entry_count(ole); i++)
		if (!ole_read_entry(ole, i, &entry) || entry.type != OLE_STREAM)
			continue;
		else if (ole_named(&entry, "__substg1.0_10090102"))
			check_packed_text(ole, &entry);
		else if (ole_is_book(&entry))
			ole_check_book_pictures(ole, &entry);
	ole_each_picture(ole, check_picture, NULL);
}
