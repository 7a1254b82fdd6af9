/*
 * Decodes blocks, row by row, that are valid: nearly all. The bit buffer is kept in variables, and a
 * lookup takes several symbols (jpeg_lookup.h). Whatever is unusual (codes longer than the tables,
 * blocks that end within an entry) is decoded symbol by symbol, and what looks invalid by
 * jpeg_decode_block, from the block's start.
 *
 * Each function exists twice: as the compiler makes it for any processor, and for those with BMI2,
 * whose shifts take their count from any register, and POPCNT.
 */
#include "jpeg_decoder.h"

#include <string.h>

/* Bits of the lookup tables of small scans. */
#define SMALL_BITS 8

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Whether the last bytes that a block took may be 16 zeros. */
JPEG_INLINE bool maybe_zeros(const struct jpeg_buffer *buffer, const struct jpeg_buffer *start)
{
	uint64_t bytes;

	memcpy(&bytes, buffer->next - 16, 8);
	return bytes == 0 && jpeg_taken(buffer, start) >= 128;
}

/* Decodes the block again, from `start`, with the plain decoder. The compiler keeps no variable in
 * registers whose address another function gets, so only copies are passed on. */
JPEG_INLINE bool decode_plainly(struct jpeg_decoder *d, struct jpeg_buffer *buffer,
	const struct jpeg_buffer *start, struct jpeg_component *c, uint64_t *history)
{
	d->bits.buffer = *start;
	if (!jpeg_decode_block(d, c, history))
		return false;
	*buffer = d->bits.buffer;
	return true;
}

/* After a block that took `bits` bits, where more may have to be loaded or zeros were met. */
JPEG_INLINE bool accept_block(struct jpeg_decoder *d, struct jpeg_buffer *buffer, uint64_t bits)
{
	d->bits.buffer = *buffer;
	if (!jpeg_accept_block(d, bits))
		return false;
	*buffer = d->bits.buffer;
	return true;
}

/* Takes the DC's difference, and adds it to *dc. False: an unusual one, or out of range. */
JPEG_INLINE bool take_dc(struct jpeg_buffer *buffer, const struct jpeg_block *block, int32_t *dc)
{
	unsigned entry = block->dc[buffer->held >> (64 - JPEG_ONE_BITS)], size = entry >> 8;
	uint64_t value;

	buffer->held <<= entry & 63;
	value = buffer->held;
	buffer->held <<= size;
	buffer->count -= (entry & 0xff) + size;
	*dc = *block->prediction + (int32_t)(value >> 1 >> (63 - size));
	/* Values that start with 0 are negative. */
	*dc -= (int32_t)(((1u << size) - 1) & ~(uint32_t)((int64_t)value >> 63));
	return entry && (uint32_t)*dc + block->bound <= 2 * block->bound;
}

/* Takes a sequential block's AC coefficients. */
JPEG_INLINE bool take_ac(struct jpeg_buffer *buffer, const struct jpeg_block *block, unsigned shift)
{
	const uint16_t *ac = block->ac;
	uint32_t entry, k = 1;
	uint64_t held;
	int code;

#define TAKE_MANY() \
	do { \
		entry = ac[buffer->held >> shift]; \
		held = buffer->held; \
		buffer->held <<= entry & 63; \
		buffer->count -= entry & 63; \
		k += entry >> 6; \
	} while (0)

	TAKE_MANY();
	for (;;) {
		while (k < 64) {
			jpeg_refill(buffer);
			TAKE_MANY();
			if (k >= 64)
				break;
			TAKE_MANY();
		}
		if ((k & ~63u) == JPEG_MANY_EOB || k == 64)
			return true;
		/* The block ends within the entry, or it has no whole code. */
		buffer->held = held;
		buffer->count += entry & 63;
		k -= entry >> 6;
		jpeg_refill(buffer);
		code = jpeg_one_take(block->one, buffer);
		if (code == 0)
			return true;
		if (code < 0 || ((code & 15) == 0 && code != 0xf0))
			return false;
		jpeg_skip(buffer, (unsigned)code & 15);
		k += ((unsigned)code >> 4) + 1;
		if (k >= 64)
			return k == 64;
	}
#undef TAKE_MANY
}

