/*
 * Runs every carver over its golden files (tests/golden/README.md) and checks what has to hold for
 * all of them: bytes after a file change nothing, no beginning of a file is complete, and a carver
 * survives damage anywhere. A new format is covered by adding files to tests/golden.
 */
#include "carver_case.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include "tier.h"

#define GOLDEN "tests/golden"
#define JUNK_LEN 5000

static const char *const verdicts[] = { "reject", "complete", "truncated", "unverified" };

/* Compares one line of a .expected file with the finding. */
static void compare(const char *path, const char *key, const char *value, enum verdict verdict,
	const struct finding *found)
{
	char extension[16];

	snprintf(extension, sizeof(extension), "%s", found->extension ? found->extension : "");
	if (strcmp(key, "verdict") == 0)
		cr_assert_str_eq(verdicts[verdict], value, "%s: %s: %s", path, verdicts[verdict],
			found->why);
	else if (strcmp(key, "length") == 0)
		cr_assert_eq(found->length, strtoull(value, NULL, 10), "%s: length %" PRIu64 ": %s",
			path, found->length, found->why);
	else if (strcmp(key, "length_min") == 0)
		cr_assert_geq(found->length, strtoull(value, NULL, 10), "%s: length %" PRIu64, path,
			found->length);
	else if (strcmp(key, "length_max") == 0)
		cr_assert_leq(found->length, strtoull(value, NULL, 10), "%s: length %" PRIu64, path,
			found->length);
	else if (strcmp(key, "extension") == 0)
		cr_assert_str_eq(extension, value, "%s", path);
	else if (strcmp(key, "title") == 0)
		cr_assert_str_eq(found->title, value, "%s", path);
	else if (strcmp(key, "time") == 0)
		cr_assert_eq(found->time, strtoll(value, NULL, 10), "%s: time %" PRId64, path,
			found->time);
	else if (strcmp(key, "why") == 0)
		cr_assert_str_eq(found->why, value, "%s", path);
	else if (strcmp(key, "unchecked") != 0 && strcmp(key, "sequence") != 0 &&
		 strcmp(key, "embedded") != 0 && strcmp(key, "unverified") != 0)
		cr_assert_fail("%s.expected: unknown key %s", path, key);
}

static void check_expected(const char *path, enum verdict verdict, const struct finding *found)
{
	char expected[600], line[4096];
	FILE *file;
	int lines = 0;

	snprintf(expected, sizeof(expected), "%s.expected", path);
	file = fopen(expected, "r");
	cr_assert_not_null(file, "%s", expected);
	while (fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ' ');

		cr_assert_not_null(value, "%s: %s", expected, line);
		*value++ = 0;
		value[strcspn(value, "\n")] = 0;
		compare(path, line, value, verdict, found);
		lines++;
	}
	fclose(file);
	cr_assert_gt(lines, 0, "%s is empty", expected);
}

/* The offset from which nothing checks the file's bytes, from its .expected; the file's length if
 * that has none. */
static size_t checked_len(const char *path, const struct bytes *bytes)
{
	size_t len = bytes->len;
	char expected[600], line[256];
	FILE *file;

	snprintf(expected, sizeof(expected), "%s.expected", path);
	file = fopen(expected, "r");
	cr_assert_not_null(file, "%s", expected);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "unchecked ", 10) == 0)
			len = strtoull(line + 10, NULL, 10);
	fclose(file);
	cr_assert_leq(len, bytes->len, "%s", expected);
	return len;
}

/* Calls visit for each golden file of each carver; returns how many. */
static int each_golden(
	void (*visit)(const char *carver, const char *path, const struct bytes *bytes))
{
	int count = 0;

	for (const struct carver *const *row = carvers; *row; row++) {
		char folder[300];
		struct dirent **entries;
		int entry_count;

		snprintf(folder, sizeof(folder), GOLDEN "/%s", (*row)->name);
		entry_count = scandir(folder, &entries, NULL, alphasort);
		cr_assert_gt(entry_count, 2, "%s: no golden files", folder);
		for (int i = 0; i < entry_count; i++) {
			const char *end = strrchr(entries[i]->d_name, '.');

			if (entries[i]->d_name[0] != '.' && end && strcmp(end, ".expected") != 0) {
				char path[560];
				struct bytes bytes;

				snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
				bytes = bytes_of_file(path);
				visit((*row)->name, path, &bytes);
				free(bytes.data);
				count++;
			}
			free(entries[i]);
		}
		free(entries);
	}
	return count;
}

