/* Films of MPEG-4 video (part 2) in MP4: what their frames' codes prove, and what becomes of other bytes in them. */
#include "bmff_made.h"
#include "bytes.h"

static const char *const films[] = { "tests/golden/riff/mpeg4.avi",
	"tests/golden/riff/mpeg4-warped.avi", "tests/golden/riff/mpeg4-fields.avi" };

enum { FRAMES_MAX = 16 };

struct film {
	struct bytes source, entry, bytes;
	struct made_chunk frames[FRAMES_MAX];
	unsigned count;
};

/* Where the first picture begins: headers are before it. */
static size_t headers_len(const uint8_t *frame, size_t len)
{
	for (size_t at = 0; at + 4 < len; at++)
		if (memcmp(frame + at, "\0\0\1\xb6", 4) == 0)
			return at;
	return 0;
}

/* A sample entry with these headers. */
static struct bytes make_entry(const uint8_t *headers, size_t len)
{
	struct bytes entry = { 0 };
	size_t box = box_start(&entry, "mp4v"), esds;

	bytes_fill(&entry, 0, 78);
	esds = box_start(&entry, "esds");
	bytes_fill(&entry, 0, 4);
	bytes_add(&entry, "\3\x80\x80\x80\x50\0\1\0", 8);
	bytes_add(&entry, "\4\x80\x80\x80\x40\x20\x11", 7);
	bytes_fill(&entry, 0, 11);
	bytes_add(&entry, "\5\x80\x80\x80", 4);
	bytes_fill(&entry, (uint8_t)len, 1);
	bytes_add(&entry, headers, len);
	box_end(&entry, esds);
	box_end(&entry, box);
	return entry;
}

/* The frames of an AVI, as an MP4 with their headers in its description alone. */
static struct film film_open(const char *path)
{
	struct film film = { .source = bytes_of_file(path) };
	const uint8_t *data = film.source.data;
	struct made_track track = { "vide", NULL, 0, 0 };
	uint64_t at = 12;
	size_t headers;

	while (memcmp(data + at, "movi", 4) != 0)
		at++;
	for (at += 4; memcmp(data + at, "idx1", 4) != 0;) {
		uint64_t len = le32(data + at + 4);

		if (data[at + 3] == 'c') {
			cr_assert_lt(film.count, FRAMES_MAX);
			film.frames[film.count++] = (struct made_chunk){ 0, data + at + 8, len, 0 };
		}
		at += 8 + len + (len & 1);
	}
	headers = headers_len(film.frames[0].data, film.frames[0].len);
	cr_assert(headers > 0 && headers < 128);
	film.entry = make_entry(film.frames[0].data, headers);
	film.frames[0].data = (const uint8_t *)film.frames[0].data + headers;
	film.frames[0].len -= headers;
	track.entry = film.entry.data;
	track.entry_len = film.entry.len;
	film.bytes = made_film("isom", &track, 1, film.frames, film.count);
	return film;
}

static void film_close(struct film *film)
{
	free(film->source.data);
	free(film->entry.data);
	free(film->bytes.data);
}

Test(film, frames_prove_a_joint)
{
	struct film film = film_open(films[0]);
	struct finding found;
	enum verdict verdict;

	cr_assert_eq(film.count, 6);
	/* The frame with the joint, and the five after it. */
	cr_expect_eq(check_in_two(&film.bytes, film.frames[0].at + 1500, &verdict, &found),
		8 + 12 + 4 * 6);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(check_in_two(&film.bytes, film.frames[5].at + 200, &verdict, &found), 8);
	/* Nothing else says that the headers are right. */
	cr_expect_eq(check_in_two(&film.bytes, 60, &verdict, &found), 0);
	film_close(&film);
}

/* Without a thorough check only start codes count. */
Test(film, other_bytes_in_frames_are_noticed)
{
	unsigned tried = 0, noticed = 0;

	for (size_t i = 0; i < 3; i++) {
		struct film film = film_open(films[i]);

		for (unsigned n = 1; n < film.count; n++)
			for (uint64_t in = 300; in + 200 < film.frames[n].len; in += 100) {
				struct bytes other = { 0 };
				struct finding found;
				enum verdict verdict;

				bytes_add(&other, film.bytes.data, film.bytes.len);
				for (uint64_t at = 0; at < 100; at++)
					other.data[film.frames[n].at + in + at] ^=
						(uint8_t)(0x5a + at * 29);
				cr_expect_neq(carve("mp4", other.data, other.len, &found),
					CARVE_TRUNCATED);
				check_in_two(&other, 40, &verdict, &found);
				tried++;
				noticed += verdict == CARVE_TRUNCATED &&
					   found.length >= film.frames[n].at + in &&
					   found.length < film.frames[n].at + film.frames[n].len;
				free(other.data);
			}
		film_close(&film);
	}
	cr_expect_geq(tried, 30);
	cr_expect_geq(noticed * 8, tried * 7, "%u of %u", noticed, tried);
}