JPEG_INLINE bool run_sequential(struct jpeg_decoder *d, uint64_t mcus, bool traced)
{
	int32_t *trace = d->trace;
	struct jpeg_buffer buffer = d->bits.buffer;
	const struct jpeg_block *end = d->blocks + d->block_count;
	unsigned shift = 64 - d->lookup_bits;

	for (; mcus; mcus--) {
		for (const struct jpeg_block *block = d->blocks; block < end; block++) {
			struct jpeg_buffer start = buffer;
			int32_t dc;

			jpeg_refill(&buffer);
			if (UNLIKELY(!take_dc(&buffer, block, &dc) ||
				     !take_ac(&buffer, block, shift))) {
				d->left = mcus;
				if (!decode_plainly(d, &buffer, &start, block->component, NULL))
					return false;
				shift = 64 - d->lookup_bits;
				if (traced)
					*trace++ = *block->prediction;
				continue;
			}
			*block->prediction = dc;
			if (traced)
				*trace++ = dc;
			if (UNLIKELY(buffer.next > buffer.limit || maybe_zeros(&buffer, &start))) {
				d->left = mcus;
				if (!accept_block(d, &buffer, jpeg_taken(&buffer, &start)))
					return false;
				shift = 64 - d->lookup_bits;
			} else {
				d->zero_blocks = 0;
			}
		}
		if (traced && UNLIKELY(d->bits.stopped)) {
			mcus--;
			break;
		}
	}
	d->left = mcus;
	d->bits.buffer = buffer;
	return true;
}

JPEG_INLINE bool run_first_dc(struct jpeg_decoder *d, uint64_t mcus)
{
	struct jpeg_buffer buffer = d->bits.buffer;
	const struct jpeg_block *end = d->blocks + d->block_count;

	for (; mcus; mcus--) {
		for (const struct jpeg_block *block = d->blocks; block < end; block++) {
			struct jpeg_buffer start = buffer;
			int32_t dc;

			jpeg_refill(&buffer);
			if (UNLIKELY(!take_dc(&buffer, block, &dc))) {
				if (!decode_plainly(d, &buffer, &start, block->component, NULL))
					return false;
				continue;
			}
			*block->prediction = dc;
			if (UNLIKELY(buffer.next > buffer.limit) &&
				!accept_block(d, &buffer, jpeg_taken(&buffer, &start)))
				return false;
		}
	}
	d->bits.buffer = buffer;
	return true;
}

static bool run_refined_dc(struct jpeg_decoder *d, uint64_t *history, uint64_t mcus)
{
	uint64_t bits = mcus * (uint64_t)d->block_count;

	(void)history;
	while (bits) {
		unsigned part = bits < 56 ? (unsigned)bits : 56;

		jpeg_refill(&d->bits.buffer);
		jpeg_skip(&d->bits.buffer, part);
		bits -= part;
		if (d->bits.buffer.next > d->bits.buffer.limit && !jpeg_accept_block(d, part))
			return false;
	}
	return true;
}

/* Takes a block's coefficients from the one numbered `from` on, and marks those that are not 0 in
 * *marks. size_max: that of their values. */
