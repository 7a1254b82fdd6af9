#include "patterns/anchor.h"

#include <stdio.h>

static bool is_letter(uint8_t byte)
{
	return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* A letter of either case: bit 0x20 is wild. */
static bool is_caseless(const struct pattern *pattern, uint32_t i)
{
	return pattern->mask[i] == 0xdf && is_letter(pattern->bytes[i]);
}

static bool is_literal(const struct pattern *pattern, uint32_t i)
{
	return pattern->mask[i] == 0xff || is_caseless(pattern, i);
}

/* How often the ANCHOR_LITERAL_MIN bytes before end occur on disks. A letter of either case counts
 * as the lower-case one. */
static double chance_before(
	const struct pattern *pattern, uint32_t end, const float share[RARITY_KINDS][256])
{
	static const uint8_t exact[ANCHOR_LITERAL_MIN] = { 0xff, 0xff, 0xff, 0xff };
	uint8_t bytes[ANCHOR_LITERAL_MIN];

	for (uint32_t i = 0; i < ANCHOR_LITERAL_MIN; i++) {
		uint32_t at = end - ANCHOR_LITERAL_MIN + i;

		bytes[i] = pattern->bytes[at] | (is_caseless(pattern, at) ? 0x20 : 0);
	}
	return rarity_run(share, bytes, exact, ANCHOR_LITERAL_MIN);
}

/*
 * The best literal. Its last bytes count, because Vectorscan compares them first, and the rest only
 * where these are found: the zeros at the end of a magic are found everywhere, and cut off. Bytes
 * that are rare enough are as good as rarer ones; then the longer literal wins, and then the first.
 * Returns how often the last bytes occur on disks; 1: there is no literal.
 */
static double choose_literal(
	const struct pattern *pattern, struct anchor *anchor, const float share[RARITY_KINDS][256])
{
	uint32_t start = 0;
	double best = 1;

	for (uint32_t end = 1; end <= pattern->len; end++) {
		uint32_t len;
		double chance;

		if (!is_literal(pattern, end - 1))
			start = end;
		len = end - start < ANCHOR_MAX ? end - start : ANCHOR_MAX;
		if (len < ANCHOR_LITERAL_MIN)
			continue;
		chance = chance_before(pattern, end, share);
		if (chance < ANCHOR_RARE)
			chance = ANCHOR_RARE;
		if (chance < best || (chance == best && len > anchor->len)) {
			best = chance;
			anchor->start = end - len;
			anchor->len = len;
		}
	}
	return best;
}

static void set_case(const struct pattern *pattern, struct anchor *anchor)
{
	bool exact_letter = false;

	for (uint32_t i = anchor->start; i < anchor->start + anchor->len; i++) {
		if (is_caseless(pattern, i))
			anchor->nocase = true;
		else if (is_letter(pattern->bytes[i]))
			exact_letter = true;
	}
	anchor->whole = anchor->len == pattern->len && !(anchor->nocase && exact_letter);
}

/* Whether the window has two exact bytes in a row: less would be found everywhere. */
static bool is_selective(const struct pattern *pattern, const struct anchor *anchor)
{
	for (uint32_t i = anchor->start + 1; i < anchor->start + anchor->len; i++)
		if (is_literal(pattern, i) && is_literal(pattern, i - 1))
			return true;
	return false;
}

/* From the first literal byte on as much as allowed, without wild ones at the end. */
static bool choose_window(const struct pattern *pattern, struct anchor *anchor)
{
	uint32_t start = 0, end;

	while (start < pattern->len && !is_literal(pattern, start))
		start++;
	if (start == pattern->len)
		return false;
	end = pattern->len - start < ANCHOR_MAX ? pattern->len : start + ANCHOR_MAX;
	while (!is_literal(pattern, end - 1))
		end--;
	anchor->start = start;
	anchor->len = end - start;
	anchor->whole = anchor->len == pattern->len;
	for (uint32_t i = start; i < end; i++)
		if (pattern->mask[i] && !is_literal(pattern, i))
			anchor->whole = false;
	return is_selective(pattern, anchor);
}

struct anchor anchor_choose(const struct pattern *pattern, const float share[RARITY_KINDS][256])
{
	struct anchor anchor = { .kind = ANCHOR_NONE };
	double chance = choose_literal(pattern, &anchor, share);

	if (chance < 1) {
		anchor.kind = chance > ANCHOR_RARE ? ANCHOR_COMMON : ANCHOR_LITERAL;
		set_case(pattern, &anchor);
	} else if (choose_window(pattern, &anchor)) {
		anchor.kind = ANCHOR_SHORT;
	}
	return anchor;
}

void anchor_regex(char *text, const struct pattern *pattern, const struct anchor *anchor)
{
	for (uint32_t i = anchor->start; i < anchor->start + anchor->len; i++) {
		uint8_t byte = pattern->bytes[i];

		if (!is_literal(pattern, i))
			text += sprintf(text, ".");
		else if (anchor->kind == ANCHOR_SHORT && is_caseless(pattern, i))
			text += sprintf(text, "[\\x%02x\\x%02x]", byte, byte | 0x20);
		else
			text += sprintf(text, "\\x%02x", byte);
	}
}
