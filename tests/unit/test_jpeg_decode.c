/*
 * The carver's decoder of JPEG scans against the plain one of jpeg_reference.h: both have to say the
 * same about random pictures, valid and damaged. The pictures are made here, with random Huffman
 * tables, since encoders use few of those that the format allows: codes of all lengths, long runs,
 * blocks without an end code, EOB runs, any restart interval.
 */
#include "carvers/coded.h"
#include "jpeg_reference.h"

#include "carve/ahead.h"
#include "carve/check.h"
#include "carve/coded_memo.h"
#include "carver_case.h"
#include "jpeg/jpeg_bits.h"
#include "memory_image.h"
#include "photos_case.h"
#include "rules/rules.h"
#include "tier.h"

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1du >> 32) * below >> 32);
}

/* ---- a picture ---- */

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
static void make_table(struct table *table, const uint8_t *values, int count)
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
static void make_ac_table(struct maker *m, struct table *table, bool refined)
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

static void make_dc_table(struct table *table)
{
	uint8_t values[16];

	for (uint8_t i = 0; i < 16; i++)
		values[i] = i;
	make_table(table, values, 1 + (int)draw(draw(4) ? 12 : 16));
}

static void add_segment(struct maker *m, uint8_t marker, const void *data, size_t len)
{
	bytes_add_be(&m->jpeg, 0xff00u | marker, 2);
	bytes_add_be(&m->jpeg, len + 2, 2);
	bytes_add(&m->jpeg, data, len);
}

static void add_table(struct maker *m, int ac, int index)
{
	const struct table *table = &m->tables[ac][index];
	uint8_t data[17 + 256];

	data[0] = (uint8_t)(ac << 4 | index);
	memcpy(data + 1, table->counts + 1, 16);
	memcpy(data + 17, table->values, (size_t)table->value_count);
	add_segment(m, JPEG_DHT, data, 17 + (size_t)table->value_count);
}

static void put(struct maker *m, uint32_t bits, int count)
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

static void put_random(struct maker *m, int count)
{
	while (count--)
		put(m, draw(2), 1);
}

static void flush(struct maker *m)
{
	if (m->count)
		put(m, 0xff, 8 - m->count);
}

static void put_code(struct maker *m, const struct table *table, uint8_t value)
{
	put(m, table->codes[value], table->lens[value]);
}

static uint8_t draw_value(const struct table *table)
{
	int most = table->value_count, count = draw(2) && most > 8 ? 8 : most;

	return table->values[draw((uint32_t)count)];
}

/* The difference to a DC that is in range, of a size that the table has. */
static void put_dc(struct maker *m, int c)
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

static void put_sequential(struct maker *m, int c)
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
static void start_run(struct maker *m, const struct table *table, uint32_t *more)
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

static void put_first_ac(struct maker *m, int c, uint64_t *history)
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

static void put_refined_ac(struct maker *m, int c, uint64_t *history)
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

static void put_block(struct maker *m, int c, uint32_t row, uint32_t column)
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
static void put_scan(struct maker *m, int only, int first, int last, int high, int low)
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

static void put_frame(struct maker *m)
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
static struct bytes make_picture(void)
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

/* ---- damage ---- */

static void damage(struct bytes *jpeg)
{
	size_t at = draw((uint32_t)jpeg->len), len = draw((uint32_t)(jpeg->len - at));

	switch (draw(8)) {
	case 0:
		return;
	case 1:
		jpeg->len = at;
		return;
	case 2:
		for (uint32_t i = 1 + draw(3); i; i--)
			jpeg->data[draw((uint32_t)jpeg->len)] ^= (uint8_t)(1 << draw(8));
		return;
	case 3:
		memset(jpeg->data + at, 0, len);
		return;
	case 4:
		memset(jpeg->data + at, 0, len < 100 ? len : 16 + draw(80));
		return;
	case 5:
		for (size_t i = 0; i < len; i++)
			jpeg->data[at + i] = (uint8_t)draw(256);
		return;
	case 6:
		/* A piece from elsewhere in it. */
		memmove(jpeg->data + at, jpeg->data + draw((uint32_t)(jpeg->len - len)), len);
		return;
	case 7:
		if (len < 2)
			return;
		jpeg->data[at] = 0xff;
		jpeg->data[at + 1] = (uint8_t)(draw(4) ? 0xd0 + draw(10) : draw(256));
		return;
	}
}