/* A check that goes on from a state finds what one from the beginning finds. */
Test(film, goes_on_from_a_state)
{
	for (size_t i = 0; i < 3; i++) {
		struct film film = film_open(films[i]);
		struct view *saving = view_new_memory(film.bytes.data, film.bytes.len);
		struct finding found = { 0 };
		unsigned states = 0;

		view_keep_states(saving, 128);
		carver_find("mp4")->check(saving, &found);
		for (size_t cut = film.frames[1].at + 100; cut + 80 < film.bytes.len; cut += 300) {
			const struct carve_state *state = view_state_before(saving, cut);
			struct finding from_start = { 0 }, from_state = { 0 };
			struct bytes other = { 0 };
			enum verdict verdict;
			struct view *view;

			if (!state)
				continue;
			states++;
			bytes_add(&other, film.bytes.data, film.bytes.len);
			memset(other.data + cut, 0x77, 80);
			view = view_new_memory(other.data, other.len);
			view_set_thorough(view, true);
			verdict = carver_find("mp4")->check(view, &from_start);
			view_free(view);
			view = view_new_memory(other.data, other.len);
			view_set_thorough(view, true);
			cr_expect_eq(carver_find("mp4")->resume(view, state, &from_state), verdict);
			cr_expect_eq(from_state.length, from_start.length);
			cr_expect_str_eq(from_state.why, from_start.why);
			view_free(view);
			free(other.data);
		}
		cr_expect_geq(states, 3);
		view_free(saving);
		film_close(&film);
	}
}

/* Frames prove nothing after a joint if there are sectors whose codes are not followed: a copy with other sound has the same. */
Test(film, frames_prove_nothing_beside_sound_that_is_not_read)
{
	static const uint8_t sound_entry[] =
		"\0\0\0\x24sowt"
		"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\1\0\x10\0\0\0\0\x2b\x11\0\0";
	struct film film = film_open(films[0]);
	const struct made_track tracks[] = { { "vide", film.entry.data, film.entry.len, 0 },
		{ "soun", sound_entry, sizeof(sound_entry) - 1, 2 } };
	struct bytes sound = { 0 };

	bytes_add_random(&sound, 1, 2048);
	for (size_t len = 500; len <= 2048; len += 1548) {
		struct made_chunk chunks[] = { film.frames[0], { 1, sound.data, len, 0 },
			film.frames[1], film.frames[2] };
		struct bytes bytes = made_film("qt  ", tracks, 2, chunks, 4);
		struct finding found;
		enum verdict verdict;

		cr_expect_eq(check_in_two(&bytes, chunks[0].at + 1500, &verdict, &found),
			len == 500 ? 8 + 12 + 6 : 8);
		cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
		cr_expect_eq(check_in_two(&bytes, chunks[1].at + 200, &verdict, &found),
			len == 500 ? 12 + 6 : 0);
		cr_expect_eq(check_in_two(&bytes, chunks[2].at, &verdict, &found),
			len == 500 ? 12 + 6 : 0);
		free(bytes.data);
	}
	free(sound.data);
	film_close(&film);
}

/* Where the box with this type is, from `at` on. */
static size_t find_box(const struct bytes *bytes, size_t at, const char *type)
{
	while (memcmp(bytes->data + at + 4, type, 4) != 0)
		at++;
	return at;
}

/* The film with 'moov' after its data. *table: where its samples' lengths are. */
static struct bytes with_moov_last(const struct film *film, size_t *table)
{
	const uint8_t *data = film->bytes.data;
	size_t moov = find_box(&film->bytes, 0, "moov"), len = be32(data + moov);
	size_t rest = moov + len, at;
	struct bytes other = { 0 };

	bytes_add(&other, data, moov);
	bytes_add(&other, data + rest, film->bytes.len - rest);
	bytes_add(&other, data + moov, len);
	at = find_box(&other, other.len - len, "stco") + 16;
	for (unsigned i = 0; i < film->count; i++)
		for (int k = 0; k < 4; k++)
			other.data[at + 4 * i + (size_t)k] =
				(uint8_t)((film->frames[i].at - len) >> (24 - 8 * k));
	*table = find_box(&other, other.len - len, "stsz") + 20;
	return other;
}

/* A frame that ends where a table says it does says that the table is this film's. */
Test(film, frames_prove_a_joint_in_or_before_tables)
{
	struct film film = film_open(films[0]);
	size_t table = find_box(&film.bytes, 0, "stsz") + 20;
	struct bytes last;
	struct finding found;
	enum verdict verdict;
	unsigned all;

	cr_expect_eq(check_in_two(&film.bytes, table + 9, &verdict, &found), 3 * 4);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(check_in_two(&film.bytes, table, &verdict, &found), 0);
	last = with_moov_last(&film, &table);
	all = check_in_two(&last,
		last.len - be32(film.bytes.data + find_box(&film.bytes, 0, "moov")), &verdict,
		&found);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(all, 6 * 4);
	cr_expect_eq(check_in_two(&last, table + 9, &verdict, &found), 3 * 4);
	cr_expect_eq(check_in_two(&last, table + 24, &verdict, &found), 0);
	free(last.data);
	film_close(&film);
}
