/* 7z archives whose headers are damaged, but have the right CRCs, as hostile ones have. */
#include "carver_case.h"

#include <dirent.h>
#include <stdio.h>
#include <zlib.h>

#define FOLDER "tests/golden/sevenzip"
#define ROUNDS 300

static void put_le32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_le64(const uint8_t *p)
{
	uint64_t value = 0;

	for (int i = 8; i--;)
		value = value << 8 | p[i];
	return value;
}

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
	uint64_t at = 32 + get_le64(whole->data + 12), len = get_le64(whole->data + 20);
	unsigned count = 1 + next_random(state) % 3;

	archive->len = 0;
	bytes_add(archive, whole->data, whole->len);
	while (count--) {
		uint8_t *p = archive->data + at + next_random(state) % len;

		*p = next_random(state) % 4 ? (uint8_t)next_random(state) : 0xff;
	}
	put_le32(archive->data + 28, (uint32_t)crc32(0, archive->data + at, (uInt)len));
	put_le32(archive->data + 8, (uint32_t)crc32(0, archive->data + 12, 20));
}

static void damage_file(const char *path)
{
	struct bytes whole = { 0 }, archive = { 0 };
	FILE *file = fopen(path, "rb");
	uint32_t state = 2463534242;
	uint8_t piece[4096];
	size_t len;

	cr_assert_not_null(file, "%s", path);
	while ((len = fread(piece, 1, sizeof(piece), file)))
		bytes_add(&whole, piece, len);
	fclose(file);
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
