#include "layer3.h"

#include "byte_bits.h"

#define LINES LAYER3_LINES

/* The lines at which bands begin, of long blocks (11172-3, table B.8; 13818-3, table B.2; 8 kHz as encoders have it). */
static const uint16_t bands[5][23] = {
	{ 0, 4, 8, 12, 16, 20, 24, 30, 36, 44, 52, 62, 74, 90, 110, 134, 162, 196, 238, 288, 342,
		418, 576 },
	{ 0, 4, 8, 12, 16, 20, 24, 30, 36, 42, 50, 60, 72, 88, 106, 128, 156, 190, 230, 276, 330,
		384, 576 },
	{ 0, 4, 8, 12, 16, 20, 24, 30, 36, 44, 54, 66, 82, 102, 126, 156, 194, 240, 296, 364, 448,
		550, 576 },
	{ 0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 116, 140, 168, 200, 238, 284, 336, 396, 464,
		522, 576 },
	{ 0, 12, 24, 36, 48, 60, 72, 88, 108, 132, 160, 192, 232, 280, 336, 400, 476, 566, 568, 570,
		572, 574, 576 },
};
/* At 24 kHz. */
static const uint16_t bands_24[23] = { 0, 6, 12, 18, 24, 30, 36, 44, 54, 66, 80, 96, 114, 136, 162,
	194, 232, 278, 332, 394, 464, 540, 576 };

struct header {
	bool first;  /* MPEG-1; else MPEG-2 or 2.5 */
	bool lowest; /* MPEG-2.5 at 8 kHz */
	bool mono, intensity, has_crc;
	const uint16_t *bands;
};

struct reader {
	const uint8_t *bytes;
	size_t at, end; /* bits */
};

/* The next n bits, 1 to 32; zeros after the end. */
static uint32_t peek(const struct reader *reader, int n)
{
	return byte_bits_peek(reader->bytes, reader->at, reader->end) >> (32 - n);
}

static uint32_t take(struct reader *reader, int n)
{
	uint32_t value = peek(reader, n);

	reader->at += (size_t)n;
	return value;
}

static struct header read_header(const uint8_t *p)
{
	unsigned version = p[1] >> 3 & 3, rate = p[2] >> 2 & 3;
	struct header header = { .first = version == 3,
		.lowest = version == 0 && rate == 2,
		.mono = p[3] >> 6 == 3,
		.intensity = p[3] >> 6 == 1 && p[3] & 0x10,
		.has_crc = !(p[1] & 1) };

	header.bands = header.first                ? bands[rate % 3]
		       : header.lowest             ? bands[4]
		       : version == 2 && rate == 1 ? bands_24
						   : bands[3];
	return header;
}

/* Bits of the scale factors. shared: of the four groups of bands, those that the granule before has given. */
static unsigned factor_bits(unsigned compress, bool is_short, bool mixed, unsigned shared)
{
	static const uint8_t lower[16] = { 0, 0, 0, 0, 3, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4 };
	static const uint8_t upper[16] = { 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 3 };
	static const uint8_t group[4] = { 6, 5, 5, 5 };
	unsigned bits = 0;

	if (is_short)
		return (mixed ? 17u : 18u) * lower[compress] + 18u * upper[compress];
	for (unsigned i = 0; i < 4; i++)
		if (!(shared & 8u >> i))
			bits += group[i] * (i < 2 ? lower[compress] : upper[compress]);
	return bits;
}