static void compare(const struct bytes *jpeg, uint64_t seed, bool portable, bool eager)
{
	struct view *view = view_new_memory(jpeg->data, jpeg->len);
	struct scan_result got, want;
	int first;

	compare_decoders(jpeg->data, jpeg->len, view, portable, eager, &first, &got, &want);
	view_free(view);
	cr_assert_eq(first, -1,
		"seed %llu, scan %d: state %d at %llu (%s), expected %d at %llu (%s)",
		(unsigned long long)seed, first, (int)got.state, (unsigned long long)got.at,
		got.problem ? got.problem : "", (int)want.state, (unsigned long long)want.at,
		want.problem ? want.problem : "");
}

Test(jpeg_decode, agrees_with_the_reference)
{
	uint64_t seed = test_seed(), cases = test_tier(60, 250, 100000);
	struct finding found;
	int complete = 0, intact = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct bytes jpeg;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		if (i % 4 == 0) {
			intact++;
			complete += carve("jpeg", jpeg.data, jpeg.len, &found) == CARVE_COMPLETE;
		}
		for (int j = 0; j < 4; j++)
			compare(&jpeg, i, j & 1, j & 2);
		for (int j = 0; j < 4; j++) {
			struct bytes copy = { 0 };

			bytes_add(&copy, jpeg.data, jpeg.len);
			damage(&copy);
			compare(&copy, i, j == 0, false);
			compare(&copy, i, j == 0, true);
			free(copy.data);
		}
		free(jpeg.data);
	}
	/* The pictures are not all refused at once. */
	cr_assert_gt(complete, intact * 2 / 3, "%d of %d", complete, intact);
}

/* Coded data of so many bytes, of which one in `apart` is FF (0: no byte is), with its stuffing; *plain: without. */
static struct bytes make_coded(size_t len, uint32_t apart, struct bytes *plain)
{
	struct bytes coded = { 0 };

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = (uint8_t)(apart && !draw(apart) ? 0xff : draw(255));

		bytes_add(plain, &byte, 1);
		bytes_add(&coded, &byte, 1);
		if (byte == 0xff)
			bytes_fill(&coded, 0, 1);
	}
	return coded;
}

/* However much is read between two loads, all bytes come, each once, and those after them are counted once. */
Test(jpeg_decode, loads_data_without_its_stuffing)
{
	static const uint32_t apart[] = { 0, 1, 2, 20, 300 };
	struct jpeg_bits *bits = malloc(sizeof(*bits));

	random_state = test_seed() * 0x9e3779b97f4a7c15u | 1;
	for (int i = 0; i < 40; i++) {
		struct bytes plain = { 0 },
			     coded = make_coded(100000 + draw(100), apart[i % 5], &plain);
		struct view *view = view_new_memory(coded.data, coded.len);
		size_t most = 1 + draw(JPEG_BLOCK_ROOM - 16), at = 0;
		bool same = true;

		jpeg_bits_open(bits, view, 0, 1);
		bits->load_len = i & 1 ? JPEG_BITS_LEN : JPEG_BITS_FIRST;
		jpeg_bits_jump(bits, 0);
		while (at < plain.len) {
			for (size_t n = 1 + draw((uint32_t)most); n && at < plain.len; n--) {
				jpeg_refill(&bits->buffer);
				same = same && jpeg_take(&bits->buffer, 8) == plain.data[at++];
			}
			cr_assert(jpeg_bits_more(bits));
			cr_assert_leq(bits->end - bits->bytes,
				JPEG_BITS_BEFORE + (ptrdiff_t)bits->load_len);
		}
		cr_expect(same, "%d", i);
		cr_expect_eq(jpeg_bits_offset(bits), coded.len);
		cr_expect_eq(bits->at, coded.len);
		view_free(view);
		free(coded.data);
		free(plain.data);
	}
	free(bits);
}

/* A scan with 12 bits a sample, in which each 16th block has a change of DC that lanes leave to the plain decoder. */
static struct bytes make_tedious(uint32_t side)
{
	struct maker m = { .width = side, .height = side };
	uint8_t quant[65] = { 0 }, frame[9] = { 12, (uint8_t)(side >> 8), (uint8_t)side,
		(uint8_t)(side >> 8), (uint8_t)side, 1, 1, 0x11, 0 };
	uint8_t dc[19] = { 0, 1, 1, [17] = 1, 12 }, ac[19] = { 0x10, 1, 1, [17] = 0, 8 };

