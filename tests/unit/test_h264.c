/* H.264's slices: of films by x264, and what becomes of them when other bytes are in them. */
#include "h264.h"

#include "bmff_made.h"
#include "bytes.h"

static const char *const films[] = { "tests/golden/mp4/h264-cabac.mp4",
	"tests/golden/mp4/h264-cavlc.mp4" };

enum { SLICES_MAX = 16 };

struct film {
	struct bytes bytes;
	struct h264_params params;
	struct range slices[SLICES_MAX]; /* NAL units */
	unsigned count;
	uint64_t media, media_end; /* the samples */
};

static uint64_t find(const struct bytes *bytes, const char *word)
{
	for (uint64_t at = 4; at + 8 < bytes->len; at++)
		if (memcmp(bytes->data + at, word, 4) == 0)
			return at;
	cr_assert_fail("no %s", word);
	return 0;
}

static struct film film_open(const char *path)
{
	struct film film = { .bytes = bytes_of_file(path) };
	struct view *view = view_new_memory(film.bytes.data, film.bytes.len);
	uint64_t at = find(&film.bytes, "avcC") + 4 + 6;

	/* one set of each */
	for (int i = 0; i < 2; i++) {
		uint64_t len = be16(film.bytes.data + at);

		h264_add(&film.params, view, at + 2, at + 2 + len);
		at += 2 + len + 1;
	}
	view_free(view);
	film.media = find(&film.bytes, "mdat") + 4;
	film.media_end = film.media - 8 + be32(film.bytes.data + film.media - 8);
	for (at = film.media; at < film.media_end; at += be32(film.bytes.data + at) + 4) {
		cr_assert_lt(film.count, SLICES_MAX);
		film.slices[film.count++] = (struct range){ at + 4, be32(film.bytes.data + at) };
	}
	return film;
}

static enum h264_outcome decode(const struct film *film, const struct bytes *bytes,
	const struct range *slice, struct h264_picture *picture)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct h264_decoder *decoder = h264_decoder_new();
	enum h264_outcome outcome;
	uint64_t seen = 0;

	cr_assert_not_null(decoder);
	outcome = h264_slice(decoder, view, &film->params, picture, slice->offset,
		slice->offset + slice->length, &seen);
	cr_expect_leq(seen, slice->offset + slice->length);
	free(decoder);
	view_free(view);
	return outcome;
}

Test(h264, slices_are_valid_to_their_ends)
{
	for (size_t i = 0; i < 2; i++) {
		struct film film = film_open(films[i]);
		struct h264_picture picture = { 0 };

		cr_expect_geq(film.count, 8);
		for (unsigned n = 0; n < film.count; n++) {
			const struct range *slice = &film.slices[n];
			struct h264_picture again = picture;
			struct range longer = { slice->offset, slice->length + 1 };
			struct bytes followed = { 0 };
			struct range shorter = { slice->offset, slice->length - 1 };

			bytes_add(&followed, film.bytes.data, slice->offset + slice->length);
			bytes_fill(&followed, 0x55, 1);
			cr_expect_eq(decode(&film, &followed, &longer, &again), H264_INVALID);
			free(followed.data);
			again = picture;
			cr_expect_eq(decode(&film, &film.bytes, &shorter, &again), H264_INVALID);
			cr_expect_eq(decode(&film, &film.bytes, slice, &picture), H264_VALID);
		}
		cr_expect_eq(picture.size, i ? 20 : 24);
		cr_expect_eq(picture.next, picture.size);
		free(film.bytes.data);
	}
}

Test(h264, other_bytes_are_noticed)
{
	for (size_t i = 0; i < 2; i++) {
		struct film film = film_open(films[i]);
		struct h264_picture picture = { 0 };
		unsigned tried = 0, noticed = 0;

		for (unsigned n = 0; n < film.count; n++) {
			const struct range *slice = &film.slices[n];
			const struct h264_picture before = picture;

			cr_assert_eq(decode(&film, &film.bytes, slice, &picture), H264_VALID);
			for (uint64_t from = 8; from + 40 < slice->length; from += 13) {
				struct h264_picture again = before;
				struct bytes other = { 0 };

				bytes_add(&other, film.bytes.data, slice->offset + from);
				bytes_add_random(&other, from + n, slice->length - from);
				tried++;
				noticed += decode(&film, &other, slice, &again) == H264_INVALID;
				free(other.data);
			}
		}
		cr_expect_geq(tried, 100);
		cr_expect_eq(noticed, tried, "%u of %u", noticed, tried);
		free(film.bytes.data);
	}
}

