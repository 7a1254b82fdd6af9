/*
 * Frames of AAC: ISO/IEC 14496-3, 4.4.2 (syntax) and 4.5.2 (what the values may be).
 *
 *	elements, each an id of 3 bits: channels (SCE, CPE, LFE, CCE), data (DSE), configuration (PCE), fill (FIL)
 *	a channel: gain, windows, sections of bands with one book of codes, scale factors, pulses, noise shaping, values
 *	the last id is END; then up to 7 bits to a whole byte
 *
 * What a value means does not matter, only how many bits it has and whether it is allowed.
 */
#include "aac_frame.h"

#include "aac_codes.h"
#include "byte_bits.h"

enum { MAIN = 1, LC = 2, LTP = 4, SBR = 5, PS = 29 };
enum { SCE, CPE, CCE, LFE, DSE, PCE, FIL, END };
enum { EIGHT_SHORT = 2 };
enum { ZERO = 0, ESCAPES = 11, RESERVED = 12, NOISE = 13, INTENSITY_2 = 14, INTENSITY = 15 };

#define BANDS_MAX 51
#define GROUPS_MAX 8
#define LTP_BANDS 40
#define ESCAPE_MAX 8 /* one bits before an escape's value */

struct reader {
	const uint8_t *bytes;
	uint64_t at, end; /* bits */
	const struct aac_config *config;
	bool failed;
};

/* The windows of a channel. */
struct windows {
	bool are_short;
	uint8_t band_count; /* in use */
	uint8_t group_count, group_lens[GROUPS_MAX];
	const struct aac_bands *bands;
};

struct channel {
	struct windows windows;
	uint8_t gain;
	uint8_t books[GROUPS_MAX][BANDS_MAX];
};

static void fail(struct reader *reader)
{
	reader->failed = true;
}

/* The next 32 bits; zeros after the end. */
static uint32_t peek(const struct reader *reader)
{
	return byte_bits_peek(reader->bytes, reader->at, reader->end);
}

static void skip(struct reader *reader, uint64_t count)
{
	if (count > reader->end - reader->at)
		fail(reader);
	else
		reader->at += count;
}

/* The next bits, at most 32; 0 if they are not there. */
static uint32_t take(struct reader *reader, unsigned count)
{
	uint32_t value = count ? peek(reader) >> (32 - count) : 0;

	skip(reader, count);
	return reader->failed ? 0 : value;
}

/* The place of the next code among those of the book. */
static unsigned take_code(struct reader *reader, const struct aac_book *book)
{
	uint32_t bits = peek(reader), first = 0;
	unsigned before = 0;

	for (unsigned len = 1; len <= AAC_CODE_MAX; len++) {
		uint32_t code = bits >> (32 - len);

		first <<= 1;
		if (code - first < book->counts[len]) {
			skip(reader, len);
			return before + (code - first);
		}
		first += book->counts[len];
		before += book->counts[len];
	}
	fail(reader); /* codes are complete */
	return 0;
}

/* Long-term prediction, of long windows. */
static void follow_ltp(struct reader *reader, unsigned band_count)
{
	if (take(reader, 1))
		skip(reader, 11 + 3 + (band_count < LTP_BANDS ? band_count : LTP_BANDS));
}

static void follow_prediction(struct reader *reader, unsigned band_count, bool is_common)
{
	unsigned most = aac_predicted_bands[reader->config->rate];

	if (!take(reader, 1))
		return;
	if (reader->config->object == MAIN) {
		if (take(reader, 1))
			skip(reader, 5);
		skip(reader, band_count < most ? band_count : most);
	} else if (reader->config->object == LTP) {
		follow_ltp(reader, band_count);
		if (is_common)
			follow_ltp(reader, band_count);
	} else {
		fail(reader);
	}
}

