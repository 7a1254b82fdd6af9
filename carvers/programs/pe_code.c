/*
 * What the code of a PE file has where tables elsewhere in the file say so, as code itself is any bytes. Files in pieces are
 * truncated where it is not so; in one piece they are unverified.
 *
 *	base relocations: addresses in the image (Microsoft PE specification, the .reloc section)
 *	unwind data of x64: instructions that make room on the stack, 48 83 EC n (x64 exception handling, UNWIND_INFO)
 *
 * Of 110,000 relocations and 5,911 such instructions of 44 files all but two are so; another program's code of the same
 * kind, in its place, has an address once in 2^6.5 (tests/bench/RESULTS.md).
 */
#include "pe.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "code_calls.h"
#include "walk.h"

#define PLACES_MAX ((size_t)1 << 20)
#define TOLERANCE 512      /* one wrong place in as many, and... */
#define TOLERATED 2        /* ...as many more: then nothing is proved */
#define ADDRESS_BITS 4     /* of one in code, apart from others... */
#define APART 6            /* ...by as many bytes */
#define INSTRUCTION_BITS 4 /* functions begin at every 16 bytes, and many make the same room */
#define FUNCTION_LEN 12    /* of an entry of the table of functions */
#define CODES_MAX 255
#define HAS_CHAIN 4 /* the function's start is not what is described */

enum { CODE_FLAG = 0x20 };
enum { RELOC_32 = 3, RELOC_64 = 10 };
/* Operations of unwind data. */
enum {
	PUSH,
	ALLOC_LARGE,
	ALLOC_SMALL,
	SET_FRAME,
	SAVE,
	SAVE_FAR,
	EPILOG,
	SPARE,
	SAVE_XMM,
	SAVE_XMM_FAR
};

struct place {
	uint32_t at; /* in the file */
	uint8_t len, bits;
	bool is_right;
};

struct places {
	const struct pe *pe;
	struct place *items;
	size_t count, capacity;
};

static bool add_place(struct places *places, const struct place *place)
{
	if (places->count == places->capacity) {
		size_t capacity = 2 * places->capacity + 64;
		struct place *grown;

		if (places->count >= PLACES_MAX)
			return false; /* the rest is not checked */
		grown = realloc(places->items, capacity * sizeof(*grown));
		if (!grown) {
			view_no_memory(places->pe->view);
			return false;
		}
		places->items = grown;
		places->capacity = capacity;
	}
	places->items[places->count++] = *place;
	return true;
}

static bool is_code(const struct pe *pe, uint64_t at)
{
	for (uint32_t i = 0; i < pe->section_count; i++)
		if (at >= pe->sections[i].at && at - pe->sections[i].at < pe->sections[i].len)
			return pe->sections[i].flags & CODE_FLAG;
	return false;
}

/* ---- relocations ---------------------------------------------------------------------------- */

static bool add_address(struct places *places, uint32_t address, bool is_wide)
{
	const struct pe *pe = places->pe;
	struct place place = { .len = is_wide ? 8 : 4 };
	const uint8_t *p;
	uint64_t at, value;

	if (!pe_offset(pe, address, place.len, &at) || at > UINT32_MAX)
		return true;
	p = view_peek(pe->view, at, place.len);
	if (!p)
		return false;
	value = is_wide ? le64(p) : le32(p);
	place.at = (uint32_t)at;
	place.is_right = value - pe->base <= pe->image_len;
	place.bits = is_code(pe, at) ? ADDRESS_BITS : 0;
	return add_place(places, &place);
}

static void add_addresses(struct places *places)
{
	const struct pe *pe = places->pe;
	uint32_t left = pe->directories[PE_RELOCATIONS].len;
	uint64_t at, end, broken_at;

	if (!pe_relocations(pe, &end, &broken_at) ||
		!pe_offset(pe, pe->directories[PE_RELOCATIONS].address, left, &at))
		return;
	while (left >= 8) {
		const uint8_t *p = view_peek(pe->view, at, 8);
		uint32_t page = p ? le32(p) : 0, len = p ? le32(p + 4) : 0;

		if (len < 8 || len > left)
			return;
		for (uint32_t i = 8; i + 2 <= len; i += 2) {
			uint16_t entry;

			p = view_peek(pe->view, at + i, 2);
			if (!p)
				return;
			entry = le16(p);
			if ((entry >> 12 == RELOC_32 || entry >> 12 == RELOC_64) &&
				!add_address(
					places, page + (entry & 0xfff), entry >> 12 == RELOC_64))
				return;
		}
		at += len;
		left -= len;
	}
}

/* ---- unwind data ---------------------------------------------------------------------------- */

/* Further slots of an operation. */
static uint32_t more_slots(uint8_t operation, uint8_t info)
{
	switch (operation) {
	case ALLOC_LARGE:
		return info ? 2 : 1;
	case SAVE:
	case SAVE_XMM:
		return 1;
	case SAVE_FAR:
	case SAVE_XMM_FAR:
		return 2;
	default:
		return 0;
	}
}