	memset(quant + 1, 1, 64);
	bytes_add(&m.jpeg, "\xff\xd8", 2);
	add_segment(&m, JPEG_DQT, quant, sizeof(quant));
	add_segment(&m, JPEG_SOF1, frame, sizeof(frame));
	add_segment(&m, JPEG_DHT, dc, sizeof(dc));
	add_segment(&m, JPEG_DHT, ac, sizeof(ac));
	add_segment(&m, JPEG_SOS, "\1\1\0\0\x3f\0", 6);
	for (uint32_t i = 0; i < side / 8 * (side / 8); i++) {
		if (i % 16)
			put(&m, i % 2, 2);
		else
			put(&m, 2u << 12 | (i % 32 ? 0x7ff : 0x800), 14);
		for (uint32_t more = draw(7); more; more--)
			put(&m, 2u << 8 | draw(256), 10);
		put(&m, 0, 1);
	}
	flush(&m);
	bytes_add(&m.jpeg, "\xff\xd9", 2);
	return m.jpeg;
}

Test(jpeg_decode, gives_up_several_places_where_they_gain_nothing)
{
	struct bytes picture;
	struct finding found = { 0 };
	struct jpeg jpeg = { .finding = &found };
	const char *problem;

	random_state = test_seed() * 0x9e3779b97f4a7c15u | 1;
	picture = make_tedious(1024);
	jpeg.view = view_new_memory(picture.data, picture.len);
	cr_assert_eq(jpeg_walk(&jpeg, 0, &problem), JPEG_WALK_DONE, "%s", problem);
	cr_assert_gt(jpeg.rounds, 0);
	cr_assert_lt(jpeg.rounds, 50, "%u", jpeg.rounds);
	view_free(jpeg.view);
	free(picture.data);
}

/* ---- decoded ahead, as a GPU does ---- */

/* A check with what is known, and its work. */
static enum verdict carve_knowing(const struct bytes *jpeg, const struct ahead *ahead,
	struct finding *finding, uint64_t *work)
{
	struct view *view = view_new_memory(jpeg->data, jpeg->len);
	enum verdict verdict;

	view_know(view, ahead);
	memset(finding, 0, sizeof(*finding));
	verdict = carver_find("jpeg")->check(view, finding);
	*work = view_work_done(view);
	view_free(view);
	return verdict;
}

/* Where the picture's data ends by what a GPU does with it in two texts, the second from `split` on; or 0. */
static uint64_t decode_ahead(const struct bytes *jpeg, uint32_t split, uint64_t *data)
{
	struct view *view = view_new_memory(jpeg->data, jpeg->len);
	struct carve_coded *coded = malloc(sizeof(*coded));
	uint32_t len = (uint32_t)jpeg->len, tail = split + 9 < len ? split + 9 : len;
	struct photo_text texts[2] = { photo_text_on_host(jpeg->data, split, tail, 0),
		photo_text_on_host(jpeg->data + split, len - split, len - split, split) };
	uint64_t end = 0;
	bool cut;

	coded->begins = true;
	if (carver_find("jpeg")->coded(view, NULL, coded)) {
		*data = coded->data;
		end = photo_decode_on_host(texts, 2, coded->data, coded, &cut);
		/* In the first text alone it is cut, or it was in there. */
		if (end > split)
			cr_assert_eq(photo_decode_on_host(texts, 1, coded->data, coded, &cut), 0);
		cr_assert(end <= split || cut || coded->data >= split);
	}
	free((void *)texts[0].tiles);
	free((void *)texts[1].tiles);
	free(coded);
	view_free(view);
	return end;
}

/* Returns whether it was found valid. Then the check says the same with that and without it, and does the
 * same work. */
static bool expect_known_agrees(const struct bytes *jpeg, uint64_t seed)
{
	struct rules none = { 0 };
	struct ahead *ahead = ahead_new(&none, NULL, 0, false);
	struct finding with, without;
	uint64_t data, end, work, work_without;
	enum verdict verdict;

	end = decode_ahead(jpeg, draw((uint32_t)jpeg->len), &data);
	if (end) {
		ahead_add(ahead, 0, data, end);
		verdict = carve_knowing(jpeg, ahead, &with, &work);
		cr_assert_eq(verdict, carve_knowing(jpeg, NULL, &without, &work_without),
			"seed %llu: %d with what is known (%s), expected otherwise (%s)",
			(unsigned long long)seed, (int)verdict, with.why, without.why);
		cr_assert_arr_eq(&with, &without, sizeof(with), "seed %llu: %llu, %llu (%s)",
			(unsigned long long)seed, (unsigned long long)with.length,
			(unsigned long long)without.length, without.why);
		cr_assert_eq(work, work_without, "seed %llu", (unsigned long long)seed);
	}
	ahead_free(ahead);
	return end != 0;
}