/* ics_info. is_common: of both channels. */
static void follow_windows(struct reader *reader, bool is_common, struct windows *windows)
{
	unsigned grouping;

	*windows = (struct windows){ .group_count = 1, .group_lens = { 1 } };
	if (take(reader, 1)) /* reserved */
		fail(reader);
	windows->are_short = take(reader, 2) == EIGHT_SHORT;
	skip(reader, 1);
	if (windows->are_short) {
		windows->bands = &aac_short_bands[reader->config->rate];
		windows->band_count = (uint8_t)take(reader, 4);
		grouping = take(reader, 7);
		for (int bit = 6; bit >= 0; bit--) {
			if (!(grouping >> bit & 1))
				windows->group_lens[windows->group_count++] = 1;
			else
				windows->group_lens[windows->group_count - 1]++;
		}
	} else {
		windows->bands = &aac_long_bands[reader->config->rate];
		windows->band_count = (uint8_t)take(reader, 6);
		follow_prediction(reader, windows->band_count, is_common);
	}
	if (windows->band_count > windows->bands->count)
		fail(reader);
}

/* section_data */
static void follow_sections(struct reader *reader, struct channel *channel)
{
	unsigned bits = channel->windows.are_short ? 3 : 5, most = (1u << bits) - 1;

	for (unsigned group = 0; group < channel->windows.group_count; group++) {
		for (unsigned band = 0; !reader->failed && band < channel->windows.band_count;) {
			uint8_t book = (uint8_t)take(reader, 4);
			unsigned more, end = band;

			do {
				more = take(reader, bits);
				end += more;
			} while (more == most && end <= channel->windows.band_count);
			if (book == RESERVED || end > channel->windows.band_count) {
				fail(reader);
				return;
			}
			while (band < end)
				channel->books[group][band++] = book;
		}
	}
}

/* scale_factor_data */
static void follow_factors(struct reader *reader, const struct channel *channel)
{
	const struct aac_book *book = &aac_books[0];
	int factor = channel->gain;
	bool has_noise = false;

	for (unsigned group = 0; group < channel->windows.group_count; group++) {
		for (unsigned band = 0; !reader->failed && band < channel->windows.band_count;
			band++) {
			uint8_t kind = channel->books[group][band];
			int step;

			if (kind == ZERO)
				continue;
			if (kind == NOISE && !has_noise) {
				has_noise = true;
				skip(reader, 9);
				continue;
			}
			step = book->more[take_code(reader, book)] - 60;
			if (kind <= ESCAPES)
				factor += step;
			if (factor < 0 || factor > 255)
				fail(reader);
		}
	}
}

/* pulse_data */
static void follow_pulses(struct reader *reader, const struct windows *windows)
{
	unsigned count;

	if (!take(reader, 1))
		return;
	count = take(reader, 2) + 1;
	if (windows->are_short || take(reader, 6) > windows->bands->count)
		fail(reader);
	skip(reader, count * (5 + 4));
}

/* tns_data */
static void follow_shaping(struct reader *reader, const struct windows *windows)
{
	bool are_short = windows->are_short;
	unsigned order_max = are_short ? 7 : reader->config->object == MAIN ? 20 : 12;

	if (!take(reader, 1))
		return;
	for (unsigned window = 0; window < (are_short ? 8u : 1u); window++) {
		unsigned filters = take(reader, are_short ? 1 : 2);
		unsigned bits = filters ? 3 + take(reader, 1) : 0;

		for (; filters && !reader->failed; filters--) {
			unsigned order;

			skip(reader, are_short ? 4 : 6);
			order = take(reader, are_short ? 3 : 5);
			if (order > order_max)
				fail(reader);
			if (!order)
				continue;
			skip(reader, 1);
			skip(reader, order * (bits - take(reader, 1)));
		}
	}
}

static void follow_escape(struct reader *reader)
{
	unsigned ones = 0;

	while (!reader->failed && take(reader, 1))
		if (++ones > ESCAPE_MAX)
			fail(reader);
	skip(reader, ones + 4);
}

