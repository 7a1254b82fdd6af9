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

/* Symbols that don't decode, in a lane but the first, until it is given up. */
#define RESTARTS 16
/* Lookups of a step, after which more bits are loaded; they take ENTRY_BITS each at most, a symbol that is taken alone 31. Steps between
 * two looks at what is left. */
#define LOOKUPS 3
#define BATCH 16
#define ENTRY_BITS 18
_Static_assert(7 + LOOKUPS * ENTRY_BITS < 64, "lanes have the bits of their lookups");
_Static_assert(BATCH *(LOOKUPS *ENTRY_BITS + 31) / 8 + RESTARTS + 16 < JPEG_BLOCK_ROOM,
	"lanes do not pass what is loaded");
_Static_assert(BATCH < JPEG_LANE_SPARE, "lanes note no more than there is room for");
/* Bytes that a lane decodes after the next one's start, at first. */
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

/* As many symbols of a table's index as take ENTRY_BITS at most; they do not end a block. */
static uint16_t short_entry(const struct jpeg_one *one, unsigned index)
{
	unsigned bits = 0, covered = 0;

	for (;;) {
		uint64_t word = (uint64_t)index << (64 - JPEG_LANE_BITS) << bits;
		unsigned entry = one->fast[word >> (64 - JPEG_ONE_BITS)], len = entry >> 8;

		if (!len || bits + len > JPEG_LANE_BITS || bits + len + (entry & 15) > ENTRY_BITS)
			return lane_entry(bits ? bits | covered << 6 : 0);
		bits += len + (entry & 15);
		covered += (entry >> 4 & 15) + 1;
	}
}

static void build_ac(uint16_t *to, const struct jpeg_many *many, const struct jpeg_one *one)
{
	const uint16_t *entries = many->entries + (1u << JPEG_LANE_BITS);

	for (unsigned i = 0; i < 1u << JPEG_LANE_BITS; i++)
		to[i] = (entries[i] & 63) > ENTRY_BITS ? short_entry(one, i)
						       : lane_entry(entries[i]);
}