Test(jpeg_decode, is_known_ahead_only_where_the_check_says_the_same)
{
	uint64_t seed = test_seed(), cases = test_tier(60, 250, 100000);
	uint64_t known = 0, damaged = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct bytes jpeg;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		known += expect_known_agrees(&jpeg, i);
		for (int j = 0; j < 4; j++) {
			struct bytes copy = { 0 };

			bytes_add(&copy, jpeg.data, jpeg.len);
			damage(&copy);
			if (copy.len)
				damaged += expect_known_agrees(&copy, i);
			free(copy.data);
		}
		free(jpeg.data);
	}
	/* Half of them are progressive, and a third of the others have restart markers. */
	cr_assert_gt(known, cases / 5, "%llu", (unsigned long long)known);
	cr_assert_gt(damaged, cases / 10, "%llu", (unsigned long long)damaged);
}

/* ---- files in pieces ---- */

static void expect_same(const struct finding *a, enum verdict a_verdict, const struct finding *b,
	enum verdict b_verdict, uint64_t seed)
{
	cr_assert(a_verdict == b_verdict && a->length == b->length && !strcmp(a->why, b->why),
		"seed %llu: %d, %llu (%s) resumed, expected %d, %llu (%s)",
		(unsigned long long)seed, (int)a_verdict, (unsigned long long)a->length, a->why,
		(int)b_verdict, (unsigned long long)b->length, b->why);
}

/* A check that goes on from any state that another one saved finds what a whole check does, whatever
 * the bytes after the state are. */
Test(jpeg_decode, resumes_from_states)
{
	const struct carver *carver = carver_find("jpeg");
	uint64_t seed = test_seed(), cases = test_tier(100, 300, 30000), resumed = 0, later = 0;
	uint64_t least = CARVE_STATE_MAX, scans = 0, over = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct finding first = { 0 }, whole = { 0 }, rest = { 0 };
		const struct carve_state *state;
		struct view *saving, *view;
		struct bytes jpeg, copy = { 0 };
		size_t at;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		saving = view_new_memory(jpeg.data, jpeg.len);
		view_keep_states(saving, 1 + draw(300));
		carver->check(saving, &first);
		at = draw((uint32_t)jpeg.len + 1);
		state = view_state_before(saving, at);
		bytes_add(&copy, jpeg.data, jpeg.len);
		if (draw(4))
			bytes_add_random(&copy, i, draw(3000));
		if (draw(3)) {
			size_t from = draw((uint32_t)copy.len);

			memmove(copy.data + at, copy.data + from,
				copy.len - (from > at ? from : at));
		}
		if (state) {
			cr_assert_leq(state->offset, at);
			enum verdict verdict;

			view = view_new_memory(copy.data, copy.len);
			verdict = carver->resume(view, state, &rest);
			if (!view_starts_over(view)) {
				expect_same(&rest, verdict, &whole,
					carve("jpeg", copy.data, copy.len, &whole), i);
				resumed++;
				later += state->offset > 700;
				scans += state->len > least;
			} else {
				over++;
			}
			least = state->len < least ? state->len : least;
			view_free(view);
		}
		view_free(saving);
		free(jpeg.data);
		free(copy.data);
	}
	cr_assert_gt(resumed, cases / 2);
	cr_assert_gt(later, cases / 4);
	/* In later scans, of progressive pictures, and where these need more than a state has. */
	cr_assert_gt(scans, cases / 300, "%llu", (unsigned long long)scans);
	cr_assert_gt(over, cases / 300, "%llu", (unsigned long long)over);
}

/* Two sequential pictures of the same size with the same tables. */
static void make_pair(struct bytes pair[2])
{
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4 };
	struct maker m = { .components = draw(3) ? 3 : 1 };

	m.width = 300 + draw(300);
	m.height = 300 + draw(300);
	for (int i = 0; i < m.components; i++)
		m.h[i] = m.v[i] = 1;
	if (m.components == 3)
		m.h[0] = m.v[0] = (uint8_t)(1 + draw(2));
	for (int i = 0; i < 2; i++) {
		/* With others a DC is soon out of range after any break. */
		make_table(&m.tables[0][i], sizes, 3 + (int)draw(3));
		make_ac_table(&m, &m.tables[1][i], false);
	}
	for (int n = 0; n < 2; n++) {
		m.jpeg = (struct bytes){ 0 };
		put_frame(&m);
		for (int i = 0; i < 2; i++) {
			add_table(&m, 0, i);
			add_table(&m, 1, i);
		}
		put_scan(&m, -1, 0, 63, 0, 0);
		bytes_add(&m.jpeg, "\xff\xd9", 2);
		for (int i = 0; i < m.components; i++)
			free(m.history[i]);
		pair[n] = m.jpeg;
	}
}