static void visit_expected(const char *carver, const char *path, const struct bytes *bytes)
{
	struct finding found;
	enum verdict verdict = carve(carver, bytes->data, bytes->len, &found);

	check_expected(path, verdict, &found);
}

Test(carvers, golden_files_match_their_expectations)
{
	cr_assert_gt(each_golden(visit_expected), 70);
}

/* Whether the carver declares `place`, alone or in a range (view_holds), or any place if that is UINT64_MAX, as embedded. */
static bool embeds(const char *carver, const struct bytes *bytes, uint64_t place)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding finding = { 0 };
	const uint64_t *places;
	const struct ranges *held;
	bool named;
	size_t count;

	carver_find(carver)->check(view, &finding);
	places = view_embedded_offsets(view, &count);
	held = view_held_ranges(view);
	named = place != UINT64_MAX && ranges_overlap(held, place, 1);
	for (size_t i = 0; i < count; i++)
		named |= places[i] == place || place == UINT64_MAX;
	view_free(view);
	return named;
}

static int embedded_count;

/* The offsets of `embedded` in .expected, separated by blanks; or `none`. */
static void visit_embedded(const char *carver, const char *path, const struct bytes *bytes)
{
	char expected[600], line[256], *at;
	FILE *file;

	snprintf(expected, sizeof(expected), "%s.expected", path);
	file = fopen(expected, "r");
	cr_assert_not_null(file, "%s", expected);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "embedded ", 9) != 0)
			continue;
		if (strcmp(line + 9, "none\n") == 0) {
			cr_assert_not(embeds(carver, bytes, UINT64_MAX), "%s", path);
			continue;
		}
		for (at = line + 9; *at && *at != '\n'; embedded_count++) {
			uint64_t place = strtoull(at, &at, 10);

			cr_assert(embeds(carver, bytes, place), "%s: %" PRIu64, path, place);
		}
	}
	fclose(file);
}

Test(carvers, embedded_files_are_declared)
{
	each_golden(visit_embedded);
	cr_assert_gt(embedded_count, 10);
}

/* A place in what a file holds: what starts there is not carved on its own, whatever it is. */
static const struct {
	const char *carver, *file;
	uint64_t at;
} held_places[] = {
	{ "aff1", "stored.aff", 1000 },
	{ "cab", "signed.cab", 1300 },
	{ "dbf", "people.dbf", 2000 },
	{ "dbx", "store.dbx", 9500 },
	{ "dsstore", "desk.DS_Store", 2100 },
	{ "ese", "counted.edb", 9000 },
	{ "fits", "two.fits", 4000 },
	{ "hdf5", "library-latest.h5", 700 },
	{ "jks", "entry.jks", 60 },
	{ "jxl", "exif.jxl", 1138 },
	{ "kbx", "two.kbx", 60 },
	{ "mobi", "book.mobi", 400 },
	{ "mp4", "covers.m4a", 200 },
	{ "mpegts", "sound.ts", 1000 },
	{ "mpg", "two.mpg", 100 },
	{ "ole", "excel.xls", 2000 },
	{ "pcap", "little.pcap", 100 },
	{ "pcapng", "captured.pcapng", 200 },
	{ "ps", "data.ps", 160 },
	{ "regf", "hive.dat", 4200 },
	{ "rpm", "bare.rpm", 2000 },
	{ "sevenzip", "stored.7z", 40 },
	{ "sqlitejournal", "two.journal", 700 },
	{ "sqlitewal", "log.wal", 100 },
	{ "thumbcache", "eight.db", 200 },
	{ "tiff", "lzw.tif", 8 },
	{ "webp", "exif.webp", 1080 },
	{ "xm", "song.xm", 14000 },
};

