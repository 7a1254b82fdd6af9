#include "jpeg_lanes.h"

#include <string.h>

#include "jpeg_decoder.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/*
 * A lane counts the coefficients after the DC in a byte: 0 to 62 within a block, 63 when it is full. An end
 * code adds END. So a block has ended at 63 and above, and bit 6 is set where one ended within an entry, or
 * where there was no whole code (NONE): such symbols are taken one by one.
 */
#define FULL 63u
#define END 129u
#define NONE 64u
#define ODD 64u

/* Symbols that don't decode, in the second lane, until it is given up. */
#define RESTARTS 16
/* Pairs of steps between two looks at what is left. A step takes 31 bits at most. */
#define BATCH 16
_Static_assert(
	2 * BATCH * 31 / 8 + RESTARTS + 16 < JPEG_BLOCK_ROOM, "lanes do not pass what is loaded");
_Static_assert(2 * BATCH < JPEG_LANE_SPARE, "lanes note no more than there is room for");
/* Bytes that the first lane decodes after the second's start, at first. */
#define OVERLAP 512
#define EAGER_OVERLAP 16
#define OVERLAP_MAX 4096
/* Rounds of little use, each of which counts twice, until lanes are given up. */
#define MISSES 12
/* Blocks that have to be left for lanes to begin; MCUs decoded alone before the next attempt. */
#define BLOCKS_MIN 512
#define ALONE 256

/* ---- tables ---- */

/* An entry of jpeg_many, as a lane has it. */
static uint16_t lane_entry(unsigned many)
{
	unsigned bits = many & 63, covered = many >> 6 & 255;

	if (!many || (many >> 6 & JPEG_MANY_NONE) || covered > FULL)
		return NONE << 8;
	return (uint16_t)(bits | (covered + (many >> 6 & JPEG_MANY_EOB ? END : 0)) << 8);
}

static void build_ac(uint16_t *to, const struct jpeg_many *many)
{
	const uint16_t *entries = many->entries + (1u << JPEG_LANE_BITS);

	for (unsigned i = 0; i < 1u << JPEG_LANE_BITS; i++)
		to[i] = lane_entry(entries[i]);
}

/* A DC's code and bits, and as many whole symbols as the rest of the table's bits have. */
static void build_dc(uint16_t *to, const uint16_t *dc, const struct jpeg_many *many)
{
	for (unsigned i = 0; i < 1u << JPEG_LANE_BITS; i++) {
		unsigned entry = dc[i >> (JPEG_LANE_BITS - JPEG_ONE_BITS)];
		unsigned bits = (entry & 0xff) + (entry >> 8), rest, after = NONE << 8;

		if (entry && bits < JPEG_LANE_BITS) {
			rest = 1u << (JPEG_LANE_BITS - bits);
			after = lane_entry(many->entries[rest + (i & (rest - 1))]);
		}
		to[i] = (uint16_t)(!entry ? NONE << 8 : after == NONE << 8 ? bits : bits + after);
	}
}

/* The difference of a block's DC whose bits begin `word`. False: an unusual one. */
JPEG_INLINE bool take_long_dc(const struct jpeg_block *block, uint64_t word, int32_t *change)
{
	unsigned entry = block->dc[word >> (64 - JPEG_ONE_BITS)], size = entry >> 8;

	word <<= entry & 63;
	/* Values that start with 0 are negative. */
	*change = (int32_t)(word >> 1 >> (63 - size)) -
		  (int32_t)(((1u << size) - 1) & ~(uint32_t)((int64_t)word >> 63));
	return entry != 0;
}

static void build_changes(int16_t *to, const struct jpeg_block *block)
{
	for (unsigned i = 0; i < 1u << JPEG_CHANGE_BITS; i++) {
		uint64_t word = (uint64_t)i << (64 - JPEG_CHANGE_BITS);
		unsigned entry = block->dc[word >> (64 - JPEG_ONE_BITS)];
		int32_t change;

		to[i] = JPEG_CHANGE_NONE;
		if ((entry & 0xff) + (entry >> 8) <= JPEG_CHANGE_BITS &&
			take_long_dc(block, word, &change))
			to[i] = (int16_t)change;
	}
}