/* The same of MPEG-2 (13818-3, 2.4.3.2). */
static unsigned factor_bits_2(unsigned compress, bool is_short, bool mixed, bool intensity)
{
	static const uint8_t counts[6][3][4] = {
		{ { 6, 5, 5, 5 }, { 9, 9, 9, 9 }, { 6, 9, 9, 9 } },
		{ { 6, 5, 7, 3 }, { 9, 9, 12, 6 }, { 6, 9, 12, 6 } },
		{ { 11, 10, 0, 0 }, { 18, 18, 0, 0 }, { 15, 18, 0, 0 } },
		{ { 7, 7, 7, 0 }, { 12, 12, 12, 0 }, { 6, 15, 12, 0 } },
		{ { 6, 6, 6, 3 }, { 12, 9, 9, 6 }, { 6, 12, 9, 6 } },
		{ { 8, 8, 5, 0 }, { 15, 12, 9, 0 }, { 6, 18, 9, 0 } },
	};
	unsigned lens[4] = { 0 }, row, bits = 0;

	if (intensity) {
		compress >>= 1;
		row = compress < 180 ? 3 : compress < 244 ? 4 : 5;
		compress -= row == 3 ? 0 : row == 4 ? 180 : 244;
		lens[0] = row == 3 ? compress / 36 : row == 4 ? compress >> 4 & 3 : compress / 3;
		lens[1] = row == 3   ? compress % 36 / 6
			  : row == 4 ? compress >> 2 & 3
				     : compress % 3;
		lens[2] = row == 3 ? compress % 36 % 6 : row == 4 ? compress & 3 : 0;
	} else {
		row = compress < 400 ? 0 : compress < 500 ? 1 : 2;
		compress -= row == 0 ? 0 : row == 1 ? 400 : 500;
		lens[0] = row == 0   ? (compress >> 4) / 5
			  : row == 1 ? (compress >> 2) / 5
				     : compress / 3;
		lens[1] = row == 0   ? (compress >> 4) % 5
			  : row == 1 ? (compress >> 2) % 5
				     : compress % 3;
		lens[2] = row == 0 ? compress >> 2 & 3 : row == 1 ? compress & 3 : 0;
		lens[3] = row == 0 ? compress & 3 : 0;
	}
	for (unsigned i = 0; i < 4; i++)
		bits += lens[i] * counts[row][is_short ? 1 + mixed : 0][i];
	return bits;
}

/* Where the first region of pairs ends if the block's window is another one. */
static uint16_t first_region(const struct header *header, bool is_short)
{
	if (is_short)
		return header->lowest ? 72 : 36;
	return header->first ? 36 : header->lowest ? 108 : 54;
}

/* False: it is impossible. */
static bool read_part(struct reader *reader, const struct header *header, unsigned channel,
	unsigned shared, struct layer3_part *part)
{
	unsigned pairs, compress, block = 0;
	bool mixed = false, is_short;

	part->len = (uint16_t)take(reader, 12);
	pairs = take(reader, 9);
	take(reader, 8);
	compress = take(reader, header->first ? 4 : 9);
	if (take(reader, 1)) {
		block = take(reader, 2);
		mixed = take(reader, 1);
		for (unsigned i = 0; i < 2; i++)
			part->books[i] = (uint8_t)take(reader, 5);
		take(reader, 9);
		if (!block)
			return false;
		part->books[2] = 0;
		part->regions[0] = first_region(header, block == 2);
		part->regions[1] = LINES;
	} else {
		unsigned first, second;

		for (unsigned i = 0; i < 3; i++)
			part->books[i] = (uint8_t)take(reader, 5);
		first = take(reader, 4) + 1;
		second = first + take(reader, 3) + 1;
		part->regions[0] = header->bands[first];
		part->regions[1] = header->bands[second < 22 ? second : 22];
	}
	if (header->first)
		take(reader, 1);
	take(reader, 1);
	part->fours_are_inverse = take(reader, 1);
	is_short = block == 2;
	part->factors = (uint16_t)(header->first ? factor_bits(compress, is_short, mixed,
							   is_short ? 0 : shared)
						 : factor_bits_2(compress, is_short, mixed,
							   header->intensity && channel == 1));
	part->regions[2] = (uint16_t)(2 * pairs);
	for (unsigned i = 0; i < 2; i++)
		if (part->regions[i] > part->regions[2])
			part->regions[i] = part->regions[2];
	for (unsigned i = 0, from = 0; i < 3; from = part->regions[i++])
		if (part->regions[i] > from && part->books[i] &&
			!layer3_books[part->books[i]].codes)
			return false;
	return part->regions[2] <= LINES && part->factors <= part->len;
}