Test(carvers, what_files_hold_is_declared)
{
	for (size_t i = 0; i < sizeof(held_places) / sizeof(*held_places); i++) {
		char path[256];
		struct bytes bytes;

		snprintf(path, sizeof(path), GOLDEN "/%s/%s", held_places[i].carver,
			held_places[i].file);
		bytes = bytes_of_file(path);
		cr_expect(embeds(held_places[i].carver, &bytes, held_places[i].at), "%s: %" PRIu64,
			path, held_places[i].at);
		free(bytes.data);
	}
}

/* What the carver says that it did not verify, as in .expected: "FROM-TO FROM-TO", or "none". Parts
 * after the file's end do not count, as in an outcome. */
static void write_unverified(const char *carver, const struct bytes *bytes, char *text, size_t room)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding finding = { 0 };
	const struct ranges *ranges;
	size_t len = 0;

	carver_find(carver)->check(view, &finding);
	ranges = view_unverified_ranges(view);
	for (size_t i = 0; i < ranges->count && len < room; i++) {
		uint64_t from = ranges->items[i].offset, to = from + ranges->items[i].length;

		if (to > finding.length)
			to = finding.length;
		if (from < to)
			len += (size_t)snprintf(text + len, room - len, "%s%" PRIu64 "-%" PRIu64,
				len ? " " : "", from, to);
	}
	view_free(view);
	if (!len)
		len = (size_t)snprintf(text, room, "none");
	cr_assert_lt(len, room, "%s: too many unverified parts for a line", carver);
}

static void visit_unverified(const char *carver, const char *path, const struct bytes *bytes)
{
	char expected[600], line[4096], text[4096];
	FILE *file;

	snprintf(expected, sizeof(expected), "%s.expected", path);
	file = fopen(expected, "r");
	cr_assert_not_null(file, "%s", expected);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "unverified ", 11) != 0)
			continue;
		line[strcspn(line, "\n")] = 0;
		write_unverified(carver, bytes, text, sizeof(text));
		cr_assert_str_eq(text, line + 11, "%s: unverified %s", path, text);
	}
	fclose(file);
}

Test(carvers, unverified_parts_are_declared)
{
	each_golden(visit_unverified);
}

/* Formats whose streams or objects may usually follow each other in one file. */
static bool joins(const char *carver)
{
	static const char *const names[] = { "bz2", "der", "fit", "gz", "json", "lz4", "lzip",
		"lzop", "lzh", "pem", "pgp", "sshkey", "text", "vobject", "xz", "zst" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(carver, names[i]) == 0)
			return true;
	return false;
}

/* Complete files, followed by other bytes: random, zeros, the file once more. */
static void visit_followed(const char *carver, const char *path, const struct bytes *bytes)
{
	struct finding alone, found;

	if (carve(carver, bytes->data, bytes->len, &alone) != CARVE_COMPLETE)
		return;
	cr_assert_eq(alone.length, bytes->len, "%s", path);
	for (int kind = 0; kind < 3; kind++) {
		struct bytes more = { 0 };

		bytes_add(&more, bytes->data, bytes->len);
		if (kind == 0)
			bytes_add_random(&more, 11, JUNK_LEN);
		else if (kind == 1)
			bytes_fill(&more, 0, JUNK_LEN);
		else
			bytes_add(&more, bytes->data, bytes->len);
		cr_assert_eq(carve(carver, more.data, more.len, &found), CARVE_COMPLETE,
			"%s, %d: %s", path, kind, found.why);
		cr_assert(found.length == bytes->len ||
				  (kind == 2 && joins(carver) && found.length == more.len),
			"%s, %d", path, kind);
		cr_assert_str_eq(found.title, alone.title, "%s", path);
		cr_assert_eq(found.time, alone.time, "%s", path);
		cr_assert_eq(found.extension, alone.extension, "%s", path);
		free(more.data);
	}
}