JPEG_INLINE bool take_bands(struct jpeg_decoder *d, struct jpeg_buffer *buffer, uint64_t *marks,
	unsigned from, unsigned shift, int size_max)
{
	const uint32_t *lookup = d->own->bands.entries + (1u << (64 - shift));
	const struct jpeg_one *one = d->blocks[0].one;
	/* Positions are multiplied by 64, as in the entries. */
	uint32_t last = d->jpeg->spectral_last << 6 | 63, k = from << 6, before;
	uint32_t entry;
	uint64_t held, found = 0, found_before;
	int code;

#define TAKE_BANDS() \
	do { \
		entry = lookup[buffer->held >> shift]; \
		held = buffer->held; \
		before = k; \
		found_before = found; \
		buffer->held <<= entry & 63; \
		buffer->count -= entry & 63; \
		found |= (uint64_t)(entry >> 16) << (k >> 6); \
		k += entry & 0xffc0; \
	} while (0)

	do {
		jpeg_refill(buffer);
		TAKE_BANDS();
		if (k <= last)
			TAKE_BANDS();
		if (k <= last)
			continue;
		if (!(entry & JPEG_BANDS_EOB)) {
			if (k <= last + 64)
				break;
		} else if ((entry & JPEG_BANDS_NONE) != JPEG_BANDS_NONE &&
			   before + (entry & 31 << 6) <= last) {
			unsigned n = entry >> 11 & 15;

			if (n) {
				jpeg_refill(buffer);
				d->eob_run =
					(1u << n) - 1 + (uint32_t)(buffer->held >> 1 >> (63 - n));
				jpeg_skip(buffer, n);
			}
			break;
		}
		/* The block ends within the entry, or it has no whole code. */
		buffer->held = held;
		buffer->count += entry & 63;
		k = before;
		found = found_before;
		jpeg_refill(buffer);
		code = jpeg_one_take(one, buffer);
		if (code < 0 || (code & 15) > size_max)
			return false;
		if ((code & 15) == 0 && code != 0xf0) {
			unsigned n = (unsigned)code >> 4;

			d->eob_run = (1u << n) - 1 + (uint32_t)(buffer->held >> 1 >> (63 - n));
			jpeg_skip(buffer, n);
			break;
		}
		jpeg_skip(buffer, (unsigned)code & 15);
		k += ((unsigned)code >> 4) << 6;
		if (k > last)
			return false;
		if (code & 15)
			found |= 1ull << (k >> 6);
		k += 64;
	} while (k <= last);
	*marks |= found;
	return true;
#undef TAKE_BANDS
}

JPEG_INLINE bool run_first_ac(struct jpeg_decoder *d, uint64_t *history, uint64_t blocks)
{
	struct jpeg_buffer buffer = d->bits.buffer;
	unsigned shift = 64 - d->lookup_bits;

	while (blocks) {
		struct jpeg_buffer start = buffer;
		uint64_t skipped = d->eob_run < blocks ? d->eob_run : blocks;

		if (skipped) {
			d->eob_run -= (uint32_t)skipped;
			d->zero_blocks = 0;
			history += skipped;
			blocks -= skipped;
			continue;
		}
		if (UNLIKELY(
			    !take_bands(d, &buffer, history, d->jpeg->spectral_first, shift, 15))) {
			if (!decode_plainly(d, &buffer, &start, d->blocks[0].component, history))
				return false;
			shift = 64 - d->lookup_bits;
		} else if (UNLIKELY(buffer.next > buffer.limit || maybe_zeros(&buffer, &start))) {
			if (!accept_block(d, &buffer, jpeg_taken(&buffer, &start)))
				return false;
			shift = 64 - d->lookup_bits;
		} else {
			d->zero_blocks = 0;
		}
		history++;
		blocks--;
	}
	d->bits.buffer = buffer;
	return true;
}

/* The (n + 1)-th lowest bit of `bits`, or 0; one: 1 << n. */
JPEG_INLINE uint64_t find_bit(uint64_t bits, uint64_t one, bool bmi2)
{
#ifdef __x86_64__
	if (bmi2) {
		__asm__("pdepq %1, %0, %0" : "+r"(one) : "r"(bits));
		return one;
	}
#endif
	for (; one > 1; one >>= 1)
		bits &= bits - 1;
	return bits & -bits;
}

/* Takes the bit that each coefficient in `old` has. If the buffer had 39 bits, it has those of a lookup afterwards. */
JPEG_INLINE void take_corrections(struct jpeg_buffer *buffer, uint64_t old)
{
	unsigned bits = (unsigned)__builtin_popcountll(old);

	if (UNLIKELY(bits > 39 - JPEG_REFINED_BITS))
		jpeg_jump(buffer, bits);
	else
		jpeg_skip(buffer, bits);
}