Test(h264, start_codes_are_noticed)
{
	struct film film = film_open(films[1]);
	struct h264_picture picture = { 0 };

	memcpy(film.bytes.data + film.slices[0].offset + 100, "\0\0\1", 3);
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[0], &picture), H264_INVALID);
	free(film.bytes.data);
}

/* Frames whose macroblocks may be fields; other samples than 8 bits of 4:2:0; parameter sets that are not there. */
Test(h264, nothing_is_known_of_what_is_not_followed)
{
	struct film film = film_open(films[0]);
	struct h264_picture picture = { 0 };

	film.params.sps[0].frames_only = false;
	film.params.sps[0].adaptive_frames = true;
	film.bytes.data[film.slices[0].offset + 2] &= (uint8_t)~4; /* field_pic_flag */
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[0], &picture), H264_NOT_FOLLOWED);
	free(film.bytes.data);

	film = film_open(films[0]);
	film.params.sps[0].followed = false;
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[0], &picture), H264_NOT_FOLLOWED);
	film.params.sps[0].set = false;
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[0], &picture), H264_INVALID);
	film.params.lost = true;
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[0], &picture), H264_NOT_FOLLOWED);
	free(film.bytes.data);

	/* Slices that switch streams, which only the Extended profile has. */
	film = film_open(films[0]);
	film.bytes.data[film.slices[1].offset + 1] = 0x93; /* 1, 00100, 1 */
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[1], &picture), H264_INVALID);
	film.params.sps[0].any_order = true;
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[1], &picture), H264_NOT_FOLLOWED);
	free(film.bytes.data);
}

/* Slices of baseline profile come in any order. */
Test(h264, slices_without_an_order)
{
	struct film film = film_open(films[1]);
	struct h264_picture picture = { 0 };

	cr_expect_eq(decode(&film, &film.bytes, &film.slices[1], &picture), H264_INVALID);
	film.params.sps[0].any_order = true;
	picture = (struct h264_picture){ 0 };
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[1], &picture), H264_VALID);
	cr_expect_neq(picture.next, picture.size);
	cr_expect_eq(decode(&film, &film.bytes, &film.slices[0], &picture), H264_VALID);
	cr_expect_eq(picture.next, picture.size);
	free(film.bytes.data);
}

/* ---- units that are made ---- */

/* Bits of a unit, the highest of a byte first. */
struct unit {
	uint8_t bytes[64];
	size_t bits;
};

static void put(struct unit *unit, uint32_t value, int count)
{
	for (; count; count--, unit->bits++)
		unit->bytes[unit->bits / 8] |=
			(uint8_t)((value >> (count - 1) & 1) << (7 - unit->bits % 8));
}

/* An Exp-Golomb code (9.1). */
static void put_ue(struct unit *unit, uint32_t value)
{
	int len = 32 - __builtin_clz(value + 1);

	put(unit, 0, len - 1);
	put(unit, value + 1, len);
}

/* The bit that ends a unit. Returns its bytes. */
static size_t end_unit(struct unit *unit)
{
	put(unit, 1, 1);
	return (unit->bits + 7) / 8;
}

/* A sequence parameter set of baseline profile, that ends soon after the picture's size: it describes no more. */
static size_t make_sps(struct unit *unit, uint32_t width, uint32_t height)
{
	*unit = (struct unit){ 0 };
	put(unit, 0x67, 8);
	put(unit, 66, 8);
	put(unit, 30, 16);
	put_ue(unit, 0);
	put_ue(unit, 0); /* 4 bits of frame_num */
	put_ue(unit, 2); /* pictures are in order */
	put_ue(unit, 1);
	put(unit, 0, 1);
	put_ue(unit, width - 1);
	put_ue(unit, height - 1);
	put(unit, 12, 4); /* frames; direct_8x8_inference_flag; neither cropping nor VUI */
	return end_unit(unit);
}

/* A picture parameter set for CAVLC, up to its ninth element. */
static void begin_pps(struct unit *unit)
{
	*unit = (struct unit){ 0 };
	put(unit, 0x68, 8);
	put_ue(unit, 0);
	put_ue(unit, 0);
	put(unit, 0, 2);
	put_ue(unit, 0); /* groups of slices */
	put_ue(unit, 0);
	put_ue(unit, 0);
	put(unit, 0, 3);
	put_ue(unit, 0);
}

static size_t make_pps(struct unit *unit)
{
	begin_pps(unit);
	put_ue(unit, 0);
	put_ue(unit, 0);
	put(unit, 0, 3);
	return end_unit(unit);
}

static void add_unit(struct h264_params *params, const struct unit *unit, size_t len)
{
	struct view *view = view_new_memory(unit->bytes, len);

	h264_add(params, view, 0, len);
	view_free(view);
}

