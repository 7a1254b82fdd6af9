/*
 * RIFF (Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0, 1991).
 *
 *	chunk: id (4 characters), data length (4 bytes, little-endian; big-endian in RIFX),
 *	       data, and a byte of padding after data of odd length
 *	file:  one chunk 'RIFF', whose data is a form (4 characters) and chunks
 *	list:  a chunk 'LIST', whose data is a type (4 characters) and chunks
 *
 * Many writers leave out the last chunk's padding. RF64 (EBU Tech 3306) and BW64 (ITU-R BS.2088)
 * have the lengths of file and audio data in a chunk 'ds64', and FFFFFFFF in the 32-bit fields.
 */
#include "riff.h"

#include <string.h>

#include "bytes.h"
#include "title.h"

static uint32_t number(const struct riff *riff, const uint8_t *p)
{
	return riff->big_endian ? be32(p) : le32(p);
}

bool riff_is(const char *id, const char *other)
{
	return memcmp(id, other, 4) == 0;
}

/* RF64: the first chunk has the lengths in 64 bits. */
static bool open_long(struct riff *riff, uint64_t at)
{
	const uint8_t *p = view_peek(riff->view, at, 36);

	if (!p || memcmp(p + 12, "ds64", 4) != 0 || le32(p + 16) < 24 || le64(p + 20) > INT64_MAX ||
		le64(p + 28) > INT64_MAX)
		return false;
	riff->end = at + 8 + le64(p + 20);
	riff->data_len = le64(p + 28);
	return riff->end >= riff->at;
}

bool riff_open(struct riff *riff, struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 12);

	*riff = (struct riff){ .view = view, .at = at + 12 };
	if (!p)
		return false;
	memcpy(riff->form, p + 8, 4);
	if (memcmp(p, "RF64", 4) == 0 || memcmp(p, "BW64", 4) == 0)
		return open_long(riff, at);
	if (memcmp(p, "RIF", 3) != 0 || (p[3] != 'F' && p[3] != 'X'))
		return false;
	riff->big_endian = p[3] == 'X';
	riff->end = at + 8 + number(riff, p + 4);
	return riff->end >= riff->at;
}

bool riff_enter(const struct riff *riff, const struct riff_chunk *chunk, uint32_t head_len,
	struct riff *inside)
{
	const uint8_t *p = view_peek(riff->view, chunk->data, head_len < 4 ? head_len : 4);

	if (!p || chunk->len < head_len)
		return false;
	*inside = *riff;
	inside->at = chunk->data + head_len;
	inside->end = chunk->end;
	memcpy(inside->form, p, head_len < 4 ? head_len : 4);
	return true;
}

static bool valid_id(const uint8_t *p)
{
	if (memcmp(p, "XMP", 4) == 0) /* in WebP by ImageMagick 6 */
		return true;
	for (int i = 0; i < 4; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return p[0] != ' ';
}

enum riff_step riff_next(struct riff *riff, struct riff_chunk *chunk)
{
	const uint8_t *p;

	if (riff->at >= riff->end)
		return RIFF_END;
	if (riff->end - riff->at < 8)
		return RIFF_BROKEN;
	p = view_peek(riff->view, riff->at, 8);
	if (!p)
		return RIFF_CUT;
	if (!valid_id(p))
		return RIFF_BROKEN;
	chunk->at = riff->at;
	chunk->data = riff->at + 8;
	chunk->len = number(riff, p + 4);
	memcpy(chunk->id, p, 4);
	chunk->id[4] = 0;
	chunk->end = chunk->data + chunk->len;
	if (riff->data_len && chunk->len == UINT32_MAX && riff_is(chunk->id, "data"))
		chunk->end = chunk->data + riff->data_len;
	if (chunk->end > riff->end)
		return RIFF_BROKEN;
	riff->at = chunk->end + ((chunk->end - chunk->data) & 1);
	if (riff->at > riff->end)
		riff->at = riff->end;
	return RIFF_CHUNK;
}

void riff_read_title(
	const struct riff *riff, const struct riff_chunk *chunk, struct finding *finding)
{
	size_t len = chunk->len < sizeof(finding->title) ? chunk->len : sizeof(finding->title);
	const uint8_t *p =
		riff_is(chunk->id, "INAM") ? view_peek(riff->view, chunk->data, len) : NULL;

	if (p)
		finding_set_title(finding, p, len);
}