#define PIECE 512 /* bytes, at multiples of which pieces begin */

/* Both pictures with something between, of which the first is in two pieces, and after which some is damaged. */
static struct bytes make_evidence(const struct bytes pair[2], uint64_t seed, uint64_t *second)
{
	struct bytes all = { 0 };
	size_t half = pair[0].len / 2 / PIECE * PIECE;

	bytes_add(&all, pair[0].data, half);
	bytes_add_random(&all, seed, PIECE * draw(4));
	bytes_add(&all, pair[1].data, pair[1].len);
	bytes_add_random(&all, seed, PIECE - all.len % PIECE);
	*second = all.len;
	bytes_add(&all, pair[0].data + half, pair[0].len - half);
	bytes_add_random(&all, seed, 3 * PIECE);
	for (uint32_t i = draw(3); i; i--)
		all.data[half + draw((uint32_t)(all.len - half))] ^= (uint8_t)(1 << draw(8));
	if (!draw(4))
		memset(all.data + half + draw((uint32_t)(all.len - half - 200)), 0, 200);
	return all;
}

/* What a trial comes to. */
struct trial {
	struct outcome outcome;
	uint64_t reach;
	unsigned proof;
};

/* used: a view of trials before, or NULL. */
static void make_trial(struct memory_image *evidence, const struct range *runs, size_t count,
	uint64_t work, const struct carve_state *state, struct coded_memo *memo, struct view *used,
	struct trial *trial)
{
	const struct rule rule = {
		.name = (char *)"jpeg", .carver = carver_find("jpeg"), .max_size = 1 << 24
	};
	const struct check_options options = { .from = state, .is_trial = true };
	struct view *view = used ? used : view_new();

	view_share(view, memo);
	check_runs(view, &evidence->image, &rule, runs, count, work, &options, &trial->outcome);
	trial->reach = view_reach(view);
	trial->proof = view_proof(view, runs->length);
	if (!used)
		view_free(view);
}

static void expect_same_trial(const struct trial *a, const struct trial *b, uint64_t seed)
{
	cr_assert(a->outcome.verdict == b->outcome.verdict &&
			  a->outcome.length == b->outcome.length &&
			  a->outcome.work == b->outcome.work && a->reach == b->reach &&
			  a->proof == b->proof &&
			  !strcmp(a->outcome.finding.why, b->outcome.finding.why),
		"seed %llu: %d, %llu, work %llu, %llu seen (%s) with what others decoded, expected "
		"%d, %llu, "
		"%llu, %llu (%s)",
		(unsigned long long)seed, (int)a->outcome.verdict,
		(unsigned long long)a->outcome.length, (unsigned long long)a->outcome.work,
		(unsigned long long)a->reach, a->outcome.finding.why, (int)b->outcome.verdict,
		(unsigned long long)b->outcome.length, (unsigned long long)b->outcome.work,
		(unsigned long long)b->reach, b->outcome.finding.why);
}

/* Makes all that is noted of the first so many bits wrong. */
static unsigned falsify(struct coded_memo *memo, uint64_t bits)
{
	struct coded_stretch stretch;
	unsigned count = 0;

	for (uint64_t bit = 0; bit < bits; bit++) {
		if (!coded_memo_find(memo, 1, bit, &stretch))
			continue;
		stretch.mcus--;
		coded_memo_add(memo, 1, bit, &stretch);
		count++;
	}
	return count;
}

/* Whether what is noted is made use of: with wrong stretches a trial comes to something else. */
static bool is_changed(struct memory_image *evidence, uint64_t to, size_t half,
	const struct carve_state *state, struct coded_memo *memo)
{
	const struct range runs[] = { { 0, half }, { to, evidence->image.info.size - to } };
	struct trial with, without;
	bool changed;

	make_trial(evidence, runs, 2, UINT64_MAX, state, NULL, NULL, &without);
	make_trial(evidence, runs, 2, UINT64_MAX, state, memo, NULL, &with);
	changed = with.outcome.work != without.outcome.work;
	outcome_free(&with.outcome);
	outcome_free(&without.outcome);
	return changed;
}