bool layer3_read_side(const uint8_t *frame, size_t len, struct layer3_side *side)
{
	struct header header = read_header(frame);
	unsigned channels = header.mono ? 1 : 2, granules = header.first ? 2 : 1;
	size_t from = header.has_crc ? 6 : 4;
	size_t side_len = header.first ? (header.mono ? 17 : 32) : header.mono ? 9 : 17;
	struct reader reader = { frame + from, 0, side_len * 8 };
	uint8_t shared[2] = { 0 };

	if (from + side_len > len)
		return false;
	side->room = (uint16_t)(from + side_len);
	side->begin = (uint16_t)take(&reader, header.first ? 9 : 8);
	take(&reader, header.first ? (header.mono ? 5 : 3) : (int)channels);
	for (unsigned i = 0; header.first && i < channels; i++)
		shared[i] = (uint8_t)take(&reader, 4);
	side->part_count = (uint8_t)(channels * granules);
	side->channels = (uint8_t)channels;
	for (unsigned i = 0; i < side->part_count; i++)
		if (!read_part(&reader, &header, i % channels,
			    i < channels ? 0 : shared[i % channels], &side->parts[i]))
			return false;
	return true;
}

size_t layer3_main_len(const struct layer3_side *side)
{
	size_t bits = 0;

	for (unsigned i = 0; i < side->part_count; i++)
		bits += side->parts[i].len;
	return (bits + 7) / 8;
}

/* Takes a pair's code, its further bits and its signs. */
static uint32_t take_pair(struct reader *reader, const struct layer3_book *book)
{
	uint32_t bits = peek(reader, LAYER3_CODE_BITS), code;
	unsigned low = 0, high = book->count, first, second;

	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (layer3_code_bits(book->codes[middle]) <= bits)
			low = middle;
		else
			high = middle;
	}
	code = book->codes[low];
	first = layer3_code_pair(code) >> 4;
	second = layer3_code_pair(code) & 15;
	reader->at += layer3_code_len(code);
	reader->at += (first == 15 ? book->more_bits : 0) + (first != 0);
	reader->at += (second == 15 ? book->more_bits : 0) + (second != 0);
	return code;
}

/* Takes four values of 0 or 1, with their signs; the first one is the highest. */
static unsigned take_four(struct reader *reader, bool inverse, unsigned *len)
{
	/* By the six bits that come: length and values (11172-3, table B.7, A). */
	static const uint8_t lens[16] = { 1, 4, 4, 5, 4, 6, 5, 6, 4, 5, 5, 6, 5, 6, 6, 6 };
	static const uint8_t codes[16] = { 1, 5, 4, 5, 6, 5, 4, 4, 7, 3, 6, 0, 7, 2, 3, 1 };
	uint32_t bits = peek(reader, 6);
	unsigned values = 0;

	if (inverse) {
		values = ~(bits >> 2) & 15;
		*len = 4;
	} else {
		while (bits >> (6 - lens[values]) != codes[values])
			values++;
		*len = lens[values];
	}
	reader->at += *len + (size_t)__builtin_popcount(values);
	return values;
}

/* False: the pairs run over the part's end. */
static bool follow_part(struct reader *reader, const struct layer3_part *part,
	struct layer3_granule *granule, struct layer3_gain *gains, unsigned *exact)
{
	size_t end = reader->at + part->len, at;
	unsigned line = 0, four, len;

	reader->at += part->factors;
	for (unsigned i = 0; i < 3; i++)
		for (; line < part->regions[i]; line += 2) {
			uint32_t code = 0;

			at = reader->at;
			if (part->books[i])
				code = take_pair(reader, &layer3_books[part->books[i]]);
			if (reader->at > end)
				return false;
			if (part->books[i] && gains)
				layer3_habits_add_pair(granule, line, part->books[i],
					layer3_code_pair(code), layer3_code_len(code),
					&gains[at / 8]);
		}
	for (; line + 4 <= LINES + 2 && reader->at < end; line += 4) {
		at = reader->at;
		four = take_four(reader, part->fours_are_inverse, &len);
		if (reader->at <= end && gains)
			layer3_habits_add_four(granule, line, four, len, &gains[at / 8]);
	}
	*exact += part->len > part->factors && reader->at == end;
	reader->at = end;
	return true;
}

bool layer3_follow(const struct layer3_side *side, const uint8_t *data,
	struct layer3_habits *habits, struct layer3_gain *gains, unsigned *exact)
{
	struct reader reader = { data, 0, layer3_main_len(side) * 8 };

	*exact = 0;
	for (unsigned i = 0; i < side->part_count; i++) {
		struct layer3_granule granule = { .habits = habits, .channel = i % side->channels };

		if (!follow_part(&reader, &side->parts[i], &granule, habits ? gains : NULL, exact))
			return false;
		layer3_habits_end(&granule);
	}
	return true;
}