void jpeg_lanes_prepare(struct jpeg_decoder *d)
{
	struct jpeg_lanes *lanes = &d->own->lanes;
	const struct jpeg *jpeg = d->jpeg;
	unsigned built = 0;

	for (int i = 0; i < jpeg->in_scan; i++) {
		const struct jpeg_component *c = jpeg->scan[i];

		if (!(built >> c->ac_table & 1))
			build_ac(lanes->ac[c->ac_table], &d->tables->many[c->ac_table]);
		built |= 1u << c->ac_table;
		build_dc(lanes->dc[i], d->tables->dc_lookup[c->dc_table],
			&d->tables->many[c->ac_table]);
	}
	for (int i = 0; i < d->block_count; i++) {
		const struct jpeg_component *c = d->blocks[i].component;
		struct jpeg_lane_block *before =
			&lanes->blocks[(i + d->block_count - 1) % d->block_count];
		int of = 0;

		while (jpeg->scan[of] != c)
			of++;
		lanes->blocks[i].ac = lanes->ac[c->ac_table];
		lanes->blocks[i].changes = lanes->changes[of];
		if (i == 0 || c != d->blocks[i - 1].component)
			build_changes(lanes->changes[of], &d->blocks[i]);
		before->next_dc = lanes->dc[of];
		before->next = &lanes->blocks[i];
	}
	lanes->overlap = jpeg->eager ? EAGER_OVERLAP : OVERLAP;
	lanes->blocks_min = jpeg->eager ? 1 : BLOCKS_MIN;
	lanes->distance = JPEG_BITS_LEN;
	lanes->misses = 0;
	lanes->usable = true;
	d->bits.load_len = JPEG_BITS_LEN;
}

/* ---- lanes ---- */

/* A lane's state is COVERED times the coefficients, and the bits of `held` that were taken, less one: 0 to 62. So a
 * lookup adds its entry to it. */
#define COVERED 256u

struct lane {
	uint64_t held; /* as in jpeg_buffer, whose count is 63 less than what the state has */
	const uint16_t *table;
	const struct jpeg_lane_block *block;
	uint32_t state;
	uint32_t at;      /* in bytes[]: the first byte that the state does not count */
	uint32_t started; /* blocks whose starts are noted */
};

/* The next bit in bytes[]. */
JPEG_INLINE uint32_t lane_bit(const struct lane *lane)
{
	return lane->at * 8 + lane->state % COVERED - 63;
}

/* Goes to a bit of bytes[], in a block. */
static void go_on(struct lane *lane, const uint8_t *bytes, uint32_t bit,
	const struct jpeg_lane_block *block, const uint16_t *table, unsigned covered)
{
	lane->at = bit / 8 + 7;
	lane->held = be64(bytes + bit / 8) << bit % 8;
	lane->state = 7 + bit % 8 + covered * COVERED;
	lane->block = block;
	lane->table = table;
}

/* Takes the symbol alone that an entry has at its start, or that none has. False: it has no meaning there. */
static bool take_symbol(struct jpeg_decoder *d, struct lane *lane, unsigned entry, uint32_t *starts)
{
	const struct jpeg_lane_block *at = lane->block;
	const struct jpeg_block *block = &d->blocks[at - d->own->lanes.blocks];
	bool dc = lane->table != at->ac, ends = false;
	struct jpeg_buffer buffer;
	unsigned covered;
	uint32_t bit;
	int code;

	lane->state -= entry;
	covered = lane->state / COVERED;
	bit = lane_bit(lane);
	buffer.next = d->bits.bytes + bit / 8 + 7;
	buffer.held = be64(buffer.next - 7) << bit % 8;
	buffer.count = 56 - bit % 8;
	code = jpeg_one_take(
		dc ? &d->tables->one[0][block->component->dc_table] : block->one, &buffer);
	if (code < 0 || (dc && code > 15))
		return false;
	if (!dc && code == 0) {
		ends = true;
	} else if (!dc) {
		covered += ((unsigned)code >> 4) + 1;
		if (((code & 15) == 0 && code != 0xf0) || covered > FULL)
			return false;
		ends = covered == FULL;
	}
	jpeg_skip(&buffer, (unsigned)code & 15);
	bit = (uint32_t)(buffer.next - d->bits.bytes) * 8 - buffer.count;
	if (ends) {
		starts[lane->started++] = bit + 63;
		go_on(lane, d->bits.bytes, bit, at->next, at->next_dc, 0);
	} else {
		go_on(lane, d->bits.bytes, bit, at, at->ac, covered);
	}
	return true;
}