/* The states of a check of the first picture's first `len` bytes. */
static size_t save_states(const struct bytes *jpeg, size_t len, struct carve_state *states)
{
	struct view *view = view_new_memory(jpeg->data, len);
	struct finding finding = { 0 };
	size_t count;

	view_keep_states(view, 4096);
	carver_find("jpeg")->check(view, &finding);
	count = view_take_states(view, states);
	view_free(view);
	return count;
}

/* Trials that pass over what others decoded come to the same, after the same work, whatever follows the break, and wherever
 * the work that they may do comes to its end. */
Test(jpeg_decode, shares_what_trials_decode)
{
	uint64_t seed = test_seed(), cases = test_tier(8, 12, 2000), limited = 0, shared = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct coded_memo *memo = coded_memo_new();
		struct view *used = view_new();
		struct carve_state states[VIEW_STATES];
		struct memory_image evidence;
		struct bytes pair[2], all;
		uint64_t targets[4];
		size_t count, half;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		make_pair(pair);
		half = pair[0].len / 2 / PIECE * PIECE;
		all = make_evidence(pair, i, &targets[0]);
		memory_image_init(&evidence, all.data, all.len);
		if (!draw(4)) {
			evidence.bad_from = half + draw((uint32_t)(all.len - half));
			evidence.bad_to = evidence.bad_from + 1 + draw(1000);
		}
		for (int n = 1; n < 4; n++)
			targets[n] = PIECE * draw((uint32_t)(all.len / PIECE));
		count = save_states(&pair[0], half, states);
		cr_assert_gt(count, 0);
		for (int n = 0; n < 150; n++) {
			uint64_t at = PIECE * (1 + draw((uint32_t)(half / PIECE)));
			uint64_t to = targets[draw(4)], left = all.len - to;
			uint64_t some = draw(3) || left <= PIECE
						? left
						: PIECE * (1 + draw((uint32_t)(left / PIECE)));
			const struct range runs[] = { { 0, at }, { to, some },
				{ half, all.len - half } };
			const struct carve_state *state = NULL;
			struct trial with, without;
			uint64_t work = UINT64_MAX;

			for (size_t k = 0; k < count && states[k].offset <= at; k++)
				state = &states[k];
			make_trial(&evidence, runs, 2 + (some < left), work, state, NULL, NULL,
				&without);
			if (!draw(3) && without.outcome.work < UINT64_MAX) {
				work = without.outcome.work * draw(1000) / 1000;
				outcome_free(&without.outcome);
				make_trial(&evidence, runs, 2 + (some < left), work, state, NULL,
					NULL, &without);
				limited++;
			}
			make_trial(
				&evidence, runs, 2 + (some < left), work, state, memo, used, &with);
			expect_same_trial(&with, &without, i);
			outcome_free(&with.outcome);
			outcome_free(&without.outcome);
		}
		shared += falsify(memo, all.len * 8) &&
			  is_changed(&evidence, targets[0], half, &states[count - 1], memo);
		for (size_t k = 0; k < count; k++)
			free((void *)states[k].data);
		view_free(used);
		coded_memo_free(memo);
		free(all.data);
		free(pair[0].data);
		free(pair[1].data);
	}
	cr_assert_gt(limited, cases);
	cr_assert_gt(shared, cases / 2, "%llu", (unsigned long long)shared);
}

static void make_sum(void *made, const void *bytes)
{
	*(int *)made += 1 + *(const uint8_t *)bytes;
}

static uint32_t coding_of(struct coded_memo *memo, const void *bytes, size_t len)
{
	const struct coded_coding coding = { bytes, len, sizeof(int), make_sum };
	const void *made = NULL;
	uint32_t number = coded_memo_coding(memo, &coding, &made);

	cr_expect(!number || *(const int *)made == 1 + *(const uint8_t *)bytes, "made once");
	return number;
}