Test(carvers, bytes_after_a_file_change_nothing)
{
	each_golden(visit_followed);
}

/* An MPO file contains several pictures, so its beginning can be a whole JPEG. For other formats,
 * `sequence` in .expected marks such files. */
static bool is_sequence(const char *path)
{
	char expected[600], line[256];
	bool found = strstr(path, ".mpo") != NULL;
	FILE *file;

	snprintf(expected, sizeof(expected), "%s.expected", path);
	file = fopen(expected, "r");
	while (file && fgets(line, sizeof(line), file))
		found |= strcmp(line, "sequence yes\n") == 0;
	if (file)
		fclose(file);
	return found;
}

/* How many places of a file are tried: all of a short one; of a longer one all near both ends, and
 * some between. CUTS is how many cuts are followed by random bytes, VALUES how many values a damaged byte takes,
 * WORKS in how many places the work is spent, UNREADABLE_STEP the distance of unreadable places. With the address sanitizer everything takes ten times as long, a decoder with a window of 64 MiB a hundred times. */
#ifdef __SANITIZE_ADDRESS__
#define PLACES test_tier(8, 24, 128)
#else
#define PLACES test_tier(16, 24, 1024)
#endif
#define CUTS test_tier(8, 20, 40)
#define VALUES test_tier(1, 2, 3)
#define WORKS test_tier(4, 12, 24)
#define UNREADABLE_STEP test_tier(6 * UNREADABLE_LEN, UNREADABLE_LEN, UNREADABLE_LEN)

static size_t next_place(size_t at, size_t len)
{
	size_t near = PLACES / 4, step = len / PLACES * 2;

	if (at < near || at + near >= len || step < 2)
		return at + 1;
	return at + step < len - near ? at + step : len - near;
}

static void visit_cut(const char *carver, const char *path, const struct bytes *bytes)
{
	struct finding found;

	if (is_sequence(path) || carve(carver, bytes->data, bytes->len, &found) != CARVE_COMPLETE)
		return;
	for (size_t len = 0; len < bytes->len; len = next_place(len, bytes->len))
		cr_assert_neq(carve(carver, bytes->data, len, &found), CARVE_COMPLETE,
			"%s, first %zu of %zu bytes", path, len, bytes->len);
}

Test(carvers, no_beginning_of_a_file_is_complete)
{
	each_golden(visit_cut);
}

/* How often the first len bytes are complete with random ones after them, of this many draws. */
static unsigned complete_draws(
	const char *carver, const struct bytes *bytes, size_t len, unsigned draws)
{
	unsigned complete = 0;

	for (unsigned draw = 0; draw < draws; draw++) {
		struct bytes cut = { 0 };
		struct finding found;

		bytes_add(&cut, bytes->data, len);
		bytes_add_random(&cut, len + draw * bytes->len, JUNK_LEN);
		complete += carve(carver, cut.data, cut.len, &found) == CARVE_COMPLETE;
		free(cut.data);
	}
	return complete;
}

/* Cut anywhere, followed by random bytes; not in the last bytes, where a format may have a comment
 * that nothing checks. Where only a decoder shows it, as for WebP, one draw in a
 * hundred ends as the file would. */
static void visit_overwritten(const char *carver, const char *path, const struct bytes *bytes)
{
	size_t checked = checked_len(path, bytes);
	struct finding found;

	if (is_sequence(path) || carve(carver, bytes->data, bytes->len, &found) != CARVE_COMPLETE)
		return;
	for (size_t len = 0; len < checked && len + 32 < bytes->len; len += 1 + bytes->len / CUTS)
		if (complete_draws(carver, bytes, len, 1))
			cr_assert_leq(complete_draws(carver, bytes, len, 64), 4,
				"%s, %zu bytes and random ones after them", path, len);
}

Test(carvers, a_beginning_before_random_bytes_is_not_complete)
{
	each_golden(visit_overwritten);
}

