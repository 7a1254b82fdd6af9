/*
 * Files of compress(1), .Z: LZW.
 *
 *	header: 1F 9D, flags: 80 (the table may be cleared), and the most bits of a code (9 to 16)
 *	codes:  of 9 bits and more, lowest bit first; one below 256 is a byte, 256 clears the table if the flag is set, each other
 *	        one is the string of the code before it and one byte more. Codes of one width come in groups of eight: what
 *	        is left of a group when the width changes is skipped
 *
 * There is neither a checksum nor an end. Two things show that others' bytes begin: a code that the table does not have
 * yet, and one whose first byte makes a string with the code before it that the table has, for the encoder takes the
 * longest. A tar inside shows the end by its blocks of zeros: if the codes end with its last record, the file is complete.
 * Text is followed up to where it turns into other bytes. Any other end is a guess.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "carver.h"
#include "cursor.h"
#include "plain_text.h"
#include "tar_header.h"
#include "walk.h"

#define HEAD_LEN 3
#define CODES 65536
#define CLEAR 256
#define SLOTS (2 * CODES) /* of the pairs that the table has */
#define CODES_MIN 16
#define TEXT_SURE 128

enum content { CONTENT_ANY, CONTENT_TEXT, CONTENT_TAR };

struct z {
	struct cursor cursor;
	bool clears;
	unsigned width, width_max;
	uint32_t next;        /* the next code that the table will define */
	uint32_t last;        /* the code before; CODES: none */
	uint64_t group_at;    /* where the group of eight codes starts */
	unsigned group_codes; /* of it that were read */
	uint32_t bits, bit_count;
	uint64_t codes, made; /* made: bytes */
	enum content content;
	uint8_t block[TAR_BLOCK];
	uint64_t skip;        /* bytes of a member that are not looked at */
	unsigned zero_blocks; /* of a tar's end */
	bool content_ended;   /* a byte came that cannot be the content's */
	uint16_t *prefix;
	uint8_t *suffix, *string; /* string: what a code stands for, backwards */
	uint32_t *pairs;          /* code and byte that the table has, plus 1; 0: free */
};

static uint32_t *find_pair(struct z *z, uint32_t code, uint8_t byte)
{
	uint32_t pair = (code << 8 | byte) + 1, slot = pair * 0x9e3779b1u >> 15;

	while (z->pairs[slot] && z->pairs[slot] != pair)
		slot = (slot + 1) % SLOTS;
	return &z->pairs[slot];
}

static void clear_table(struct z *z)
{
	memset(z->pairs, 0, SLOTS * sizeof(*z->pairs));
	z->next = z->clears ? CLEAR + 1 : CLEAR;
	z->width = 9;
	z->last = CODES;
}

/* Skips the rest of the group. */
static void end_group(struct z *z)
{
	if (z->group_codes)
		z->cursor.at = z->group_at + z->width;
	z->group_at = z->cursor.at;
	z->group_codes = 0;
	z->bits = z->bit_count = 0;
}

/* Reads the next code; false: the view ends. */
static bool next_code(struct z *z, uint32_t *code)
{
	if (z->next >= 1u << z->width && z->width < z->width_max) {
		end_group(z);
		z->width++;
	}
	while (z->bit_count < z->width) {
		int byte = cursor_next(&z->cursor);

		if (byte < 0)
			return false;
		z->bits |= (uint32_t)byte << z->bit_count;
		z->bit_count += 8;
	}
	*code = z->bits & ((1u << z->width) - 1);
	z->bits >>= z->width;
	z->bit_count -= z->width;
	if (++z->group_codes == 8)
		end_group(z);
	return true;
}

/* Writes the code's string backwards to z->string: its length. */
static uint32_t spell(struct z *z, uint32_t code)
{
	uint32_t len = 0;

	while (code > CLEAR || (code == CLEAR && !z->clears)) {
		z->string[len++] = z->suffix[code];
		code = z->prefix[code];
	}
	z->string[len++] = (uint8_t)code;
	return len;
}

/* The tar's next block. */
static bool take_block(struct z *z)
{
	uint64_t len = 0;
	bool zeros = !z->block[0] && memcmp(z->block, z->block + 1, TAR_BLOCK - 1) == 0;

	if (zeros || z->zero_blocks) {
		z->zero_blocks += zeros;
		return zeros;
	}
	if (!tar_header(z->block))
		return false;
	for (int i = 124; i < 136 && z->block[i] >= '0' && z->block[i] <= '7'; i++)
		len = len * 8 + (uint64_t)(z->block[i] - '0');
	/* Links, devices and folders have no content. */
	if (z->block[156] >= '1' && z->block[156] <= '6')
		len = 0;
	z->skip = tar_whole_blocks(len);
	return true;
}

/* Whether the byte occurs in text of any encoding that has ASCII: form feeds divide its pages. */
static bool is_text_byte(uint8_t byte)
{
	return plain_text_byte(byte) || byte >= 0x80 || byte == '\f';
}

