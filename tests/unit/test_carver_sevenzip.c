/* 7z archives whose headers are damaged, but have the right CRCs, as hostile ones have; those in pieces. */
#include "joints_case.h"

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

/* What a thorough check of an archive finds that has foreign bytes from `from` on, and ends at `end`. */
static enum verdict check_wrong(const char *name, size_t from, size_t end, struct finding *finding)
{
	uint32_t state = 2463534242;
	char path[600];
	struct bytes bytes;
	struct view *view;
	enum verdict verdict;

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	bytes = bytes_of_file(path);
	end = end ? end : bytes.len;
	for (size_t i = from; i < end && i < from + 200; i++)
		bytes.data[i] = (uint8_t)(next_random(&state) >> 24);
	view = view_new_memory(bytes.data, end);
	view_set_thorough(view, true);
	verdict = carver_find("sevenzip")->check(view, finding);
	view_free(view);
	free(bytes.data);
	return verdict;
}

Test(carver_sevenzip, what_is_joined_proves_joints)
{
	struct bytes bytes = bytes_of_file(FOLDER "/real-joined.7z");
	const uint64_t joint = 600;
	unsigned bits;

	cr_expect_eq(prove_joints("sevenzip", &bytes, &joint, 1, true, &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, 32);
	free(bytes.data);
}

Test(carver_sevenzip, a_wrong_piece_is_noticed_where_it_begins)
{
	struct finding finding = { 0 };

	cr_expect_eq(check_wrong("real-lzma.7z", 200, 0, &finding), CARVE_TRUNCATED);
	cr_expect(finding.length >= 200 && finding.length < 300, "%d", (int)finding.length);
	cr_expect_eq(check_wrong("real-joined.7z", 300, 0, &finding), CARVE_TRUNCATED);
	cr_expect(finding.length >= 300 && finding.length < 400, "%d", (int)finding.length);
	/* Without the header, too, which says that it is LZMA. */
	cr_expect_eq(check_wrong("real-lzma.7z", 60, 330, &finding), CARVE_TRUNCATED);
	cr_expect(finding.length >= 60 && finding.length < 320, "%d", (int)finding.length);
	cr_expect_eq(check_wrong("real-lzma.7z", 250, 250, &finding), CARVE_TRUNCATED);
	cr_expect_eq(finding.length, 250);
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