/* The function's instruction that ends after `offset` bytes, and makes this room. */
static bool add_instruction(struct places *places, uint32_t begin, uint8_t offset, uint8_t room)
{
	const uint8_t expected[] = { 0x48, 0x83, 0xec, room };
	struct place place = { .len = sizeof(expected), .bits = INSTRUCTION_BITS };
	const uint8_t *p;
	uint64_t at;

	/* Other instructions do it as well. */
	if (offset < sizeof(expected) || room <= 8 || room >= 128 ||
		!pe_offset(places->pe, begin + offset - (uint32_t)sizeof(expected),
			sizeof(expected), &at) ||
		at > UINT32_MAX)
		return true;
	p = view_peek(places->pe->view, at, sizeof(expected));
	if (!p)
		return false;
	place.at = (uint32_t)at;
	place.is_right = !memcmp(p, expected, sizeof(expected));
	return add_place(places, &place);
}

static bool add_function(struct places *places, uint32_t begin, uint32_t unwind)
{
	uint8_t codes[2 * CODES_MAX];
	const uint8_t *p;
	uint32_t count;
	uint64_t at;

	if (!pe_offset(places->pe, unwind, 4, &at))
		return true;
	p = view_peek(places->pe->view, at, 4);
	if (!p)
		return false;
	if (((p[0] & 7) != 1 && (p[0] & 7) != 2) || p[0] >> 3 & HAS_CHAIN || !p[2])
		return true;
	count = p[2];
	p = view_peek(places->pe->view, at + 4, 2 * count);
	if (!p)
		return false;
	memcpy(codes, p, 2 * count);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t operation = codes[2 * i + 1] & 15, info = codes[2 * i + 1] >> 4;

		if (operation == ALLOC_SMALL &&
			!add_instruction(places, begin, codes[2 * i], (uint8_t)(8 * info + 8)))
			return false;
		i += more_slots(operation, info);
	}
	return true;
}

/* Whether the table of functions, at `at`, rises. */
static bool functions_rise(const struct pe *pe, uint64_t at, uint32_t len)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i + FUNCTION_LEN <= len; i += FUNCTION_LEN) {
		const uint8_t *p = view_peek(pe->view, at + i, FUNCTION_LEN);

		if (!p || le32(p) < last || le32(p + 4) <= le32(p))
			return false;
		last = le32(p);
	}
	return true;
}

static void add_functions(struct places *places)
{
	const struct pe *pe = places->pe;
	uint32_t len = pe->directories[PE_EXCEPTIONS].len;
	uint64_t at;

	if (pe->machine != PE_X64 ||
		!pe_offset(pe, pe->directories[PE_EXCEPTIONS].address, len, &at) ||
		!functions_rise(pe, at, len))
		return;
	for (uint32_t i = 0; i + FUNCTION_LEN <= len; i += FUNCTION_LEN) {
		const uint8_t *p = view_peek(pe->view, at + i, FUNCTION_LEN);

		if (!p || !add_function(places, le32(p), le32(p + 8)))
			return;
	}
}

/* ---- what they show ------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

/* Links each place in code to the first one that is not a sector before it: a joint between them is there, and nowhere
 * else. Addresses beside each other are of a table, as others have, too. */
static void link_places(const struct places *places)
{
	size_t first = 0;

	for (size_t i = 1; i < places->count; i++) {
		const struct place *place = &places->items[i];
		uint64_t end = (uint64_t)place->at + place->len;

		while (end - places->items[first].at > SECTOR)
			first++;
		if (first < i && place->is_right && place->bits &&
			place->at - places->items[i - 1].at >= APART)
			view_linked(places->pe->view, places->items[first].at, end, place->bits);
	}
}

/* Whether calls lead to functions, and other content is not in the code. */
static bool calls_fit(const struct pe *pe, uint64_t *wrong_at)
{
	bool is_native =
		(pe->machine == PE_X86 || pe->machine == PE_X64) && !pe->directories[PE_CLR].len;
	struct code_part parts[PE_SECTIONS_MAX];
	size_t count = 0;

	for (uint32_t i = 0; i < pe->section_count; i++) {
		const struct pe_section *section = &pe->sections[i];
		uint32_t len = section->memory_len && section->memory_len < section->len
				       ? section->memory_len
				       : section->len;

		if (section->flags & CODE_FLAG && section->at && len)
			parts[count++] = (struct code_part){ section->at, len, section->address };
	}
	return code_calls_fit(pe->view, parts, count, is_native, wrong_at);
}

bool pe_code_fits(const struct pe *pe, uint64_t *wrong_at)
{
	struct places places = { .pe = pe };
	size_t wrong = 0, first = 0;

	add_addresses(&places);
	add_functions(&places);
	if (places.count)
		qsort(places.items, places.count, sizeof(*places.items), compare_places);
	for (size_t i = places.count; i > 0; i--)
		if (!places.items[i - 1].is_right) {
			wrong++;
			first = i - 1;
		}
	if (wrong > TOLERATED + places.count / TOLERANCE) {
		*wrong_at = places.items[first].at;
		free(places.items);
		return false;
	}
	if (!wrong)
		link_places(&places);
	free(places.items);
	return calls_fit(pe, wrong_at);
}