/* Any byte, changed in three ways, or in turn in one of them: carve() checks what has to hold. */
static void visit_damaged(const char *carver, const char *path, const struct bytes *bytes)
{
	static const uint8_t values[] = { 0x00, 0xff, 0x80 };
	struct finding found;
	size_t turn = 0;

	(void)path;
	for (size_t at = 0; at < bytes->len; at = next_place(at, bytes->len)) {
		uint8_t kept = bytes->data[at];

		for (size_t i = 0; i < VALUES; i++, turn++) {
			uint8_t value = values[turn % sizeof(values)];

			bytes->data[at] = value == 0x80 ? kept ^ value : value;
			carve(carver, bytes->data, bytes->len, &found);
		}
		bytes->data[at] = kept;
	}
}

/* A watcher that refuses, and notes how much work was done then. */
struct refusal {
	const struct view *view;
	bool asked;
	uint64_t work;
};

static bool refuse(void *context, uint64_t reached)
{
	struct refusal *refusal = context;

	(void)reached;
	refusal->asked = true;
	refusal->work = view_work_done(refusal->view);
	return false;
}

static int refused_count;

static void visit_refused(const char *carver, const char *path, const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct refusal refusal = { .view = view };
	struct finding found = { 0 };

	view_watch(view, refuse, &refusal);
	carver_find(carver)->check(view, &found);
	if (refusal.asked)
		cr_assert_leq(view_work_done(view) - refusal.work, 256 << 10,
			"%s: works on, for %zu units", path,
			(size_t)(view_work_done(view) - refusal.work));
	refused_count += refusal.asked;
	view_free(view);
}

/* A run that is interrupted waits for no check. */
Test(carvers, what_may_not_go_on_ends)
{
	each_golden(visit_refused);
	cr_expect_geq(refused_count, 10, "%d files take enough work to be asked", refused_count);
}

Test(carvers, damage_anywhere_is_survived)
{
	each_golden(visit_damaged);
}

/* Wherever a check's work is spent, nothing more can be looked at: no carver may take that for what
 * the file's structure rules out. */
static void visit_limited(const char *carver, const char *path, const struct bytes *bytes)
{
	uint64_t work = carve_work(carver, bytes, UINT64_MAX - 1);

	(void)path;
	for (uint64_t part = 1; part <= WORKS && work < (8 << 20); part++)
		carve_work(carver, bytes, work * part / (WORKS + 1));
}

Test(carvers, a_check_ends_wherever_its_work_is_spent)
{
	each_golden(visit_limited);
}

Test(carvers, random_bytes_after_any_beginning_are_never_complete)
{
	struct finding found;
	int tried = 0;

	for (uint64_t seed = 1; seed < 200; seed++) {
		struct bytes bytes = { 0 };

		bytes_add_random(&bytes, seed, JUNK_LEN);
		for (const struct carver *const *row = carvers; *row; row++, tried++)
			cr_assert_neq(carve((*row)->name, bytes.data, bytes.len, &found),
				CARVE_COMPLETE, "%s, seed %" PRIu64, (*row)->name, seed);
		free(bytes.data);
	}
	cr_assert_gt(tried, 0);
}

Test(carvers, the_table_is_sorted_and_is_searched_by_name)
{
	const struct carver *const *row = carvers;

	for (; row[0]; row++) {
		cr_assert_eq(carver_find(row[0]->name), row[0]);
		cr_assert_gt(strlen(row[0]->summary), 0);
		if (row[1])
			cr_assert_lt(strcmp(row[0]->name, row[1]->name), 0, "%s", row[0]->name);
	}
	cr_assert_null(carver_find("nothing"));
	cr_assert_null(carver_find(""));
}

Test(carvers, a_long_reason_is_cut)
{
	struct finding finding = { 0 };

	cr_assert_eq(verdict_because(CARVE_REJECT, &finding, "%0200d", 7), CARVE_REJECT);
	cr_assert_eq(strlen(finding.why), sizeof(finding.why) - 1);
}

/* ---- unreadable bytes ---------------------------------------------------------------------- */

#define UNREADABLE_LEN 64