/* A DC's code and bits, and as many whole symbols as the rest of the table's bits have. */
static void build_dc(uint16_t *to, const uint16_t *dc, const struct jpeg_many *many)
{
	for (unsigned i = 0; i < 1u << JPEG_LANE_BITS; i++) {
		unsigned entry = dc[i >> (JPEG_LANE_BITS - JPEG_ONE_BITS)];
		unsigned bits = (entry & 0xff) + (entry >> 8), rest, after = 0;

		if (entry && bits < JPEG_LANE_BITS) {
			rest = 1u << (JPEG_LANE_BITS - bits);
			after = lane_entry(many->entries[rest + (i & (rest - 1))]);
		}
		if (after == NONE << 8 || bits + (after & 0xff) > ENTRY_BITS)
			after = 0;
		to[i] = (uint16_t)(!entry || bits > ENTRY_BITS ? NONE << 8 : bits + after);
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
	int dc_of[JPEG_COMPONENTS]; /* components with equal tables share one */

	for (int i = 0; i < jpeg->in_scan; i++) {
		const struct jpeg_component *c = jpeg->scan[i];

		if (!(built >> c->ac_table & 1))
			build_ac(lanes->ac[c->ac_table], &d->tables->many[c->ac_table],
				&d->tables->one[1][c->ac_table]);
		built |= 1u << c->ac_table;
		dc_of[i] = i;
		for (int j = i - 1; j >= 0; j--)
			if (jpeg->scan[j]->ac_table == c->ac_table &&
				jpeg->scan[j]->dc_table == c->dc_table)
				dc_of[i] = j;
		if (dc_of[i] == i)
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
		lanes->blocks[i].changes = lanes->changes[c->dc_table];
		if (!(built >> (8 + c->dc_table) & 1))
			build_changes(lanes->changes[c->dc_table], &d->blocks[i]);
		built |= 0x100u << c->dc_table;
		before->next_dc = lanes->dc[dc_of[of]];
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
	uint64_t at;      /* in bytes[]: the first byte that the state does not count */
	uint64_t started; /* blocks whose starts are noted */
	uint64_t end;     /* the byte up to which it is to decode */
	unsigned restarts;
	bool is_first;
};

/* The next bit in bytes[]. */
JPEG_INLINE uint32_t lane_bit(const struct lane *lane)
{
	return (uint32_t)lane->at * 8 + lane->state % COVERED - 63;
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
	uint32_t taken = lane->state % COVERED;

	starts[lane->started] = (uint32_t)lane->at * 8 + taken;
	lane->table = lane->block->ac;
#ifdef __x86_64__
	/* Compilers make a branch of it, which is mispredicted once a block. */
	__asm__("cmpl %[full], %[state]\n\t"
		"cmovaeq %c[next_dc](%[block]), %[table]\n\t"
		"cmovaeq %c[next](%[block]), %[block]\n\t"
		"cmovael %[taken], %[state]\n\t"
		"sbbq $-1, %[started]"
		: [state] "+r"(lane->state), [table] "+r"(lane->table), [block] "+r"(lane->block),
		[started] "+r"(lane->started)
		: [full] "i"(FULL * COVERED),
		[next_dc] "i"(offsetof(struct jpeg_lane_block, next_dc)),
		[next] "i"(offsetof(struct jpeg_lane_block, next)), [taken] "r"(taken),
		"m"(*lane->block)
		: "cc");
#else
	if (lane->state >= FULL * COVERED) {
		lane->table = lane->block->next_dc;
		lane->block = lane->block->next;
		lane->state = taken;
		lane->started++;
	}
#endif
}

/* Before a step. */
JPEG_INLINE void lane_refill(struct lane *lane, const uint8_t *bytes)
{
	lane->held |= be64(bytes + lane->at) >> (~lane->state & 63);
	lane->at += lane->state % COVERED / 8;
	lane->state &= ~(COVERED - 8);
}

/* A lookup; may_end: of which nothing is taken where the block has ended. */
JPEG_INLINE void look_up(struct lane *lane, const uint16_t *table, bool may_end, bool bmi2)
{
	uint64_t taken = table[lane->held >> (64 - JPEG_LANE_BITS)];

#ifdef __x86_64__
	static const uint64_t nothing = 0;

	if (may_end)
		__asm__("cmpl %[full], %[state]\n\t"
			"cmovaeq %[nothing], %[taken]"
			: [taken] "+r"(taken)
			:
			[state] "r"(lane->state), [full] "i"(FULL * COVERED), [nothing] "m"(nothing)
			: "cc");
	if (bmi2)
		__asm__("shlxq %1, %0, %0" : "+r"(lane->held) : "r"(taken));
	else
		lane->held <<= taken & 63;
#else
	(void)bmi2;
	taken = may_end && lane->state >= FULL * COVERED ? 0 : taken;
	lane->held <<= taken & 63;
#endif
	lane->state += (uint32_t)taken;
}

/* What was read has no meaning as a symbol: a lane that did not start at a block's start starts anew a byte further. False: it is the
 * first lane, or that was too often. */
static bool start_anew(struct jpeg_decoder *d, struct lane *lane)
{
	const struct jpeg_lane_block *blocks = d->own->lanes.blocks;

	if (lane->is_first || ++lane->restarts == RESTARTS)
		return false;
	lane->started = 0;
	go_on(lane, d->bits.bytes, lane_bit(lane) + 8, blocks, blocks[d->block_count - 1].next_dc,
		0);
	return true;
}

/* Whether a lane has not decoded all that it should, and may note more starts. */
JPEG_INLINE bool goes_on(const struct lane *lane)
{
	return lane->at < lane->end && lane->started < JPEG_LANE_STARTS;
}

/* Among the symbols that were looked up last, from a state on, is an odd one: goes back, and takes that alone. False: the lane can't go on. */
static __attribute__((noinline)) bool take_odd(
	struct jpeg_decoder *d, struct lane *lane, uint32_t state, uint32_t *starts)
{
	unsigned entry;

	lane->state = state;
	go_on(lane, d->bits.bytes, lane_bit(lane), lane->block, lane->table, state / COVERED);
	state = lane->state;
	do {
		if (state != lane->state)
			lane->table = lane->block->ac;
		entry = lane->table[lane->held >> (64 - JPEG_LANE_BITS)];
		lane->held <<= entry & 63;
		lane->state += entry;
	} while (!(lane->state & ODD * COVERED));
	return take_symbol(d, lane, entry, starts) || start_anew(d, lane);
}

/* A step. The compiler keeps no variable in registers whose address another function gets, so only copies are passed on. */
#define STEP(l, starts) \
	do { \
		uint32_t before = l.state; \
\
		look_up(&l, l.table, false, bmi2); \
		for (int step = 1; step < LOOKUPS; step++) \
			look_up(&l, l.block->ac, true, bmi2); \
		if (UNLIKELY(l.state & ODD * COVERED)) { \
			struct lane copy = l; \
			bool taken = take_odd(d, &copy, before, starts); \
\
			l = copy; \
			if (!taken) \
				goto out; \
		} else { \
			end_block(&l, starts); \
		} \
	} while (0)

/* Decodes with all lanes while all of them go on. False: one can't. */
JPEG_INLINE bool run_all(struct jpeg_decoder *d, struct lane *lanes, bool bmi2)
{
	struct lane a = lanes[0], b = lanes[1], c = lanes[2];
	const uint8_t *bytes = d->bits.bytes;
	bool can = false;

	while (goes_on(&a) && goes_on(&b) && goes_on(&c)) {
		for (int i = 0; i < BATCH; i++) {
			lane_refill(&a, bytes);
			lane_refill(&b, bytes);
			lane_refill(&c, bytes);
			STEP(a, d->own->lanes.starts[0]);
			STEP(b, d->own->lanes.starts[1]);
			STEP(c, d->own->lanes.starts[2]);
		}
	}
	can = true;
out:
	lanes[0] = a;
	lanes[1] = b;
	lanes[2] = c;
	return can;
}

/* The same with two lanes, or the same one twice: with that one. */
JPEG_INLINE bool run_two(
	struct jpeg_decoder *d, struct lane *lanes, unsigned first, unsigned second, bool bmi2)
{
	uint32_t *starts[2] = { d->own->lanes.starts[first], d->own->lanes.starts[second] };
	struct lane a = lanes[first], b = lanes[second];
	const uint8_t *bytes = d->bits.bytes;
	bool can = false;

	while (first != second && goes_on(&a) && goes_on(&b)) {
		for (int i = 0; i < BATCH; i++) {
			lane_refill(&a, bytes);
			lane_refill(&b, bytes);
			STEP(a, starts[0]);
			STEP(b, starts[1]);
		}
	}
	while (first == second && goes_on(&a)) {
		lane_refill(&a, bytes);
		STEP(a, starts[0]);
	}
	can = true;
out:
	if (first != second)
		lanes[second] = b;
	lanes[first] = a;
	return can;
}

/* Decodes with all lanes until each but the last has reached its end, or can't go on. */
JPEG_INLINE void run_lanes(struct jpeg_decoder *d, struct lane *lanes, bool bmi2)
{
	const unsigned last = JPEG_LANES - 1;
	bool can = run_all(d, lanes, bmi2);

	for (unsigned i = 0; can && i < last; i++) {
		unsigned other = i + 1 < last && goes_on(&lanes[i + 1]) ? i + 1 : last;

		if (goes_on(&lanes[i]) && goes_on(&lanes[other]))
			can = run_two(d, lanes, i, other, bmi2);
		if (can && goes_on(&lanes[i]) && other != last && goes_on(&lanes[last]))
			can = run_two(d, lanes, i, last, bmi2);
		if (can && goes_on(&lanes[i]))
			can = run_two(d, lanes, i, i, bmi2);
	}
}
#undef STEP

static void run_lanes_any(struct jpeg_decoder *d, struct lane *lanes)
{
	run_lanes(d, lanes, false);
}

#ifdef __x86_64__
__attribute__((target("bmi2"))) static void run_lanes_bmi2(
	struct jpeg_decoder *d, struct lane *lanes)
{
	run_lanes(d, lanes, true);
}
#endif

/* ---- rounds ---- */

typedef void run_function(struct jpeg_decoder *, struct lane *);

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
	const struct jpeg_block *first = d->blocks, *end = first + d->block_count,
				*of = first + block;
	const struct jpeg_lane_block *lanes = d->own->lanes.blocks, *lane = lanes + block;
	const uint8_t *bytes = d->bits.bytes;
	uint32_t bit = starts[0] - 63;
	int32_t dcs[JPEG_COMPONENTS];
	size_t i;

	memcpy(dcs, d->dc, sizeof(dcs));
	for (i = 0; i < count; i++) {
		uint32_t after = starts[i + 1] - 63;
		uint64_t word = be64(bytes + bit / 8) << bit % 8;
		int32_t change = lane->changes[word >> (64 - JPEG_CHANGE_BITS)], dc;

		if (UNLIKELY(change == JPEG_CHANGE_NONE) && !take_long_dc(of, word, &change))
			break;
		dc = dcs[of->number] + change;
		/* As jpeg_accept_block has it, but for zeros before that may be older. Whether a block is long no processor predicts. */
		if (UNLIKELY(((uint32_t)dc + of->bound > 2 * of->bound) |
			     ((after - bit >= 128) & !be64(bytes + (after + 7) / 8 - 8))))
			break;
		dcs[of->number] = dc;
		bit = after;
		of++;
		lane++;
		if (of == end) {
			of = first;
			lane = lanes;
		}
	}
	memcpy(d->dc, dcs, sizeof(dcs));
	return i;
}

/* The first of sorted numbers that is not below another; count: all are. */
static size_t find_from(const uint32_t *numbers, size_t count, uint32_t least)
{
	size_t from = 0;

	while (count) {
		size_t half = count / 2;

		if (numbers[from + half] < least) {
			from += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return from;
}

/* Blocks that follow each other, by their starts; after them is the next one's start. */
struct stretch {
	const uint32_t *starts;
	size_t count;
};

/* Where the blocks of a stretch that a lane decoded, and those that the next lane noted, have a start in common, that of the same block of
 * an MCU: shortens the first to the blocks before it, and sets the second to those after it. block: the number of the stretch's
 * first one in its MCU. */
static bool find_meeting(const struct jpeg_decoder *d, struct stretch *first, unsigned block,
	const uint32_t *noted, size_t count, struct stretch *second)
{
	unsigned block_count = (unsigned)d->block_count;
	size_t i = count ? find_from(first->starts, first->count + 1, noted[0]) : 0, j = 0;

	while (i <= first->count && j < count) {
		if (first->starts[i] < noted[j]) {
			i++;
		} else if (first->starts[i] > noted[j]) {
			j++;
		} else if ((i + block) % block_count == (j + 1) % block_count) {
			first->count = i;
			*second = (struct stretch){ noted + j, count - 1 - j };
			return true;
		} else {
			i++;
		}
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

/* Where a lane noted as many starts as it can before its end, they begin closer to each other in the next round. */
static void adapt_distance(struct jpeg_lanes *all, const struct lane *lanes, uint32_t begin)
{
	uint32_t distance = all->distance * 5 / 4 + 1;

	for (unsigned i = 0; i < JPEG_LANES - 1; i++) {
		uint32_t began = begin + i * (uint32_t)(lanes[0].end - begin - all->overlap);

		if (lanes[i].at < lanes[i].end && lanes[i].started >= JPEG_LANE_STARTS)
			distance = (uint32_t)(lanes[i].at - began) / 4 + 1;
	}
	all->distance = distance < JPEG_BITS_LEN ? distance : JPEG_BITS_LEN;
}

/* Decodes with all lanes, up to *mcus MCUs, and subtracts those that were. */
static bool decode_round(struct jpeg_decoder *d, size_t left, uint64_t *mcus)
{
	struct jpeg_lanes *all = &d->own->lanes;
	uint32_t at = (uint32_t)(d->bits.buffer.next - d->bits.bytes) * 8 - d->bits.buffer.count;
	size_t distance = (left - all->overlap) / JPEG_LANES, total = 0, taken = 0, decoded,
	       met = 1;
	unsigned block_count = (unsigned)d->block_count;
	struct lane lanes[JPEG_LANES] = { { .is_first = true, .started = 1 } };
	const uint16_t *dc = all->blocks[block_count - 1].next_dc;
	struct stretch stretches[JPEG_LANES];
	uint64_t blocks = *mcus * block_count;

	if (distance > all->distance)
		distance = all->distance;
	for (unsigned i = 0; i < JPEG_LANES; i++) {
		uint32_t byte = at / 8 + i * (uint32_t)distance;

		go_on(&lanes[i], d->bits.bytes, i ? byte * 8 : at, all->blocks, dc, 0);
		lanes[i].end =
			byte + (i < JPEG_LANES - 1 ? distance + all->overlap : left - i * distance);
	}
	all->starts[0][0] = at + 63;
	choose(d)(d, lanes);
	adapt_distance(all, lanes, at / 8);
	decoded = lanes[0].started - 1;
	stretches[0] = (struct stretch){ all->starts[0], decoded };
	for (unsigned i = 1; i < JPEG_LANES; i++) {
		decoded += lanes[i].started;
		if (met == i && find_meeting(d, &stretches[i - 1], (unsigned)(total % block_count),
					all->starts[i], lanes[i].started, &stretches[i]))
			total += stretches[met++ - 1].count;
	}
	total += stretches[met - 1].count;
	if (total > blocks)
		total = (size_t)blocks;
	total -= total % block_count;
	for (unsigned i = 0; i < met; i++) {
		size_t count = total - taken, some;

		if (count > stretches[i].count)
			count = stretches[i].count;
		some = take_dcs(d, stretches[i].starts, count, (unsigned)(taken % block_count));
		taken += some;
		at = stretches[i].starts[some] - 63;
		if (some < count || taken == total)
			break;
	}
	d->jpeg->rounds++;
	judge_round(all, met == JPEG_LANES, met > 1 && taken >= decoded / 4);
	if (taken)
		d->zero_blocks = 0;
	*mcus -= taken / block_count;
	if (!jpeg_count_work(d, taken / block_count))
		return false;
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