/* Goes on to the next block, and notes its start (and 63), if the block ended. */
JPEG_INLINE void end_block(struct lane *lane, uint32_t *starts)
{
	const struct jpeg_lane_block *block = lane->block;
	uint32_t taken = lane->state % COVERED;

	starts[lane->started] = lane->at * 8 + taken;
	lane->table = block->ac;
#ifdef __x86_64__
	/* Compilers make a branch of it, which is mispredicted once a block. */
	__asm__("cmpl %[full], %[state]\n\t"
		"cmovaeq %[next_dc], %[table]\n\t"
		"cmovaeq %[next], %[block]\n\t"
		"cmovael %[taken], %[state]\n\t"
		"sbbl $-1, %[started]"
		: [state] "+&r"(lane->state), [table] "+&r"(lane->table),
		[block] "+&r"(lane->block), [started] "+&r"(lane->started)
		: [full] "i"(FULL * COVERED), [next_dc] "m"(block->next_dc),
		[next] "m"(block->next), [taken] "r"(taken)
		: "cc");
#else
	if (lane->state >= FULL * COVERED) {
		lane->table = block->next_dc;
		lane->block = block->next;
		lane->state = taken;
		lane->started++;
	}
#endif
}

JPEG_INLINE void lane_refill(struct lane *lane, const uint8_t *bytes)
{
	uint32_t taken = lane->state % COVERED;

	lane->held |= be64(bytes + lane->at) >> (63 - taken);
	lane->at += taken / 8;
	lane->state &= ~(COVERED - 8);
}

/* A lookup. False: the entry, which was taken, is odd. */
JPEG_INLINE bool lane_step(struct lane *lane, unsigned *entry)
{
	*entry = lane->table[lane->held >> (64 - JPEG_LANE_BITS)];
	lane->held <<= *entry & 63;
	lane->state += *entry;
	return !UNLIKELY(lane->state & ODD * COVERED);
}

/* The second lane's symbol has no meaning: it starts anew a byte further. False: that was too often. */
static bool start_anew(struct jpeg_decoder *d, struct lane *lane, unsigned *restarts)
{
	const struct jpeg_lane_block *blocks = d->own->lanes.blocks;

	lane->started = 0;
	go_on(lane, d->bits.bytes, lane_bit(lane) + 8, blocks, blocks[d->block_count - 1].next_dc,
		0);
	return ++*restarts < RESTARTS;
}

/* Decodes with both lanes until the first is at byte `end`, or has noted as many starts as it can; the second one up to `second_end` at
 * most. False: the first lane's next symbol has no meaning. */
JPEG_INLINE bool run_lanes(struct jpeg_decoder *d, struct lane *first, struct lane *second,
	uint32_t end, uint32_t second_end)
{
	struct lane a = *first, b = *second;
	unsigned entry, restarts = 0;
	bool valid = true;

#define STEP(l, n, otherwise) \
	do { \
		if (lane_step(&l, &entry)) { \
			end_block(&l, d->own->lanes.starts[n]); \
		} else { \
			struct lane copy = l; \
			bool taken = take_symbol(d, &copy, entry, d->own->lanes.starts[n]) || \
				     otherwise; \
\
			l = copy; \
			if (!taken) \
				goto out; \
		} \
	} while (0)
#define STEP_A() STEP(a, 0, (valid = false))
#define STEP_B() STEP(b, 1, start_anew(d, &copy, &restarts))

	while (a.at < end && b.at < second_end && a.started < JPEG_LANE_STARTS &&
		b.started < JPEG_LANE_STARTS) {
		for (int i = 0; i < BATCH; i++) {
			lane_refill(&a, d->bits.bytes);
			lane_refill(&b, d->bits.bytes);
			STEP_A();
			STEP_B();
			STEP_A();
			STEP_B();
		}
	}
	while (a.at < end && a.started < JPEG_LANE_STARTS) {
		for (int i = 0; i < BATCH; i++) {
			lane_refill(&a, d->bits.bytes);
			STEP_A();
			STEP_A();
		}
	}
out:
	*first = a;
	*second = b;
	return valid;
#undef STEP_A
#undef STEP_B
#undef STEP
}