Test(jpeg_decode, stretches_are_of_one_coding_and_bit)
{
	struct coded_memo *memo = coded_memo_new();
	const struct coded_stretch one = { .bytes = 1, .sum = { 0, 0, 0, -7 } };
	struct coded_stretch found = { 0 };
	uint32_t a = coding_of(memo, "a", 1), b = coding_of(memo, "b", 1);

	cr_assert(a && b && a != b);
	cr_expect_eq(coding_of(memo, "a", 1), a);
	cr_expect_neq(coding_of(memo, "aa", 2), a);
	cr_expect_not(coded_memo_find(memo, a, 0, &found));
	coded_memo_add(memo, a, 0, &one);
	cr_expect(coded_memo_find(memo, a, 0, &found));
	cr_expect(found.bytes == 1 && found.sum[3] == -7);
	cr_expect_not(coded_memo_find(memo, b, 0, &found));
	cr_expect_not(coded_memo_find(memo, a, 1, &found));
	coded_memo_add(memo, a, UINT64_MAX, &one);
	cr_expect_not(coded_memo_find(memo, a, UINT64_MAX, &found), "no room for the bit");
	for (unsigned i = 0; i < 1000; i++)
		coding_of(memo, &i, sizeof(i));
	cr_expect_eq(coding_of(memo, "c", 1), 0, "too many");
	cr_expect_eq(coding_of(memo, "b", 1), b);
	coded_memo_free(memo);
}

/* Fills 512 bytes: what really follows, other bytes of the picture, a changed byte or two, random ones, zeros. Returns
 * which. */
static unsigned draw_candidate(
	const struct bytes *jpeg, size_t at, uint64_t seed, uint8_t *bytes, size_t len)
{
	unsigned kind = draw(5);
	size_t from = kind == 1 ? draw((uint32_t)jpeg->len) : at;
	struct bytes random = { 0 };

	bytes_add_random(&random, seed + kind, len);
	memcpy(bytes, random.data, len);
	free(random.data);
	if (kind == 4)
		memset(bytes, 0, len);
	if (kind < 3)
		memcpy(bytes, jpeg->data + from, jpeg->len - from < len ? jpeg->len - from : len);
	if (kind == 2)
		for (unsigned i = 0; i < 2; i++)
			bytes[draw((uint32_t)len)] = (uint8_t)draw(256);
	return kind;
}

/* What is refused after a break the whole check refuses, too, and no later than where those bytes end. */
static void expect_refused(
	const struct bytes *jpeg, size_t at, const uint8_t *bytes, size_t len, uint64_t seed)
{
	struct finding finding = { 0 };
	struct bytes whole = { 0 };
	enum verdict verdict;

	bytes_add(&whole, jpeg->data, at);
	bytes_add(&whole, bytes, len);
	bytes_add_random(&whole, seed, 2000);
	verdict = carve("jpeg", whole.data, whole.len, &finding);
	cr_assert(verdict == CARVE_TRUNCATED && finding.length < at + len,
		"seed %llu: %d, %llu (%s), break at %zu", (unsigned long long)seed, (int)verdict,
		(unsigned long long)finding.length, finding.why, at);
	free(whole.data);
}

Test(jpeg_decode, describes_where_it_breaks_off)
{
	const struct carver *carver = carver_find("jpeg");
	uint64_t seed = test_seed(), cases = test_tier(200, 600, 60000), described = 0;
	uint64_t tried[5] = { 0 }, refused[5] = { 0 };
	struct carve_coded *coded = malloc(sizeof(*coded));

	for (uint64_t i = seed; i < seed + cases; i++) {
		_Alignas(4) uint8_t bytes[4096];
		size_t len = i % 2 ? sizeof(bytes) : 512;
		struct finding ignored = { 0 };
		struct view *saving, *view;
		struct bytes jpeg;
		bool valid;
		size_t at;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		at = 1 + draw((uint32_t)jpeg.len);
		saving = view_new_memory(jpeg.data, jpeg.len);
		view_keep_states(saving, 1 + draw(300));
		valid = carver->check(saving, &ignored) == CARVE_COMPLETE;
		view = view_new_memory(jpeg.data, at);
		coded->begins = false;
		if (carver->coded(view, view_state_before(saving, at), coded)) {
			described++;
			for (unsigned n = 0; n < 8; n++) {
				unsigned kind = draw_candidate(&jpeg, at, i + n, bytes, len);

				tried[kind]++;
				if (coded_may_follow(coded, bytes, (uint32_t)len))
					continue;
				cr_expect(kind || !valid, "seed %llu: the rest is refused",
					(unsigned long long)i);
				refused[kind]++;
				expect_refused(&jpeg, at, bytes, len, i);
			}
		}
		view_free(view);
		view_free(saving);
		free(jpeg.data);
	}
	free(coded);
	cr_assert_gt(described, cases / 4, "%llu", (unsigned long long)described);
	cr_assert_gt(refused[3], tried[3] * 3 / 4, "%llu of %llu", (unsigned long long)refused[3],
		(unsigned long long)tried[3]);
}