/* Takes a refined block: the sign of each coefficient that becomes 1 or -1, and a bit of each that
 * was not 0 before. band: the scan's coefficients. Most symbols come after the last one that was not
 * 0, where they follow each other as in a first scan. */
JPEG_INLINE bool take_refined(struct jpeg_decoder *d, struct jpeg_buffer *buffer, uint64_t *history,
	uint64_t band, unsigned shift, bool bmi2)
{
	const uint16_t *lookup = d->own->refined.entries;
	uint64_t zeros = ~*history & band, old = *history & band, found = 0;

	if (old)
		jpeg_refill(buffer);
	while (old) {
		unsigned index = (unsigned)(buffer->held >> (64 - JPEG_REFINED_BITS));
		uint32_t entry = lookup[index];
		uint64_t run = d->own->refined.runs[index], at;

		jpeg_refill(buffer);
		if (UNLIKELY(!run)) {
			if (entry == JPEG_REFINED_NONE) {
				int code = jpeg_one_take(d->blocks[0].one, buffer);

				entry = code < 0 ? JPEG_REFINED_NONE
						 : jpeg_refined_entry(0, (uint8_t)code);
				if (entry == JPEG_REFINED_NONE)
					return false;
			}
			run = jpeg_refined_run(entry);
		}
		jpeg_skip(buffer, entry & 63);
		if (UNLIKELY(!run)) {
			unsigned n = entry >> 6 & 15;

			d->eob_run = (1u << n) - 1 + (uint32_t)(buffer->held >> 1 >> (63 - n));
			jpeg_skip(buffer, n);
			jpeg_refill(buffer);
			take_corrections(buffer, old);
			zeros = 0;
			break;
		}
		at = find_bit(zeros, run, bmi2);
		take_corrections(buffer, old & (at - 1));
		if (!at) {
			if (entry & JPEG_REFINED_MARK)
				return false;
			zeros = 0;
			break;
		}
		old &= -at;
		zeros &= -at << 1;
		found |= entry & JPEG_REFINED_MARK ? at : 0;
	}
	if (zeros && !take_bands(d, buffer, &found, (unsigned)__builtin_ctzll(zeros), shift, 1))
		return false;
	*history |= found;
	return true;
}

/* Blocks whose history is loaded ahead: a large picture's is in no near cache. */
#define HISTORY_AHEAD 48
/* Blocks of an EOB run that are decoded at once: they take less than JPEG_BLOCK_ROOM bytes. */
#define RUN_BLOCKS 32

JPEG_INLINE bool run_refined_ac(
	struct jpeg_decoder *d, uint64_t *history, uint64_t blocks, bool bmi2)
{
	struct jpeg_buffer buffer = d->bits.buffer;
	uint64_t band = ~0ull >> (63 - d->jpeg->spectral_last) >>
			d->jpeg->spectral_first << d->jpeg->spectral_first;

	while (blocks) {
		struct jpeg_buffer start = buffer;
		unsigned shift = 64 - d->lookup_bits;
		uint64_t bits = 0, run = d->eob_run < blocks ? d->eob_run : blocks;

		__builtin_prefetch(history + HISTORY_AHEAD, 1);
		if (run) {
			run = run < RUN_BLOCKS ? run : RUN_BLOCKS;
			for (uint64_t i = 0; i < run; i++)
				bits += (unsigned)__builtin_popcountll(history[i] & band);
			jpeg_jump(&buffer, bits);
			d->eob_run -= (uint32_t)run;
			history += run;
			blocks -= run;
			d->zero_blocks = 0;
			if (UNLIKELY(buffer.next > buffer.limit) && !accept_block(d, &buffer, 0))
				return false;
			continue;
		}
		if (UNLIKELY(!take_refined(d, &buffer, history, band, shift, bmi2))) {
			if (!decode_plainly(d, &buffer, &start, d->blocks[0].component, history))
				return false;
		} else if (UNLIKELY(buffer.next > buffer.limit || maybe_zeros(&buffer, &start))) {
			if (!accept_block(d, &buffer, jpeg_taken(&buffer, &start)))
				return false;
		} else {
			d->zero_blocks = 0;
		}
		history++;
		blocks--;
	}
	d->bits.buffer = buffer;
	return true;
}

