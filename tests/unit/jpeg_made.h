/*
 * Pictures by JPEG with random Huffman tables, since encoders use few of those that the format allows: codes of all lengths, long
 * runs, blocks without an end code, EOB runs, any restart interval.
 */
#ifndef BURIN_TEST_JPEG_MADE_H
#define BURIN_TEST_JPEG_MADE_H

#include "carver_case.h"
#include "jpeg/jpeg.h"

static uint64_t random_state;

static inline uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1du >> 32) * below >> 32);
}

struct table {
	uint8_t counts[17];
	uint8_t values[256];
	int value_count;
	uint16_t codes[256]; /* by value; */
	uint8_t lens[256];   /* 0: none */
};

struct maker {
	struct bytes jpeg;
	struct table tables[2][2]; /* DC, AC */
	bool progressive;
	int components;
	uint8_t h[3], v[3];
	uint32_t width, height, interval;
	uint32_t across[3], down[3], stride[3], mcus_across, mcus_down;
	uint64_t *history[3];
	uint64_t held;
	int count;
	/* The scan */
	int first, last, high, low;
	int32_t dc[3];
	uint32_t eob_run, eob_left;
};

/* A full tree of codes, or one with a leaf missing, for the values given in random order. */
static inline void make_table(struct table *table, const uint8_t *values, int count)
{
	int leaves[257], leaf_count = 1, index = 0;
	uint32_t code = 0;

	memset(table, 0, sizeof(*table));
	leaves[0] = 0;
	while (leaf_count < count + 1) {
		/* The deepest of several: long codes occur. */
		int i = (int)draw((uint32_t)leaf_count);

		if (draw(3) == 0)
			i = leaf_count - 1;
		if (leaves[i] >= 16)
			continue;
		leaves[leaf_count++] = ++leaves[i];
	}
	/* The last leaf stays free. */
	for (int i = 0; i < count; i++)
		table->counts[leaves[i]]++;
	memcpy(table->values, values, (size_t)count);
	for (int i = count - 1; i > 0; i--) {
		int j = (int)draw((uint32_t)i + 1);
		uint8_t value = table->values[i];

		table->values[i] = table->values[j];
		table->values[j] = value;
	}
	table->value_count = count;
	for (int bits = 1; bits <= 16; bits++, code <<= 1) {
		for (int i = 0; i < table->counts[bits]; i++, code++, index++) {
			table->codes[table->values[index]] = (uint16_t)code;
			table->lens[table->values[index]] = (uint8_t)bits;
		}
	}
}

/* Random values, those in `needed` among them. */
static inline void make_ac_table(struct maker *m, struct table *table, bool refined)
{
	uint8_t values[256];
	int count = 0, most = 2 + (int)draw(refined ? 20 : 120);
	bool used[256] = { 0 };

	values[count++] = 0;
	used[0] = true;
	while (count < most) {
		uint8_t run = (uint8_t)draw(draw(2) ? 16 : 3),
			size = (uint8_t)draw(draw(4) ? 4 : 16);
		uint8_t value;

		if (refined && size > 1)
			size = 1;
		if (!m->progressive && size == 0 && run && run < 15)
			size = 1;
		value = (uint8_t)(run << 4 | size);
		if (used[value] && refined && draw(30) == 0)
			break;
		if (used[value])
			continue;
		used[value] = true;
		values[count++] = value;
	}
	make_table(table, values, count);
}

static inline void make_dc_table(struct table *table)
{
	uint8_t values[16];

	for (uint8_t i = 0; i < 16; i++)
		values[i] = i;
	make_table(table, values, 1 + (int)draw(draw(4) ? 12 : 16));
}

static inline void add_segment(struct maker *m, uint8_t marker, const void *data, size_t len)
{
	bytes_add_be(&m->jpeg, 0xff00u | marker, 2);
	bytes_add_be(&m->jpeg, len + 2, 2);
	bytes_add(&m->jpeg, data, len);
}

static inline void add_table(struct maker *m, int ac, int index)
{
	const struct table *table = &m->tables[ac][index];
	uint8_t data[17 + 256];

	data[0] = (uint8_t)(ac << 4 | index);
	memcpy(data + 1, table->counts + 1, 16);
	memcpy(data + 17, table->values, (size_t)table->value_count);
	add_segment(m, JPEG_DHT, data, 17 + (size_t)table->value_count);
}

static inline void put(struct maker *m, uint32_t bits, int count)
{
	m->held = m->held << count | (bits & ((1u << count) - 1));
	m->count += count;
	for (; m->count >= 8; m->count -= 8) {
		uint8_t byte = (uint8_t)(m->held >> (m->count - 8));

		bytes_add(&m->jpeg, &byte, 1);
		if (byte == 0xff)
			bytes_fill(&m->jpeg, 0, 1);
	}
}

static inline void put_random(struct maker *m, int count)
{
	while (count--)
		put(m, draw(2), 1);
}

static inline void flush(struct maker *m)
{
	if (m->count)
		put(m, 0xff, 8 - m->count);
}