/* The line at which a band begins, in a window that has `lines` of them. */
static unsigned band_begin(const struct aac_bands *bands, unsigned band, unsigned lines)
{
	unsigned line = band ? bands->ends[band - 1] : 0;

	return line < lines ? line : lines;
}

/* spectral_data */
static void follow_values(struct reader *reader, const struct channel *channel)
{
	const struct windows *windows = &channel->windows;
	unsigned lines = (reader->config->is_960 ? 960u : 1024u) / (windows->are_short ? 8 : 1);

	for (unsigned group = 0; group < windows->group_count; group++) {
		for (unsigned band = 0; band < windows->band_count; band++) {
			unsigned kind = channel->books[group][band];
			const struct aac_book *book = &aac_books[kind <= ESCAPES ? kind : 0];
			unsigned left = (band_begin(windows->bands, band + 1, lines) -
						band_begin(windows->bands, band, lines)) *
					windows->group_lens[group];

			if (kind == ZERO || kind > ESCAPES)
				continue;
			for (; left && !reader->failed; left -= book->lines) {
				unsigned code = take_code(reader, book);
				unsigned more = book->more ? book->more[code] : 0;

				skip(reader, more & 15);
				for (unsigned escapes = more >> 4; escapes; escapes--)
					follow_escape(reader);
			}
		}
	}
}

/* individual_channel_stream. common: the windows of both channels; NULL: it has its own. */
static void follow_channel(
	struct reader *reader, const struct windows *common, struct channel *channel)
{
	channel->gain = (uint8_t)take(reader, 8);
	if (common)
		channel->windows = *common;
	else
		follow_windows(reader, false, &channel->windows);
	if (reader->failed)
		return;
	follow_sections(reader, channel);
	follow_factors(reader, channel);
	follow_pulses(reader, &channel->windows);
	follow_shaping(reader, &channel->windows);
	if (take(reader, 1)) /* gain control: only of object type SSR */
		fail(reader);
	if (!reader->failed)
		follow_values(reader, channel);
}

/* single_channel_element, lfe_channel_element */
static void follow_single(struct reader *reader)
{
	struct channel channel;

	skip(reader, 4);
	follow_channel(reader, NULL, &channel);
}

/* channel_pair_element */
static void follow_pair(struct reader *reader)
{
	struct windows windows;
	struct channel channel;
	bool is_common;

	skip(reader, 4);
	is_common = take(reader, 1);
	if (is_common) {
		unsigned mask;

		follow_windows(reader, true, &windows);
		mask = take(reader, 2);
		if (mask == 3)
			fail(reader);
		if (mask == 1)
			skip(reader, (uint64_t)windows.group_count * windows.band_count);
	}
	for (int i = 0; i < 2 && !reader->failed; i++)
		follow_channel(reader, is_common ? &windows : NULL, &channel);
}

/* The scale factors of an element that is coupled. */
static void follow_gains(struct reader *reader, const struct channel *channel)
{
	for (unsigned group = 0; group < channel->windows.group_count; group++)
		for (unsigned band = 0; band < channel->windows.band_count; band++)
			if (channel->books[group][band] != ZERO)
				take_code(reader, &aac_books[0]);
}

/* coupling_channel_element */
static void follow_coupling(struct reader *reader)
{
	struct channel channel;
	unsigned targets, lists = 0;
	bool is_independent;

	skip(reader, 4);
	is_independent = take(reader, 1);
	targets = take(reader, 3) + 1;
	for (; targets; targets--) {
		bool is_pair = take(reader, 1);

		skip(reader, 4);
		lists += is_pair && take(reader, 2) == 3 ? 2 : 1;
	}
	skip(reader, 1 + 1 + 2);
	follow_channel(reader, NULL, &channel);
	for (unsigned list = 1; list < lists && !reader->failed; list++) {
		if (is_independent || take(reader, 1))
			take_code(reader, &aac_books[0]);
		else
			follow_gains(reader, &channel);
	}
}