Test(h264, parameter_sets_end_after_few_bits)
{
	struct h264_params params = { 0 };
	struct unit unit;

	add_unit(&params, &unit, make_sps(&unit, 11, 9));
	cr_expect(params.sps[0].set && params.sps[0].followed);
	cr_expect_eq(params.sps[0].width, 11);
	cr_expect_eq(params.sps[0].height, 9);
	add_unit(&params, &unit, make_pps(&unit));
	cr_expect(params.pps[0].set && params.pps[0].followed);
	cr_expect_not(params.pps[0].transform_8x8);
	cr_expect_not(params.lost);
}

/* Some writers leave zeros after them, and these are no part of them. */
Test(h264, zeros_after_parameter_sets_are_left_out)
{
	struct h264_params params = { 0 };
	struct unit unit;

	add_unit(&params, &unit, make_sps(&unit, 11, 9) + 2);
	add_unit(&params, &unit, make_pps(&unit) + 2);
	cr_expect(params.sps[0].set && params.pps[0].set);
	cr_expect_not(params.pps[0].transform_8x8);
	cr_expect_not(params.lost);
}

Test(h264, parameter_sets_that_are_cut_are_lost)
{
	struct h264_params params = { 0 };
	struct unit unit;

	add_unit(&params, &unit, make_sps(&unit, 11, 9) - 1);
	cr_expect(params.lost && !params.sps[0].set);
	params.lost = false;
	begin_pps(&unit);
	add_unit(&params, &unit, end_unit(&unit));
	cr_expect(params.lost && !params.pps[0].set);
}

/* A bit that is reserved, and a level that there is not. */
Test(h264, impossible_parameter_sets_are_lost)
{
	for (unsigned n = 0; n < 2; n++) {
		struct h264_params params = { 0 };
		struct unit unit;
		size_t len = make_sps(&unit, 11, 9);

		unit.bytes[2 + n] = n ? 8 : 1;
		add_unit(&params, &unit, len);
		cr_expect(params.lost && !params.sps[0].set, "%u", n);
	}
}

/* As many sets as are kept, and one of them again; another one does not fit in. */
Test(h264, parameter_sets_are_kept_by_their_numbers)
{
	struct h264_params params = { 0 };
	struct unit unit;

	for (uint8_t id = 0; id < H264_SPS_MAX; id++)
		params.sps[id] = (struct h264_sps){ .set = true, .id = (uint8_t)(id + 1) };
	params.sps[1].id = 0;
	add_unit(&params, &unit, make_sps(&unit, 11, 9));
	cr_expect_eq(params.sps[1].width, 11);
	cr_expect_eq(params.sps[0].id, 1);
	cr_expect_not(params.lost);
	params.sps[1].id = 2;
	add_unit(&params, &unit, make_sps(&unit, 11, 9));
	cr_expect(params.lost);
}

/* A code of few bits leaves out all macroblocks of a large picture. */
Test(h264, macroblocks_that_are_left_out_are_work)
{
	enum { WIDTH = 1000, HEIGHT = 100, MACROBLOCKS = WIDTH * HEIGHT };
	struct h264_decoder *decoder = h264_decoder_new();
	struct h264_params params = { 0 };
	struct h264_picture picture = { 0 };
	struct unit unit;
	struct view *view;
	uint64_t seen;
	size_t len;

	cr_assert_not_null(decoder);
	add_unit(&params, &unit, make_sps(&unit, WIDTH, HEIGHT));
	add_unit(&params, &unit, make_pps(&unit));
	unit = (struct unit){ 0 };
	put(&unit, 0x01, 8); /* not a reference */
	put_ue(&unit, 0);
	put_ue(&unit, 0); /* P */
	put_ue(&unit, 0);
	put(&unit, 0, 4 + 2); /* frame_num; as many references as usual, in their order */
	put_ue(&unit, 0);
	put_ue(&unit, MACROBLOCKS);
	len = end_unit(&unit);
	view = view_new_memory(unit.bytes, len);
	cr_expect_eq(h264_slice(decoder, view, &params, &picture, 0, len, &seen), H264_VALID);
	cr_expect_eq(picture.next, MACROBLOCKS);
	cr_expect_geq(view_work_done(view), MACROBLOCKS);
	view_free(view);
	free(decoder);
}

/* ---- files ---- */

static enum verdict check(const struct bytes *bytes, const struct range *runs, unsigned count,
	struct finding *finding, uint64_t joint, unsigned *proof)
{
	struct memory_image evidence = MEMORY_IMAGE(bytes->data, bytes->len);
	struct view *view = view_new();
	enum verdict verdict;
	uint64_t len = 0;