/* How many percent of their bytes complete files keep if UNREADABLE_LEN of them can't be read, on average
 * over all places. */
static struct kept {
	const char *carver;
	unsigned percent;
	uint64_t kept, whole;
} kept_formats[] = {
	{ "bmp", 100, 0, 0 },
	{ "bz2", 90, 0, 0 },
	{ "cab", 96, 0, 0 },
	{ "eps", 94, 0, 0 },
	{ "flac", 77, 0, 0 },
	{ "gif", 99, 0, 0 },
	{ "heif", 93, 0, 0 },
	{ "html", 93, 0, 0 },
	{ "jpeg", 80, 0, 0 },
	{ "lz4", 95, 0, 0 },
	{ "lzip", 94, 0, 0 },
	{ "mail", 92, 0, 0 },
	{ "mkv", 95, 0, 0 },
	{ "mp3", 97, 0, 0 },
	{ "mp4", 93, 0, 0 },
	{ "ogg", 94, 0, 0 },
	{ "ole", 99, 0, 0 },
	{ "pdf", 98, 0, 0 },
	{ "png", 99, 0, 0 },
	{ "ps", 93, 0, 0 },
	{ "regf", 100, 0, 0 },
	{ "riff", 98, 0, 0 },
	{ "rtf", 93, 0, 0 },
	{ "sqlite", 95, 0, 0 },
	{ "tar", 94, 0, 0 },
	{ "tiff", 98, 0, 0 },
	{ "webp", 98, 0, 0 },
	{ "xml", 94, 0, 0 },
	{ "xz", 94, 0, 0 },
	{ "zip", 99, 0, 0 },
	{ "zst", 97, 0, 0 },
};

static struct kept *kept_format(const char *carver)
{
	for (size_t i = 0; i < sizeof(kept_formats) / sizeof(*kept_formats); i++)
		if (strcmp(kept_formats[i].carver, carver) == 0)
			return &kept_formats[i];
	return NULL;
}

static enum verdict carve_unreadable(const char *carver, const struct bytes *bytes, size_t from,
	size_t to, struct finding *finding)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	memset(finding, 0, sizeof(*finding));
	view_set_unreadable(view, from, to);
	verdict = carver_find(carver)->check(view, finding);
	view_free(view);
	cr_assert_leq(finding->length, bytes->len);
	return verdict;
}

static void visit_unreadable(const char *carver, const char *path, const struct bytes *bytes)
{
	struct kept *format = kept_format(carver);
	uint8_t saved[UNREADABLE_LEN];
	struct finding found;
	uint64_t length;

	if (carve(carver, bytes->data, bytes->len, &found) != CARVE_COMPLETE)
		return;
	length = found.length;
	for (size_t from = UNREADABLE_LEN; from < bytes->len; from += UNREADABLE_STEP) {
		size_t left = bytes->len - from, len = left < sizeof(saved) ? left : sizeof(saved);
		enum verdict verdict;

		memcpy(saved, bytes->data + from, len);
		memset(bytes->data + from, 0, len);
		verdict = carve_unreadable(carver, bytes, from, from + len, &found);
		memcpy(bytes->data + from, saved, len);
		if (verdict == CARVE_REJECT)
			cr_assert_eq(found.length, 0, "%s: %zu", path, from);
		if (!format)
			continue;
		format->whole += length;
		format->kept += found.length < length ? found.length : length;
	}
}

Test(carvers, files_go_on_after_unreadable_bytes)
{
	each_golden(visit_unreadable);
	for (size_t i = 0; i < sizeof(kept_formats) / sizeof(*kept_formats); i++) {
		const struct kept *format = &kept_formats[i];

		cr_expect_gt(format->whole, 0, "%s", format->carver);
		if (UNREADABLE_STEP > UNREADABLE_LEN)
			continue; /* an average over so few places says little */
		cr_expect_geq(format->kept * 100, format->whole * format->percent,
			"%s: %" PRIu64 " of %" PRIu64, format->carver, format->kept, format->whole);
	}
}
