#include "prefix_code.h"

#include <assert.h>
#include <stdlib.h>

#define FAST_SYMBOLS 4096
/* Units of work (view_work) for a code, besides one for each symbol. */
#define CODE_WORK 64

uint32_t prefix_code_find_long(
	const struct prefix_code *code, const struct lsb_bits *bits, uint32_t *len)
{
	uint32_t value = 0, first = 0, index = 0;

	for (*len = 1; *len <= PREFIX_CODE_LEN_MAX; (*len)++) {
		value |= (uint32_t)(bits->held >> (*len - 1)) & 1;
		if (value - first < code->counts[*len])
			return code->symbols[index + value - first];
		index += code->counts[*len];
		first = (first + code->counts[*len]) << 1;
		value <<= 1;
	}
	assert(!"a code that is not complete");
	return 0;
}

/* Enters a code into the fast table, at its bits in reverse. */
static void fill_fast(struct prefix_code *code, uint32_t value, uint32_t len, uint16_t symbol)
{
	uint32_t turned = 0;

	for (uint32_t i = 0; i < len; i++)
		turned |= (value >> i & 1) << (len - 1 - i);
	for (uint32_t i = turned; i < 1u << PREFIX_CODE_FAST_BITS; i += 1u << len)
		code->fast[i] = (uint16_t)(len << 12 | symbol);
}

/* Lists the symbols in order of their codes. */
static void sort_symbols(struct prefix_code *code, const uint8_t *lens, size_t count)
{
	uint16_t next[PREFIX_CODE_LEN_MAX + 2] = { 0 };

	for (uint32_t len = 1; len <= PREFIX_CODE_LEN_MAX; len++)
		next[len + 1] = (uint16_t)(next[len] + code->counts[len]);
	for (size_t i = 0; i < count; i++)
		if (lens[i])
			code->symbols[next[lens[i]]++] = (uint16_t)i;
}

bool prefix_code_build(
	struct view *view, struct prefix_code *code, const uint8_t *lens, size_t count)
{
	uint32_t used = 0, room = 0, value = 0, index = 0;

	if (!view_work(view, CODE_WORK + count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!lens[i])
			continue;
		code->counts[lens[i]]++;
		room += 1u << (PREFIX_CODE_LEN_MAX - lens[i]);
		code->only = (uint16_t)i;
		used++;
	}
	code->single = used == 1;
	if (code->single)
		return true;
	if (room != 1u << PREFIX_CODE_LEN_MAX)
		return false;
	code->symbols = malloc(used * sizeof(*code->symbols));
	if (!code->symbols) {
		view_no_memory(view);
		return false;
	}
	sort_symbols(code, lens, count);
	for (uint32_t len = 1; len <= PREFIX_CODE_FAST_BITS; len++, value <<= 1)
		for (uint32_t i = 0; i < code->counts[len]; i++, value++, index++)
			if (code->symbols[index] < FAST_SYMBOLS)
				fill_fast(code, value, len, code->symbols[index]);
	return true;
}

void prefix_code_free(struct prefix_code *code)
{
	free(code->symbols);
	code->symbols = NULL;
}
