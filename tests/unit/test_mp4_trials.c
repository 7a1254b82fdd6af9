/* What trials of MP4 in pieces notice of descriptions: where another file's bytes begin in tables, and that moov is not there. */
#include "bmff_made.h"
#include "bytes.h"

enum { CHUNKS = 300, CHUNK_LEN = 700 };

/* Sound of a coding that is not known, so that only its tables show what is where. */
static struct bytes make_sound(void)
{
	static uint8_t data[CHUNK_LEN];
	static struct made_chunk chunks[CHUNKS];
	struct bytes entry = { 0 };
	struct made_track track = { "soun", NULL, 0, 0 };
	struct bytes bytes;
	size_t box = box_start(&entry, "sowt");

	bytes_fill(&entry, 0, 28);
	box_end(&entry, box);
	track.entry = entry.data;
	track.entry_len = entry.len;
	for (unsigned i = 0; i < CHUNKS; i++)
		chunks[i] = (struct made_chunk){ .data = data, .len = CHUNK_LEN - i % 7 };
	bytes = made_film("M4A ", &track, 1, chunks, CHUNKS);
	free(entry.data);
	return bytes;
}

static size_t find_table(const struct bytes *bytes, const char *type)
{
	const uint8_t *found = memmem(bytes->data, bytes->len, type, 4);

	cr_assert_not_null(found, "%s", type);
	return (size_t)(found - bytes->data) - 4;
}

/* As a trial of a file in pieces that has its first len bytes. */
static enum verdict try_file(const uint8_t *data, size_t len, struct finding *found, uint64_t *work)
{
	struct view *view = view_new_memory(data, len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, true);
	view_set_trial(view, true);
	verdict = carver_find("mp4")->check(view, found);
	if (work)
		*work = view_work_done(view);
	view_free(view);
	return verdict;
}

/* A word at an entry of a table, of which `entry` are before it, each entry_len bytes. */
static void expect_break(
	const char *type, size_t head_len, size_t entry_len, unsigned entry, const char *foreign)
{
	struct bytes bytes = make_sound();
	size_t at = find_table(&bytes, type) + 8 + head_len + entry * entry_len;
	struct finding found;

	try_file(bytes.data, bytes.len, &found, NULL);
	cr_assert_eq(found.length, bytes.len, "%s", found.why);
	memcpy(bytes.data + at, foreign, 8);
	cr_expect_eq(try_file(bytes.data, bytes.len, &found, NULL), CARVE_TRUNCATED, "%s", type);
	cr_expect_eq(found.length, at, "%s: %zu at %zu", type, (size_t)found.length, at);
	/* A cheap trial has only a part of moov. */
	cr_expect_eq(try_file(bytes.data, at + 16, &found, NULL), CARVE_TRUNCATED, "%s", type);
	cr_expect_eq(found.length, at, "%s: %zu at %zu", type, (size_t)found.length, at);
	free(bytes.data);
}

Test(mp4_trials, another_files_bytes_are_noticed_where_they_begin_in_tables)
{
	expect_break("stsz", 12, 4, 100, "\x61\x62\x63\x64\x65\x66\x67\x68");
	expect_break("stsc", 8, 12, 40, "\x61\x62\x63\x64\0\0\0\0");
	expect_break("stsc", 8, 12, 40, "\0\0\0\5\0\0\0\1");
	expect_break("stco", 8, 4, 200, "\0\0\0\2\0\0\0\1");
}

Test(mp4_trials, many_empty_samples_are_anothers_zeros)
{
	struct bytes bytes = make_sound();
	size_t at = find_table(&bytes, "stsz") + 20 + 4 * 50;
	struct finding found;

	memset(bytes.data + at, 0, 4 * 127);
	try_file(bytes.data, bytes.len, &found, NULL);
	cr_expect_neq(found.length, at);
	memset(bytes.data + at, 0, 4 * 128);
	cr_expect_eq(try_file(bytes.data, bytes.len, &found, NULL), CARVE_TRUNCATED);
	cr_expect_eq(found.length, at, "%zu", (size_t)found.length);
	free(bytes.data);
}

/* A file in one piece may be odd. */
Test(mp4_trials, tables_are_not_doubted_in_a_file_in_one_piece)
{
	struct bytes bytes = make_sound();
	size_t at = find_table(&bytes, "stco") + 16 + 4 * 200;
	struct finding found;

	for (int i = 0; i < 4; i++) {
		uint8_t first[4];

		memcpy(first, bytes.data + at, 4);
		memcpy(bytes.data + at, bytes.data + at + 8, 4);
		memcpy(bytes.data + at + 8, first, 4);
		at += 12;
	}
	cr_expect_eq(try_file(bytes.data, bytes.len, &found, NULL), CARVE_TRUNCATED);
	carve("mp4", bytes.data, bytes.len, &found);
	cr_expect_eq(found.length, bytes.len, "%s", found.why);
	free(bytes.data);
}

/* Nearly all trials are wrong, and without moov nothing shows how far they are right. */
Test(mp4_trials, without_moov_none_looks_at_media_data)
{
	enum { LEN = 1 << 20, DATA_AT = 40 };
	struct bytes bytes = { 0 };
	struct finding found;
	size_t box = box_start(&bytes, "ftyp");
	uint64_t work;

	bytes_add(&bytes, "isom\0\0\0\0isomiso2", 16);
	bytes_fill(&bytes, 0, 8);
	box_end(&bytes, box);
	box = box_start(&bytes, "mdat");
	bytes_fill(&bytes, 0x5a, LEN);
	box_end(&bytes, box);
	bytes_fill(&bytes, 0xa5, LEN);
	cr_expect_eq(try_file(bytes.data, bytes.len, &found, &work), CARVE_TRUNCATED);
	cr_expect_eq(found.length, DATA_AT, "%zu", (size_t)found.length);
	cr_expect_lt(work, 4096, "%zu", (size_t)work);
	cr_expect_eq(carve("mp4", bytes.data, bytes.len, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, DATA_AT + LEN, "%zu", (size_t)found.length);
	free(bytes.data);
}

struct wanted {
	struct carve_table table;
	uint64_t at;
};

static bool note(struct carve_table *table, const struct carve_anchor *anchor)
{
	((struct wanted *)table)->at = anchor->offset;
	return true;
}

/* The file's second piece may be before its first, and the image end soon after that. */
Test(mp4_trials, moov_is_looked_for_where_the_image_ends_before)
{
	static const uint8_t data[64] = "\0\0\0\x18"
					"ftypisom\0\0\0\0isomiso2\0\0\x50\0mdat";
	struct view *view = view_new_memory(data, sizeof(data));
	struct wanted wanted = { .table.add = note };

	cr_assert(carver_find("mp4")->map->head(view, &wanted.table));
	cr_expect_eq(wanted.at, 0x18 + 0x5000);
	view_free(view);
}