static bool run_lanes_any(struct jpeg_decoder *d, struct lane *first, struct lane *second,
	uint32_t end, uint32_t second_end)
{
	return run_lanes(d, first, second, end, second_end);
}

#ifdef __x86_64__
__attribute__((target("bmi2"))) static bool run_lanes_bmi2(struct jpeg_decoder *d,
	struct lane *first, struct lane *second, uint32_t end, uint32_t second_end)
{
	return run_lanes(d, first, second, end, second_end);
}
#endif

/* ---- rounds ---- */

typedef bool run_function(struct jpeg_decoder *, struct lane *, struct lane *, uint32_t, uint32_t);

static run_function *choose(const struct jpeg_decoder *d)
{
#ifdef __x86_64__
	if (!d->jpeg->portable && __builtin_cpu_supports("bmi2"))
		return run_lanes_bmi2;
#else
	(void)d;
#endif
	return run_lanes_any;
}

/* Takes the DCs of blocks that start at starts[0] to starts[count - 1], each of which ends at the next start. block: the first one's
 * number in its MCU. Returns how many of them, up to the first that is unusual. */
static size_t take_dcs(struct jpeg_decoder *d, const uint32_t *starts, size_t count, unsigned block)
{
	const uint8_t *bytes = d->bits.bytes;
	uint32_t bit = starts[0] - 63;

	for (size_t i = 0; i < count; i++) {
		const struct jpeg_block *of = &d->blocks[block];
		uint32_t after = starts[i + 1] - 63;
		uint64_t word = be64(bytes + bit / 8) << bit % 8;
		int32_t change = d->own->lanes.blocks[block]
					 .changes[word >> (64 - JPEG_CHANGE_BITS)],
			dc;

		if (UNLIKELY(change == JPEG_CHANGE_NONE) && !take_long_dc(of, word, &change))
			return i;
		dc = *of->prediction + change;
		if (UNLIKELY((uint32_t)dc + of->bound > 2 * of->bound))
			return i;
		/* As jpeg_accept_block has it, but for zeros before that may be older. */
		if (UNLIKELY(after - bit >= 128) && UNLIKELY(!be64(bytes + (after + 7) / 8 - 8)))
			return i;
		*of->prediction = dc;
		bit = after;
		if (++block == (unsigned)d->block_count)
			block = 0;
	}
	return count;
}

/* Where the lanes' blocks have a start in common: starts[0][*i] is starts[1][*j], of the same block of an MCU. */
static bool find_meeting(
	const struct jpeg_decoder *d, size_t first_count, size_t second_count, size_t *i, size_t *j)
{
	const uint32_t *first = d->own->lanes.starts[0], *second = d->own->lanes.starts[1];

	for (*i = *j = 0; *i <= first_count && *j < second_count;) {
		if (first[*i] < second[*j])
			++*i;
		else if (first[*i] > second[*j])
			++*j;
		else if (*i % (unsigned)d->block_count == (*j + 1) % (unsigned)d->block_count)
			return true;
		else
			++*i;
	}
	return false;
}

static void go_to(struct jpeg_decoder *d, uint32_t bit)
{
	struct jpeg_buffer *buffer = &d->bits.buffer;

	buffer->next = d->bits.bytes + bit / 8;
	buffer->held = 0;
	buffer->count = 0;
	jpeg_refill(buffer);
	jpeg_skip(buffer, bit % 8);
}

/* Decodes the blocks of an MCU from one on, at a place, with the plain decoder. */
static bool take_plainly(struct jpeg_decoder *d, uint32_t bit, unsigned block)
{
	go_to(d, bit);
	if (!jpeg_count_work(d, 1))
		return false;
	for (; block < (unsigned)d->block_count; block++)
		if (!jpeg_decode_block(d, d->blocks[block].component, NULL))
			return false;
	return true;
}

/* Bytes that lanes may decode. */
static size_t bytes_left(const struct jpeg_bits *b)
{
	size_t left = (size_t)(b->end - b->buffer.next) + b->buffer.count / 8;

	return left < JPEG_BLOCK_ROOM ? 0 : left - JPEG_BLOCK_ROOM;
}

