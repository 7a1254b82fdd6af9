#include "program.h"

#include <inttypes.h>

#include "noise.h"
#include "walk.h"

/* Names in other alphabets are UTF-8; control characters are in none. */
static bool in_name(uint8_t byte)
{
	return byte >= ' ' && byte != 0x7f;
}

bool program_names(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	uint8_t last = 1;
	size_t len;

	for (; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return false;
		for (size_t i = 0; i < len; i++)
			if (p[i] && !in_name(p[i]))
				return false;
		last = p[len - 1];
	}
	return last == 0;
}

#define LONG_TEXT 1024

/* Where in [start, end) the text begins that reaches up to end; end when there is none. */
static uint64_t text_start(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t at = end;

	while (at > start) {
		size_t len = at - start < 4096 ? (size_t)(at - start) : 4096, run = 0;
		const uint8_t *p = view_peek(view, at - len, len);

		while (p && run < len && program_text(p[len - run - 1]))
			run++;
		at -= run;
		if (run < len)
			break;
	}
	return at;
}

uint64_t program_tail(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t tail = walk_before_fill(view, start, end);

	if (tail < end)
		return tail;
	tail = text_start(view, start, end);
	return end - tail >= LONG_TEXT ? tail : end;
}

uint64_t program_sound(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t limit = end < view_size(view) ? end : view_size(view), sound;

	if (limit <= start)
		return limit;
	sound = noise_start(view, start, limit);
	return sound == limit ? program_tail(view, start, limit) : sound;
}

enum verdict program_cut(struct view *view, struct finding *finding, uint64_t start, uint64_t end,
	const char *problem, uint64_t where)
{
	uint64_t sound = program_sound(view, start, end);

	if (end > view_size(view))
		return walk_cut(view, finding, end, sound);
	finding->length = sound;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, where);
}
