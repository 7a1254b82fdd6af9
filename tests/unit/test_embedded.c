/* Beginnings of embedded files, among zeros and other bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "carve/view.h"
#include "carvers/common/embedded.h"

#define ROOM 64

static bool is_found(const uint8_t *bytes, size_t len, uint64_t place)
{
	struct view *view = view_new_memory(bytes, len);
	const uint64_t *places;
	size_t count;
	bool found = false;

	embedded_find(view, 0, len, len);
	places = view_embedded_offsets(view, &count);
	for (size_t i = 0; i < count; i++)
		found |= places[i] == place;
	view_free(view);
	return found;
}

Test(embedded, finds_beginnings_wherever_they_are)
{
	static const struct {
		const char *bytes;
		size_t len;
	} beginnings[] = {
		{ "\xff\xd8\xff", 3 },
		{ "\xff\x4f\xff\x51", 4 },
		{ "\xff\xfb", 2 },
		{ "BM", 2 },
		{ "bplist", 6 },
		{ "<?xml", 5 },
		{ "\0\0\0\14jP  ", 8 },
		{ "\0\0\0\1", 4 },
		{ "\0\0\1\xba", 4 },
		{ "\0\1\0\0", 4 },
	};

	for (size_t b = 0; b < sizeof(beginnings) / sizeof(*beginnings); b++)
		for (size_t at = 1; at < 24; at++)
			for (int fill = 0; fill < 2; fill++) {
				uint8_t bytes[ROOM];
				size_t len = at + beginnings[b].len;

				memset(bytes, fill ? 0x55 : 0, sizeof(bytes));
				memcpy(bytes + at, beginnings[b].bytes, beginnings[b].len);
				cr_expect(is_found(bytes, sizeof(bytes), at), "%zu at %zu", b, at);
				cr_expect(is_found(bytes, len, at), "%zu at %zu, the end", b, at);
				cr_expect_not(
					is_found(bytes, len - 1, at), "%zu at %zu, cut", b, at);
			}
}