/* A picture whose brightness changes a little from row to row, and by `jump` from the 700th of its
 * 1,024 blocks on; *at: the offset of that block. */
static struct bytes make_gradient(int jump, uint64_t *at)
{
	struct maker m = { .components = 1, .width = 256, .height = 256, .h = { 1 }, .v = { 1 } };
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, end[] = { 0 };
	uint8_t head[6] = { 1, 1, 0, 0, 63, 0 };
	int32_t dc = 0;

	random_state = 1;
	put_frame(&m);
	make_table(&m.tables[0][0], sizes, 12);
	make_table(&m.tables[1][0], end, 1);
	add_table(&m, 0, 0);
	add_table(&m, 1, 0);
	add_segment(&m, JPEG_SOS, head, 6);
	for (int i = 0; i < 1024; i++) {
		int32_t value = i / 32 * 20 + (int32_t)draw(8) - 320 + (i < 700 ? 0 : jump);
		int32_t diff = value - dc;
		uint8_t size = 0;

		while (abs(diff) >> size)
			size++;
		if (i == 700)
			*at = m.jpeg.len;
		put_code(&m, &m.tables[0][0], size);
		put(&m, (uint32_t)(diff < 0 ? diff + (1 << size) - 1 : diff), size);
		put_code(&m, &m.tables[1][0], 0);
		dc = value;
	}
	flush(&m);
	bytes_add(&m.jpeg, "\xff\xd9", 2);
	free(m.history[0]);
	return m.jpeg;
}

/* The last bytes of a picture's coded data, then as many of `fill`, and in them the marker FF `code`. */
static bool may_end(const struct bytes *jpeg, const struct carve_coded *coded, size_t at,
	uint8_t fill, size_t marker_at, uint8_t code)
{
	_Alignas(4) uint8_t bytes[1024];
	size_t rest = jpeg->len - 2 - at;

	memset(bytes, fill, sizeof(bytes));
	memcpy(bytes, jpeg->data + at, rest);
	bytes[rest + marker_at] = 0xff;
	bytes[rest + marker_at + 1] = code;
	return coded_may_follow(coded, bytes, sizeof(bytes));
}

Test(jpeg_decode, a_scan_ends_with_a_marker)
{
	struct carve_coded coded = { .begins = false };
	uint64_t unused;
	struct bytes jpeg = make_gradient(0, &unused);
	size_t at = jpeg.len - 20;
	struct view *view = view_new_memory(jpeg.data, at);

	cr_assert(carver_find("jpeg")->coded(view, NULL, &coded));
	cr_expect(may_end(&jpeg, &coded, at, 0x55, 0, JPEG_EOI));
	cr_expect(may_end(&jpeg, &coded, at, 0x55, 300, JPEG_SOS), "some bytes may be before it");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 300, 0xff),
		"FF may be repeated, but 55 is no code");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 300, 0), "that is no marker");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 700, JPEG_EOI), "too far");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 0, 0x55), "no marker of a JPEG");
	view_free(view);
	free(jpeg.data);
}

Test(jpeg_decode, sees_joints_that_do_not_fit)
{
	static const int jumps[] = { 0, 400, -400 };

	for (int i = 0; i < 3; i++) {
		struct carve_joint joint = { 0 };
		struct finding found;
		uint64_t at = 0;
		struct bytes jpeg = make_gradient(jumps[i], &at);
		struct view *view = view_new_memory(jpeg.data, jpeg.len);

		expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
		cr_assert(carver_find("jpeg")->joint(view, at, &joint));
		cr_assert_eq(joint.samples, 32);
		if (jumps[i])
			cr_assert_gt(joint.roughness, 16 * 10, "%u", joint.roughness);
		else
			cr_assert_leq(joint.roughness, 24, "%u", joint.roughness);
		cr_assert_eq(joint.bits, jumps[i] ? 0 : 3);
		/* Before the scan and after the file there is nothing to compare. */
		cr_assert_not(carver_find("jpeg")->joint(view, jpeg.len, &joint));
		view_free(view);
		/* With too little of the picture neither. */
		view = view_new_memory(jpeg.data, at - 20);
		cr_assert_not(carver_find("jpeg")->joint(view, at, &joint));
		view_free(view);
		cr_assert_eq(carve("jpeg", jpeg.data, at, &found), CARVE_TRUNCATED);
		free(jpeg.data);
	}
}