/* Takes the next byte of the content. */
static void take_byte(struct z *z, uint8_t byte)
{
	uint64_t in_block = z->made % TAR_BLOCK;

	z->made++;
	if (z->made <= TAR_BLOCK && z->content == CONTENT_TEXT && !is_text_byte(byte))
		z->content = z->made > TEXT_SURE ? CONTENT_TEXT : CONTENT_ANY;
	if (z->content == CONTENT_TEXT)
		z->content_ended |= !is_text_byte(byte);
	if (z->skip) {
		z->skip--;
		return;
	}
	if (z->made > TAR_BLOCK && z->content != CONTENT_TAR)
		return;
	z->block[in_block] = byte;
	if (in_block + 1 < TAR_BLOCK)
		return;
	if (z->made == TAR_BLOCK && tar_header(z->block))
		z->content = CONTENT_TAR;
	if (z->content == CONTENT_TAR)
		z->content_ended |= !take_block(z);
}

/* Decodes a code. False: an encoder does not write it here. */
static bool take_code(struct z *z, uint32_t code)
{
	bool own =
		code ==
		z->next; /* the code that it defines: the string before, and its first byte again */
	uint32_t len, *pair;
	uint8_t first;

	if (code == CLEAR && z->clears) {
		if (z->last == CODES)
			return false;
		end_group(z);
		clear_table(z);
		return true;
	}
	if (code > z->next || (own && (z->last == CODES || z->next >= 1u << z->width_max)) ||
		(z->last == CODES && code > 255))
		return false;
	len = spell(z, own ? z->last : code);
	first = z->string[len - 1];
	if (!view_work(z->cursor.view, len))
		return false;
	if (z->last != CODES) {
		pair = find_pair(z, z->last, first);
		if (*pair)
			return false;
		if (z->next < 1u << z->width_max) {
			*pair = (z->last << 8 | first) + 1;
			z->prefix[z->next] = (uint16_t)z->last;
			z->suffix[z->next++] = first;
		}
	}
	z->last = code;
	for (uint32_t i = len; i-- && !z->content_ended;)
		take_byte(z, z->string[i]);
	if (own && !z->content_ended)
		take_byte(z, first);
	return !z->content_ended;
}

/* Whether a tar ends after the last code. */
static bool tar_ended(const struct z *z)
{
	return z->content == CONTENT_TAR && z->zero_blocks >= 2 && z->made % TAR_BLOCK == 0;
}

static enum verdict decode(struct z *z, struct finding *finding)
{
	uint64_t valid_end = HEAD_LEN, tar_end = 0, size = view_size(z->cursor.view);
	uint32_t code;
	bool cut;

	for (;;) {
		cut = !next_code(z, &code);
		if (cut || !take_code(z, code))
			break;
		z->codes++;
		valid_end = z->cursor.at - z->bit_count / 8;
		if (tar_ended(z))
			tar_end = valid_end;
		if (tar_end && z->made % TAR_RECORD == 0)
			break;
	}
	if (z->codes < CODES_MIN)
		return verdict_because(CARVE_REJECT, finding, "no code at %" PRIu64, valid_end);
	finding->extension = z->content == CONTENT_TAR ? "tar.Z" : NULL;
	finding->length = tar_end ? tar_end : valid_end;
	if (tar_end && z->made % TAR_RECORD == 0)
		return CARVE_COMPLETE;
	if (tar_end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no whole record at the tar's end at %" PRIu64, tar_end);
	if (z->content == CONTENT_TAR && cut)
		return walk_cut(z->cursor.view, finding, size + 1, size);
	if (z->content == CONTENT_TAR)
		return verdict_because(
			CARVE_TRUNCATED, finding, "the tar breaks off at %" PRIu64, valid_end);
	if (cut)
		finding->length = size;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies that the end is at %" PRIu64, finding->length);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct z z = { .cursor = { .view = view, .at = HEAD_LEN },
		.group_at = HEAD_LEN,
		.content = CONTENT_TEXT };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + 4);
	enum verdict verdict = CARVE_REJECT;

	if (!p || p[0] != 0x1f || p[1] != 0x9d || (p[2] & 0x60) || (p[2] & 31) < 9 ||
		(p[2] & 31) > 16 || (p[4] & 1) || ((p[4] >> 1 | (p[5] & 3) << 7) > 257))
		return verdict_because(CARVE_REJECT, finding, "no header and codes at 0");
	z.clears = p[2] & 0x80;
	z.width_max = p[2] & 31;
	z.prefix = malloc(CODES * sizeof(*z.prefix));
	z.suffix = malloc(CODES);
	z.string = malloc(CODES + 1);
	z.pairs = malloc(SLOTS * sizeof(*z.pairs));
	if (!z.prefix || !z.suffix || !z.string || !z.pairs) {
		view_no_memory(view);
	} else {
		clear_table(&z);
		verdict = decode(&z, finding);
	}
	free(z.prefix);
	free(z.suffix);
	free(z.string);
	free(z.pairs);
	return verdict;
}

const struct carver compress_z_carver = {
	.name = "compress_z",
	.summary = "files of compress(1), by their codes, and the tar or text in them",
	.check = check,
};