static inline void put_code(struct maker *m, const struct table *table, uint8_t value)
{
	put(m, table->codes[value], table->lens[value]);
}

static inline uint8_t draw_value(const struct table *table)
{
	int most = table->value_count, count = draw(2) && most > 8 ? 8 : most;

	return table->values[draw((uint32_t)count)];
}

/* The difference to a DC that is in range, of a size that the table has. */
static inline void put_dc(struct maker *m, int c)
{
	const struct table *table = &m->tables[0][c > 0];
	int bound = 2048 >> (m->progressive ? m->low : 0);

	for (;;) {
		uint8_t size = draw_value(table);
		int32_t value = (int32_t)draw(1u << size), diff;

		diff = !size || value >> (size - 1) ? value : value - (1 << size) + 1;
		if (m->dc[c] + diff > bound || m->dc[c] + diff < -bound) {
			/* A table without 0 may have no fitting value: then this one is wrong. */
			if (draw(16))
				continue;
		}
		m->dc[c] += diff;
		put_code(m, table, size);
		put(m, (uint32_t)value, size);
		return;
	}
}

static inline void put_sequential(struct maker *m, int c)
{
	const struct table *table = &m->tables[1][c > 0];
	uint32_t more = draw(8) ? draw(12) : 64;
	int k = 1;

	put_dc(m, c);
	while (k < 64) {
		uint8_t value = more-- ? draw_value(table) : 0;

		if (value && k + (value >> 4) > 63)
			value = 0;
		put_code(m, table, value);
		if (!value)
			return;
		put_random(m, value & 15);
		k += (value >> 4) + 1;
	}
}

/* Whether the block is in an EOB run. */
static inline void start_run(struct maker *m, const struct table *table, uint32_t *more)
{
	int n = 0;

	*more = 0;
	for (int i = 0; i < 4 && !n; i++) {
		n = (int)draw(6);
		if (!table->lens[n << 4])
			n = 0;
	}
	put_code(m, table, (uint8_t)(n << 4));
	m->eob_run = draw(1u << n);
	put(m, m->eob_run, n);
	m->eob_run += 1u << n;
}

static inline void put_first_ac(struct maker *m, int c, uint64_t *history)
{
	const struct table *table = &m->tables[1][c > 0];
	uint32_t more = draw(8) ? draw(8) : 64;

	for (int k = m->first; k <= m->last && !m->eob_run; k++) {
		uint8_t value = more-- ? draw_value(table) : 0;

		if ((!(value & 15) && value != 0xf0) || k + (value >> 4) > m->last) {
			start_run(m, table, &more);
			break;
		}
		put_code(m, table, value);
		put_random(m, value & 15);
		k += value >> 4;
		if (value & 15)
			*history |= 1ull << k;
	}
	if (m->eob_run)
		m->eob_run--;
}

static inline void put_refined_ac(struct maker *m, int c, uint64_t *history)
{
	const struct table *table = &m->tables[1][c > 0];
	uint32_t more = draw(8) ? draw(8) : 64;
	int k = m->first;

	while (k <= m->last && !m->eob_run) {
		uint8_t value = more-- ? draw_value(table) : 0;
		int zeros = value >> 4, at = k, corrections = 0;

		for (; at <= m->last; at++) {
			if (*history >> at & 1)
				corrections++;
			else if (zeros-- == 0)
				break;
		}
		if ((value & 15) == 0 && value != 0xf0) {
			start_run(m, table, &more);
			break;
		}
		if (at > m->last && value != 0xf0) {
			start_run(m, table, &more);
			break;
		}
		put_code(m, table, value);
		put_random(m, (value & 15) + corrections);
		if (at <= m->last && (value & 15))
			*history |= 1ull << at;
		k = at + 1;
	}
	if (!m->eob_run)
		return;
	for (; k <= m->last; k++)
		if (*history >> k & 1)
			put_random(m, 1);
	m->eob_run--;
}

static inline void put_block(struct maker *m, int c, uint32_t row, uint32_t column)
{
	uint64_t *history = m->history[c] + (uint64_t)row * m->stride[c] + column;

	if (!m->progressive)
		put_sequential(m, c);
	else if (m->first)
		(m->high ? put_refined_ac : put_first_ac)(m, c, history);
	else if (m->high)
		put_random(m, 1);
	else
		put_dc(m, c);
}