	for (unsigned i = 0; i < count; i++)
		len += runs[i].length;
	*finding = (struct finding){ 0 };
	view_point_runs(view, &evidence.image, runs, count, len);
	view_set_thorough(view, true);
	verdict = carver_find("mp4")->check(view, finding);
	*proof = view_proof(view, joint);
	view_free(view);
	return verdict;
}

/* Each joint in a slice is proved; one where other bytes begin ends the file, in or soon after the slice. */
Test(h264, a_slice_proves_a_joint)
{
	struct film film = film_open(films[0]);
	struct bytes image = { 0 };
	struct finding found;
	unsigned proof;

	bytes_add(&image, film.bytes.data, film.bytes.len);
	bytes_add_random(&image, 1, film.bytes.len);
	for (unsigned n = 0; n < film.count; n++) {
		const struct range *slice = &film.slices[n];
		uint64_t joint = slice->offset + slice->length / 3;
		uint64_t rest = slice->offset + slice->length - joint;
		const struct range right[] = { { 0, joint }, { joint, film.bytes.len - joint } };
		const struct range wrong[] = { { 0, joint }, { film.bytes.len + joint, rest },
			{ joint + rest, film.bytes.len - joint - rest } };

		cr_expect_eq(check(&image, right, 2, &found, joint, &proof), CARVE_COMPLETE, "%s",
			found.why);
		cr_expect_geq(proof, 14);
		cr_expect_eq(check(&image, wrong, 3, &found, joint, &proof), CARVE_TRUNCATED);
		cr_expect_leq(found.length, slice->offset + slice->length, "%llu",
			(unsigned long long)found.length);
		cr_expect_eq(proof, 0);
	}
	free(image.data);
	free(film.bytes.data);
}

enum { MADE_MAX = 32 };

/* A film of samples of another one. */
struct made {
	struct made_chunk chunks[MADE_MAX];
	unsigned count;
};

/* Adds the sample that has this slice alone. */
static void made_add(struct made *made, const struct film *film, unsigned slice)
{
	const struct range *range = &film->slices[slice];

	cr_assert_lt(made->count, MADE_MAX);
	made->chunks[made->count++] = (struct made_chunk){ 0, film->bytes.data + range->offset - 4,
		range->length + 4, 0 };
}

static struct bytes made_close(struct made *made, const struct film *film)
{
	const uint8_t *entry = film->bytes.data + find(&film->bytes, "avcC") - 4 - 86;
	const struct made_track track = { "vide", entry, be32(entry), 0 };

	return made_film("isom", &track, 1, made->chunks, made->count);
}

static void expect_proof(const struct bytes *bytes, uint64_t joint, unsigned bits)
{
	struct finding found;
	enum verdict verdict;

	unsigned proof = check_in_two(bytes, joint, &verdict, &found);

	cr_expect_eq(proof, bits, "%u at %u, not %u", proof, (unsigned)joint, bits);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
}

/* A slice's end, and the lengths of the next samples' slices, each once. */
Test(h264, samples_prove_a_joint)
{
	static const unsigned order[] = { 0, 6, 1, 5 };
	struct film film = film_open(films[0]);
	struct made made = { .count = 0 };
	struct bytes bytes;

	for (int i = 0; i < 4; i++)
		made_add(&made, &film, order[i]);
	bytes = made_close(&made, &film);
	expect_proof(&bytes, made.chunks[0].at + 500, 14 + 12 + 6 + 6);
	expect_proof(&bytes, made.chunks[1].at + 500, 14 + 12 + 6);
	expect_proof(&bytes, made.chunks[2].at + 200, 14 + 12);
	expect_proof(&bytes, made.chunks[3].at + 100, 14);
	/* Other last bytes are noticed less often. */
	expect_proof(&bytes, bytes.len - 33, 14);
	expect_proof(&bytes, bytes.len - 32, 8);
	expect_proof(&bytes, bytes.len - 1, 8);
	/* Before a slice there is only what its length proves. */
	expect_proof(&bytes, made.chunks[2].at, 12 + 6);
	expect_proof(&bytes, made.chunks[1].at + 4, 12 + 6);
	expect_proof(&bytes, made.chunks[0].at, 0);
	free(bytes.data);
	free(film.bytes.data);
}