/* fair: the lanes met, and what they decoded was of use. Otherwise a hostile scan could have the same bytes
 * decoded again and again. */
static void judge_round(struct jpeg_lanes *lanes, bool met, bool fair)
{
	if (fair)
		lanes->misses -= lanes->misses != 0;
	else
		lanes->misses += 2;
	if (!met)
		lanes->overlap =
			lanes->overlap * 2 < OVERLAP_MAX ? lanes->overlap * 2 : OVERLAP_MAX;
}

/* Decodes with two lanes, up to *mcus MCUs, and subtracts those that were. */
static bool decode_round(struct jpeg_decoder *d, size_t left, uint64_t *mcus)
{
	struct jpeg_lanes *lanes = &d->own->lanes;
	uint32_t *starts[2] = { lanes->starts[0], lanes->starts[1] };
	uint32_t at = (uint32_t)(d->bits.buffer.next - d->bits.bytes) * 8 - d->bits.buffer.count,
		 second_at, end;
	size_t distance = (left - lanes->overlap) / 2, counts[2], i, j, total, taken;
	unsigned block_count = (unsigned)d->block_count;
	struct lane first = { .started = 1 }, second = { .started = 0 };
	const uint16_t *dc = lanes->blocks[block_count - 1].next_dc;
	uint64_t blocks = *mcus * block_count;
	bool met, valid;

	if (distance > lanes->distance)
		distance = lanes->distance;
	second_at = at / 8 + (uint32_t)distance;
	end = second_at + lanes->overlap;
	starts[0][0] = at + 63;
	go_on(&first, d->bits.bytes, at, lanes->blocks, dc, 0);
	go_on(&second, d->bits.bytes, second_at * 8, lanes->blocks, dc, 0);
	valid = choose(d)(d, &first, &second, end, at / 8 + (uint32_t)left);
	counts[0] = first.started - 1;
	counts[1] = second.started;
	if (first.at >= end)
		lanes->distance = lanes->distance < JPEG_BITS_LEN ? lanes->distance * 5 / 4 + 1
								  : JPEG_BITS_LEN;
	else if (valid)
		lanes->distance = (first.at - at / 8) / 4 + 1;
	met = find_meeting(d, counts[0], counts[1], &i, &j);
	if (!met)
		i = counts[0];
	total = met ? i + counts[1] - 1 - j : i;
	if (total > blocks)
		total = (size_t)blocks;
	total -= total % block_count;
	taken = take_dcs(d, starts[0], i < total ? i : total, 0);
	if (taken == i && i < total)
		taken += take_dcs(d, starts[1] + j, total - i, (unsigned)(i % block_count));
	d->jpeg->rounds++;
	judge_round(lanes, met, met && taken >= (counts[0] + counts[1]) / 4);
	if (taken)
		d->zero_blocks = 0;
	*mcus -= taken / block_count;
	if (!jpeg_count_work(d, taken / block_count))
		return false;
	at = (taken < i || !met ? starts[0][taken] : starts[1][j + taken - i]) - 63;
	if (taken == total && total) {
		go_to(d, at);
		return true;
	}
	--*mcus;
	return take_plainly(d, at, (unsigned)(taken % block_count));
}

bool jpeg_lanes_run(struct jpeg_decoder *d, uint64_t mcus)
{
	struct jpeg_bits *b = &d->bits;

	while (mcus) {
		bool usable = d->own->lanes.usable &&
			      (d->own->lanes.misses < MISSES || d->jpeg->eager) &&
			      mcus * (unsigned)d->block_count >= d->own->lanes.blocks_min;
		uint64_t alone = mcus < ALONE ? mcus : ALONE;
		size_t left = bytes_left(b);

		if (usable && left < JPEG_BITS_LEN / 2) {
			jpeg_bits_fill(b);
			left = bytes_left(b);
		}
		if (usable && left > 2 * d->own->lanes.overlap) {
			if (!decode_round(d, left, &mcus))
				return false;
			continue;
		}
		if (!jpeg_count_work(d, alone) || !d->run(d, NULL, alone))
			return false;
		mcus -= alone;
	}
	return true;
}
