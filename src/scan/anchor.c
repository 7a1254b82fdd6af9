#include "scan/anchor.h"

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

/* How well a literal selects: by its length, and by how often its bytes change, because runs of one
 * byte are what disks are full of. 0: not at all. */
static unsigned literal_score(const uint8_t *bytes, uint32_t len)
{
	unsigned changes = 0;

	for (uint32_t i = 1; i < len; i++)
		changes += bytes[i] != bytes[i - 1];
	if (len < ANCHOR_LITERAL_MIN || !changes)
		return 0;
	return (len < 12 ? len : 12) + 4 * (changes < 4 ? changes : 4);
}

static uint32_t literal_end(const struct pattern *pattern, uint32_t start)
{
	uint32_t end = start;

	while (end < pattern->len && end - start < ANCHOR_MAX && is_literal(pattern, end))
		end++;
	return end;
}

/* The best literal, the first one among equals. False: the pattern has none. */
static bool choose_literal(const struct pattern *pattern, struct anchor *anchor)
{
	unsigned best = 0;

	for (uint32_t start = 0; start < pattern->len; start++) {
		uint32_t end = literal_end(pattern, start);
		unsigned score = literal_score(pattern->bytes + start, end - start);

		if (score > best) {
			best = score;
			anchor->start = start;
			anchor->len = end - start;
		}
		if (end == pattern->len)
			break; /* what follows is a part of this one */
	}
	return best > 0;
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

/* Whether two exact bytes stand together in the window: less would be found everywhere. */
static bool is_selective(const struct pattern *pattern, const struct anchor *anchor)
{
	for (uint32_t i = anchor->start + 1; i < anchor->start + anchor->len; i++)
		if (is_literal(pattern, i) && is_literal(pattern, i - 1))
			return true;
	return false;
}

/* From the first literal byte as much as allowed, without others at the end. */
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

struct anchor anchor_choose(const struct pattern *pattern)
{
	struct anchor anchor = { .kind = ANCHOR_LITERAL };

	if (choose_literal(pattern, &anchor)) {
		set_case(pattern, &anchor);
		return anchor;
	}
	anchor.kind = choose_window(pattern, &anchor) ? ANCHOR_SHORT : ANCHOR_NONE;
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