/* ---- for each kind of processor ---- */

#define RUNS(suffix, target, bmi2) \
	target static bool sequential_##suffix( \
		struct jpeg_decoder *d, uint64_t *history, uint64_t n) \
	{ \
		(void)history; \
		return run_sequential(d, n, false); \
	} \
	target static bool traced_##suffix(struct jpeg_decoder *d, uint64_t n) \
	{ \
		return run_sequential(d, n, true); \
	} \
	target static bool first_dc_##suffix( \
		struct jpeg_decoder *d, uint64_t *history, uint64_t n) \
	{ \
		(void)history; \
		return run_first_dc(d, n); \
	} \
	target static bool first_ac_##suffix( \
		struct jpeg_decoder *d, uint64_t *history, uint64_t n) \
	{ \
		return run_first_ac(d, history, n); \
	} \
	target static bool refined_ac_##suffix( \
		struct jpeg_decoder *d, uint64_t *history, uint64_t n) \
	{ \
		return run_refined_ac(d, history, n, bmi2); \
	}

RUNS(any, , false)
#ifdef __x86_64__
RUNS(bmi2, __attribute__((target("bmi2,popcnt"))), true)
#define CHOOSE(run) (bmi2 ? run##_bmi2 : run##_any)
#else
#define CHOOSE(run) run##_any
#endif

#ifdef __x86_64__
static bool has_bmi2(const struct jpeg *jpeg)
{
	return !jpeg->portable && __builtin_cpu_supports("bmi2") &&
	       __builtin_cpu_supports("popcnt");
}
#endif

bool jpeg_fast_trace(struct jpeg_decoder *d, uint64_t *history, uint64_t mcus)
{
#ifdef __x86_64__
	bool bmi2 = has_bmi2(d->jpeg);
#endif

	(void)history;
	return CHOOSE(traced)(d, mcus);
}

void jpeg_fast_choose(struct jpeg_decoder *d)
{
	const struct jpeg *jpeg = d->jpeg;
#ifdef __x86_64__
	bool bmi2 = has_bmi2(jpeg);
#endif

	if (jpeg->sof != JPEG_SOF2)
		d->run = CHOOSE(sequential);
	else if (jpeg->spectral_first)
		d->run = jpeg->approx_high ? CHOOSE(refined_ac) : CHOOSE(first_ac);
	else
		d->run = jpeg->approx_high ? run_refined_dc : CHOOSE(first_dc);
}

void jpeg_fast_prepare(struct jpeg_decoder *d, bool large)
{
	const struct jpeg *jpeg = d->jpeg;
	bool progressive = jpeg->sof == JPEG_SOF2;
	uint8_t built = 0;

	d->large = large;
	d->lookup_bits = large ? JPEG_LARGE_BITS : SMALL_BITS;
	if (progressive && jpeg->spectral_first) {
		uint8_t table = jpeg->scan[0]->ac_table;

		if (d->lookup_bits > JPEG_BANDS_BITS)
			d->lookup_bits = JPEG_BANDS_BITS;
		jpeg_bands_build(&d->own->bands, &jpeg->codes[1][table], d->lookup_bits,
			jpeg->approx_high ? 1 : 15);
		if (jpeg->approx_high)
			jpeg_refined_build(&d->own->refined, &d->tables->one[1][table]);
	}
	if (progressive)
		return;
	for (int i = 0; i < d->block_count; i++) {
		uint8_t table = d->blocks[i].component->ac_table;

		if (!(built >> table & 1))
			jpeg_many_build(&d->own->tables.many[table], &jpeg->codes[1][table],
				d->lookup_bits);
		built |= (uint8_t)(1u << table);
		d->blocks[i].ac = d->own->tables.many[table].entries + (1u << d->lookup_bits);
	}
	if (large && d->wants_lanes)
		jpeg_lanes_prepare(d);
}