/* A scan of one component, or of all: -1. */
static inline void put_scan(struct maker *m, int only, int first, int last, int high, int low)
{
	int from = only < 0 ? 0 : only, to = only < 0 ? m->components : only + 1;
	bool single = to - from == 1;
	uint32_t across = single ? m->across[from] : m->mcus_across;
	uint32_t down = single ? m->down[from] : m->mcus_down, mcu = 0;
	uint8_t head[10] = { (uint8_t)(to - from) };

	for (int i = from; i < to; i++) {
		head[1 + 2 * (i - from)] = (uint8_t)(i + 1);
		head[2 + 2 * (i - from)] = i ? 0x11 : 0x00;
	}
	head[1 + 2 * (to - from)] = (uint8_t)first;
	head[2 + 2 * (to - from)] = (uint8_t)last;
	head[3 + 2 * (to - from)] = (uint8_t)(high << 4 | low);
	if (m->progressive && first) {
		make_ac_table(m, &m->tables[1][from > 0], high > 0);
		add_table(m, 1, from > 0);
	}
	add_segment(m, JPEG_SOS, head, 4 + 2 * (size_t)(to - from));
	m->first = first;
	m->last = last;
	m->high = high;
	m->low = low;
	m->eob_run = 0;
	memset(m->dc, 0, sizeof(m->dc));
	for (uint32_t row = 0; row < down; row++) {
		for (uint32_t column = 0; column < across; column++, mcu++) {
			if (m->interval && mcu && mcu % m->interval == 0) {
				flush(m);
				bytes_add_be(&m->jpeg, 0xffd0 + (mcu / m->interval - 1) % 8, 2);
				m->eob_run = 0;
				memset(m->dc, 0, sizeof(m->dc));
			}
			for (int i = from; i < to; i++) {
				uint32_t h = single ? 1 : m->h[i], v = single ? 1 : m->v[i];

				for (uint32_t b = 0; b < h * v; b++)
					put_block(m, i, row * v + b / h, column * h + b % h);
			}
		}
	}
	flush(m);
}

static inline void put_frame(struct maker *m)
{
	uint8_t quant[65] = { 0 }, frame[15] = { 8, (uint8_t)(m->height >> 8), (uint8_t)m->height,
		(uint8_t)(m->width >> 8), (uint8_t)m->width, (uint8_t)m->components };
	uint8_t interval[2] = { (uint8_t)(m->interval >> 8), (uint8_t)m->interval };
	uint32_t hmax = 1, vmax = 1;

	memset(quant + 1, 1, 64);
	bytes_add(&m->jpeg, "\xff\xd8", 2);
	add_segment(m, JPEG_DQT, quant, 65);
	for (int i = 0; i < m->components; i++) {
		hmax = m->h[i] > hmax ? m->h[i] : hmax;
		vmax = m->v[i] > vmax ? m->v[i] : vmax;
		frame[6 + 3 * i] = (uint8_t)(i + 1);
		frame[7 + 3 * i] = (uint8_t)(m->h[i] << 4 | m->v[i]);
	}
	add_segment(
		m, m->progressive ? JPEG_SOF2 : JPEG_SOF0, frame, 6 + 3 * (size_t)m->components);
	add_segment(m, JPEG_DRI, interval, 2);
	m->mcus_across = (m->width + 8 * hmax - 1) / (8 * hmax);
	m->mcus_down = (m->height + 8 * vmax - 1) / (8 * vmax);
	for (int i = 0; i < m->components; i++) {
		m->across[i] = ((m->width * m->h[i] + hmax - 1) / hmax + 7) / 8;
		m->down[i] = ((m->height * m->v[i] + vmax - 1) / vmax + 7) / 8;
		m->stride[i] = m->mcus_across * m->h[i];
		m->history[i] =
			calloc((size_t)m->stride[i] * m->mcus_down * m->v[i] + 1, sizeof(uint64_t));
	}
}

/* A random picture that is valid in nearly all cases. */
static inline struct bytes make_picture(void)
{
	struct maker m = { .progressive = draw(2), .components = draw(3) ? 3 : 1 };

	m.width = 1 + draw(draw(8) ? 200 : 900);
	m.height = 1 + draw(draw(8) ? 200 : 900);
	m.interval = draw(3) ? 0 : 1 + draw(draw(2) ? 4 : 100);
	for (int i = 0; i < m.components; i++)
		m.h[i] = m.v[i] = 1;
	if (m.components == 3) {
		m.h[0] = (uint8_t)(1 + draw(2));
		m.v[0] = (uint8_t)(1 + draw(2));
	}
	put_frame(&m);
	for (int i = 0; i < 2; i++) {
		make_dc_table(&m.tables[0][i]);
		make_ac_table(&m, &m.tables[1][i], false);
		add_table(&m, 0, i);
		add_table(&m, 1, i);
	}
	if (!m.progressive) {
		put_scan(&m, -1, 0, 63, 0, 0);
	} else {
		int low = (int)draw(3);

		put_scan(&m, -1, 0, 0, 0, low);
		for (int i = 0; i < m.components; i++) {
			int split = 1 + (int)draw(63);

			put_scan(&m, i, 1, split, 0, low);
			if (split < 63)
				put_scan(&m, i, split + 1, 63, 0, low);
		}
		while (low--) {
			put_scan(&m, -1, 0, 0, low + 1, low);
			for (int i = 0; i < m.components; i++)
				put_scan(&m, i, 1, 63, low + 1, low);
		}
	}
	bytes_add(&m.jpeg, "\xff\xd9", 2);
	for (int i = 0; i < m.components; i++)
		free(m.history[i]);
	return m.jpeg;
}

#endif