static void align(struct reader *reader)
{
	skip(reader, (8 - reader->at % 8) % 8);
}

/* data_stream_element */
static void follow_data(struct reader *reader)
{
	bool is_aligned;
	unsigned len;

	skip(reader, 4);
	is_aligned = take(reader, 1);
	len = take(reader, 8);
	if (len == 255)
		len += take(reader, 8);
	if (is_aligned)
		align(reader);
	skip(reader, (uint64_t)len * 8);
}

/* program_config_element */
static void follow_program(struct reader *reader)
{
	unsigned wide = 0, narrow = 0;

	skip(reader, 4 + 2 + 4);
	for (int i = 0; i < 3; i++) /* front, side, back */
		wide += take(reader, 4);
	narrow += take(reader, 2);  /* LFE */
	narrow += take(reader, 3);  /* data */
	wide += take(reader, 4);    /* coupling */
	for (int i = 0; i < 3; i++) /* mixed down: mono, stereo, by a matrix */
		if (take(reader, 1))
			skip(reader, i < 2 ? 4 : 3);
	skip(reader, wide * 5 + narrow * 4);
	align(reader);
	skip(reader, (uint64_t)take(reader, 8) * 8);
}

/* fill_element */
static void follow_fill(struct reader *reader)
{
	unsigned len = take(reader, 4);

	if (len == 15)
		len += take(reader, 8) - 1;
	if (!reader->failed)
		skip(reader, (uint64_t)len * 8);
}

static void follow_element(struct reader *reader, unsigned id)
{
	switch (id) {
	case SCE:
	case LFE:
		follow_single(reader);
		break;
	case CPE:
		follow_pair(reader);
		break;
	case CCE:
		follow_coupling(reader);
		break;
	case DSE:
		follow_data(reader);
		break;
	case PCE:
		follow_program(reader);
		break;
	default:
		follow_fill(reader);
	}
}

bool aac_frame_follow(const uint8_t *bytes, size_t len, const struct aac_config *config, size_t *at)
{
	struct reader reader = { .bytes = bytes, .end = (uint64_t)len * 8, .config = config };
	unsigned id = FIL;

	while (id != END && !reader.failed) {
		id = take(&reader, 3);
		if (id != END && !reader.failed)
			follow_element(&reader, id);
	}
	*at = (size_t)(reader.at / 8);
	return !reader.failed && reader.end - reader.at < 8;
}

/* The index of a sampling rate in Hz (4.5.1.1). */
static uint8_t rate_index(uint32_t rate)
{
	static const uint32_t least[] = { 92017, 75132, 55426, 46009, 37566, 27713, 23004, 18783,
		13856, 11502, 9391 };
	uint8_t index = 0;

	while (index < sizeof(least) / sizeof(*least) && rate < least[index])
		index++;
	return index;
}

static uint8_t take_object(struct reader *reader)
{
	uint8_t object = (uint8_t)take(reader, 5);

	return object == 31 ? (uint8_t)(32 + take(reader, 6)) : object;
}

static uint8_t take_rate(struct reader *reader)
{
	uint8_t rate = (uint8_t)take(reader, 4);

	return rate == 15 ? rate_index(take(reader, 24)) : rate;
}

bool aac_config_read(const uint8_t *bytes, size_t len, struct aac_config *config)
{
	struct reader reader = { .bytes = bytes, .end = (uint64_t)len * 8, .config = config };
	uint8_t object = take_object(&reader), rate = take_rate(&reader);
	bool is_960;

	*config = (struct aac_config){ 0 };
	skip(&reader, 4); /* channels */
	if (object == SBR || object == PS) {
		take_rate(&reader); /* of what is added */
		object = take_object(&reader);
	}
	is_960 = take(&reader, 1);
	if (reader.failed || (object != MAIN && object != LC && object != LTP) || rate >= AAC_RATES)
		return false;
	*config = (struct aac_config){ .object = object, .rate = rate, .is_960 = is_960 };
	return true;
}