/* What comes before a sample's first slice, as an encoder's remarks, proves nothing itself, and takes nothing from the slice. */
Test(h264, samples_prove_a_joint_after_remarks)
{
	static const unsigned order[] = { 0, 6, 1, 5 };
	struct film film = film_open(films[0]);
	const struct range *slice = &film.slices[order[0]];
	struct made made = { .count = 0 };
	struct bytes bytes, first = { 0 };

	bytes_add(&first, "\0\0\1\x2d\6\5", 6);
	bytes_fill(&first, 'x', 299);
	bytes_add(&first, film.bytes.data + slice->offset - 4, slice->length + 4);
	made.chunks[made.count++] = (struct made_chunk){ 0, first.data, first.len, 0 };
	for (int i = 1; i < 4; i++)
		made_add(&made, &film, order[i]);
	bytes = made_close(&made, &film);
	expect_proof(&bytes, made.chunks[0].at + 305 + 500, 14 + 12 + 6 + 6);
	expect_proof(&bytes, made.chunks[0].at + 100, 0);
	free(bytes.data);
	free(first.data);
	free(film.bytes.data);
}

/* An access unit delimiter's length is always the same. */
Test(h264, delimiters_prove_nothing)
{
	static const unsigned order[] = { 0, 6, 1 };
	struct film film = film_open(films[0]);
	struct made made = { .count = 0 };
	struct bytes bytes, samples[3] = { 0 };

	for (int i = 0; i < 3; i++) {
		const struct range *slice = &film.slices[order[i]];

		bytes_add(&samples[i], "\0\0\0\2\x09\x30", 6);
		bytes_add(&samples[i], film.bytes.data + slice->offset - 4, slice->length + 4);
		made.chunks[made.count++] =
			(struct made_chunk){ 0, samples[i].data, samples[i].len, 0 };
	}
	bytes = made_close(&made, &film);
	/* After the delimiter, before the length. */
	expect_proof(&bytes, made.chunks[2].at + 7, 12);
	expect_proof(&bytes, made.chunks[2].at + 10, 0);
	free(bytes.data);
	for (int i = 0; i < 3; i++)
		free(samples[i].data);
	free(film.bytes.data);
}

/* Where all samples are alike, another place of the film would fit by chance, or always. */
Test(h264, like_samples_prove_less)
{
	static const char filler[] =
		"\0\0\0\x0a\6abcdefghi\0\0\0\x0a\6jklmnopqr\0\0\0\x09\6stuvwxyz";
	struct film film = film_open(films[0]);
	struct made made = { .count = 0 };
	struct bytes bytes, sector = { 0 };

	for (int i = 0; i < 4; i++)
		made_add(&made, &film, 6);
	bytes = made_close(&made, &film);
	expect_proof(&bytes, made.chunks[1].at + 500, 14 / 2 + 12 / 2);
	free(bytes.data);
	made.count = 0;
	bytes_add(&sector, film.bytes.data + film.slices[1].offset - 4, film.slices[1].length + 4);
	bytes_add(&sector, filler, sizeof(filler) - 1);
	cr_assert_eq(sector.len, 512);
	for (int i = 0; i < 4; i++)
		made.chunks[made.count++] = (struct made_chunk){ 0, sector.data, sector.len, 0 };
	bytes = made_close(&made, &film);
	expect_proof(&bytes, made.chunks[1].at + 200, 0);
	free(bytes.data);
	free(sector.data);
	free(film.bytes.data);
}

/* Whether the film ends at the first of the samples that are other data. */
static void expect_doubt(unsigned count, unsigned first, unsigned others, bool ends)
{
	static const unsigned order[] = { 0, 6, 1, 5, 2 };
	struct film film = film_open(films[0]);
	struct made made = { .count = 0 };
	struct finding found;
	enum verdict verdict;
	struct bytes bytes;
	uint64_t joint;

	for (unsigned i = 0; i < count; i++)
		made_add(&made, &film, order[i]);
	bytes = made_close(&made, &film);
	joint = made.chunks[first].at + 100;
	for (unsigned i = first; i < first + others; i++)
		memset(bytes.data + made.chunks[i].at + 60, 0x5a, 60);
	cr_expect_eq(check_in_two(&bytes, joint, &verdict, &found), 0);
	cr_expect_eq(verdict, ends ? CARVE_TRUNCATED : CARVE_COMPLETE, "%u", count);
	cr_expect(!ends || found.length <= made.chunks[first].at + made.chunks[first].len);
	free(bytes.data);
	free(film.bytes.data);
}

/* The first samples are other data, or the decoder does not know what the film has. */
Test(h264, first_samples_are_doubted)
{
	expect_doubt(5, 0, 1, true);
	expect_doubt(5, 0, 3, true);
	expect_doubt(2, 0, 2, true);
	expect_doubt(5, 1, 4, true);
	expect_doubt(5, 0, 5, false);
}
