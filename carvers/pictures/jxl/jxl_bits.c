/*
 * Numbers of JPEG XL's headers (ISO/IEC 18181-1, Annex B): U32() in four ways, selected by two
 * bits, U64() in groups of bits, Enum(), F16(). Bits are read from the lowest of each byte up.
 *
 * The reader reads ahead at most as far as it has come, so that rejecting a false header costs few
 * bytes. It has no error results: after a value that is not allowed, or the end of the bytes, it
 * returns zeros, and callers check jxl_bits_ok where it matters.
 */
#include "jxl_bits.h"

#include <string.h>

#include "walk.h"

#define FIRST_LEN 64
/* Units of work (view_work) for a byte, besides the one that its peek counts. */
#define BYTE_WORK 3

void jxl_bits_begin(struct jxl_bits *bits, struct view *view, uint64_t at, uint64_t limit)
{
	bits->view = view;
	bits->start = bits->at = at;
	bits->limit = limit;
	bits->held = (struct lsb_bits){ 0 };
	bits->next = bits->len = 0;
	bits->cut = bits->wrong = false;
	bits->proof = 0;
	bits->numbers = 0;
}

bool jxl_bits_ok(const struct jxl_bits *bits)
{
	return !bits->cut && !bits->wrong;
}

static bool load_bytes(struct jxl_bits *bits)
{
	uint64_t room = bits->limit > bits->at ? bits->limit - bits->at : 0;
	uint64_t want = bits->at - bits->start;
	const uint8_t *p;
	size_t len;

	want = want < FIRST_LEN ? FIRST_LEN : want;
	want = want < JXL_BUFFER_LEN ? want : JXL_BUFFER_LEN;
	p = walk_window(bits->view, bits->at, bits->at + (room < want ? room : want), &len);
	if (!p || !view_work(bits->view, len * BYTE_WORK))
		return false;
	memcpy(bits->buffer, p, len);
	bits->next = 0;
	bits->len = len;
	bits->at += len;
	return true;
}

void jxl_bits_fill(struct jxl_bits *bits, unsigned n)
{
	while (bits->held.count < n && jxl_bits_ok(bits) &&
		(bits->next < bits->len || load_bytes(bits)))
		lsb_push(&bits->held, bits->buffer[bits->next++]);
}

uint32_t jxl_bits_read(struct jxl_bits *bits, unsigned n)
{
	uint32_t value;

	if (bits->held.count < n)
		jxl_bits_fill(bits, n);
	if (bits->held.count < n) {
		bits->cut = bits->cut || !bits->wrong;
		bits->held = (struct lsb_bits){ 0 };
		return 0;
	}
	value = lsb_peek(&bits->held, n);
	lsb_skip(&bits->held, n);
	return value;
}

bool jxl_bits_bool(struct jxl_bits *bits)
{
	return jxl_bits_read(bits, 1);
}

uint32_t jxl_bits_u32(struct jxl_bits *bits, const struct jxl_choice choices[4])
{
	const struct jxl_choice *choice = &choices[jxl_bits_read(bits, 2)];

	return jxl_bits_read(bits, choice->bits) + choice->offset;
}

uint64_t jxl_bits_u64(struct jxl_bits *bits)
{
	unsigned kind = jxl_bits_read(bits, 2);
	uint64_t value;

	if (kind < 2)
		return kind ? 1 + jxl_bits_read(bits, 4) : 0;
	if (kind == 2)
		return 17 + jxl_bits_read(bits, 8);
	value = jxl_bits_read(bits, 12);
	for (unsigned shift = 12; jxl_bits_bool(bits); shift += 8) {
		if (shift == 60)
			return value | (uint64_t)jxl_bits_read(bits, 4) << shift;
		value |= (uint64_t)jxl_bits_read(bits, 8) << shift;
	}
	return value;
}

uint32_t jxl_bits_enum(struct jxl_bits *bits, uint64_t allowed)
{
	static const struct jxl_choice choices[4] = { { 0, 0 }, { 0, 1 }, { 4, 2 }, { 6, 18 } };
	uint32_t value = jxl_bits_u32(bits, choices);

	jxl_bits_expect(bits, value < 64 && (allowed >> value & 1));
	return value;
}

void jxl_bits_f16(struct jxl_bits *bits, unsigned count)
{
	while (count-- > 0 && jxl_bits_ok(bits))
		jxl_bits_expect(bits, (jxl_bits_read(bits, 16) >> 10 & 31) != 31);
}

void jxl_bits_name(struct jxl_bits *bits)
{
	static const struct jxl_choice choices[4] = { { 0, 0 }, { 4, 0 }, { 5, 16 }, { 10, 48 } };
	uint32_t len = jxl_bits_u32(bits, choices);

	while (len-- > 0 && jxl_bits_ok(bits))
		jxl_bits_read(bits, 8);
}

void jxl_bits_extensions(struct jxl_bits *bits)
{
	jxl_bits_expect(bits, jxl_bits_u64(bits) == 0);
}

void jxl_bits_align(struct jxl_bits *bits)
{
	unsigned n = bits->held.count % 8;

	jxl_bits_expect(bits, jxl_bits_read(bits, n) == 0);
	bits->proof += n;
}

uint64_t jxl_bits_at(const struct jxl_bits *bits)
{
	return bits->at - (bits->len - bits->next) - (bits->held.count + 7) / 8;
}
