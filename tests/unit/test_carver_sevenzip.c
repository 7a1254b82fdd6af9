/* 7z archives whose headers are damaged, but have the right CRCs, as hostile ones have. */
#include "carver_case.h"

#include <dirent.h>
#include <stdio.h>
#include <zlib.h>

#include "base/endian.h"

#define FOLDER "tests/golden/sevenzip"
#define ROUNDS 300

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Damages bytes of the header of a whole archive in the same way in each run. */
static void damage_header(struct bytes *archive, const struct bytes *whole, uint32_t *state)
{
	uint64_t at = 32 + endian_u64(whole->data + 12), len = endian_u64(whole->data + 20);
	unsigned count = 1 + next_random(state) % 3;

	archive->len = 0;
	bytes_add(archive, whole->data, whole->len);
	while (count--) {
		uint8_t *p = archive->data + at + next_random(state) % len;

		*p = next_random(state) % 4 ? (uint8_t)next_random(state) : 0xff;
	}
	endian_put(archive->data + 28, crc32(0, archive->data + at, (uInt)len), 4);
	endian_put(archive->data + 8, crc32(0, archive->data + 12, 20), 4);
}

static void damage_file(const char *path)
{
	struct bytes whole = bytes_of_file(path), archive = { 0 };
	uint32_t state = 2463534242;

	for (int i = 0; i < ROUNDS; i++) {
		struct finding finding;
		enum verdict verdict;

		damage_header(&archive, &whole, &state);
		verdict = carve("sevenzip", archive.data, archive.len, &finding);
		/* The header is where its CRC says, so the archive ends there, whatever it has. */
		cr_assert(
			verdict == CARVE_COMPLETE || verdict == CARVE_UNVERIFIED, "%s %d", path, i);
		cr_assert_eq(finding.length, archive.len, "%s %d", path, i);
	}
	free(whole.data);
	free(archive.data);
}

Test(carver_sevenzip, damaged_headers_with_the_right_crcs)
{
	struct dirent **entries;
	int count = scandir(FOLDER, &entries, NULL, alphasort);

	cr_assert_gt(count, 0);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name, *end = strrchr(name, '.');
		char path[600];

		if (strncmp(name, "real-", 5) == 0 && end && strcmp(end, ".7z") == 0) {
			snprintf(path, sizeof(path), FOLDER "/%s", name);
			damage_file(path);
		}
		free(entries[i]);
	}
	free(entries);
}

/* The sanitizers notice reads past it. */
Test(carver_sevenzip, no_header_in_the_last_bytes)
{
	static const uint8_t bytes[] = { 1, 4, 6, 0, 1, 9, 1, 0 };
	struct carve_table table = { 0 };

	for (size_t len = 1; len < 4; len++) {
		struct bytes copy = { 0 };
		struct view *view;

		bytes_add(&copy, bytes, len);
		copy.data = realloc(copy.data, len);
		view = view_new_memory(copy.data, len);
		cr_expect_not(carver_find("sevenzip")->map->tail(view, 0, &table));
		view_free(view);
		free(copy.data);
	}
}
