/* Films and sounds for tests: MP4 with 'moov' first, whose media data are chunks of the caller's. */
#ifndef BURIN_TESTS_BMFF_MADE_H
#define BURIN_TESTS_BMFF_MADE_H

#include "carver_case.h"
#include "memory_image.h"

struct made_track {
	const char *handler;  /* "vide", "soun" */
	const uint8_t *entry; /* the sample entry, a box */
	size_t entry_len;
	uint32_t fixed; /* bytes of each sample; 0: a chunk is a sample */
};

struct made_chunk {
	unsigned track;
	const void *data;
	size_t len;
	uint64_t at; /* is set: where it is in the file */
};

static __attribute__((unused)) size_t box_start(struct bytes *bytes, const char *type)
{
	bytes_fill(bytes, 0, 4);
	bytes_add(bytes, type, 4);
	return bytes->len - 8;
}

static __attribute__((unused)) void box_end(struct bytes *bytes, size_t at)
{
	size_t len = bytes->len - at;

	for (int i = 0; i < 4; i++)
		bytes->data[at + (size_t)i] = (uint8_t)(len >> (24 - 8 * i));
}

static __attribute__((unused)) void add_box(
	struct bytes *bytes, const char *type, const char *content, size_t len)
{
	size_t at = box_start(bytes, type);

	bytes_add(bytes, content, len);
	box_end(bytes, at);
}

/* The track's tables. chunk_at: where each chunk is. */
static __attribute__((unused)) void made_tables(struct bytes *bytes, const struct made_track *track,
	unsigned number, const struct made_chunk *chunks, unsigned count)
{
	size_t stbl = box_start(bytes, "stbl"), at;
	uint64_t samples = 0, chunk_count = 0, n = 0;

	for (unsigned i = 0; i < count; i++)
		if (chunks[i].track == number) {
			samples += track->fixed ? chunks[i].len / track->fixed : 1;
			chunk_count++;
		}
	at = box_start(bytes, "stsd");
	bytes_add(bytes, "\0\0\0\0\0\0\0\1", 8);
	bytes_add(bytes, track->entry, track->entry_len);
	box_end(bytes, at);
	at = box_start(bytes, "stsz");
	bytes_add_be(bytes, 0, 4);
	bytes_add_be(bytes, track->fixed, 4);
	bytes_add_be(bytes, samples, 4);
	for (unsigned i = 0; i < count && !track->fixed; i++)
		if (chunks[i].track == number)
			bytes_add_be(bytes, chunks[i].len, 4);
	box_end(bytes, at);
	at = box_start(bytes, "stsc");
	bytes_add_be(bytes, 0, 4);
	bytes_add_be(bytes, chunk_count, 4);
	for (unsigned i = 0; i < count; i++)
		if (chunks[i].track == number) {
			bytes_add_be(bytes, ++n, 4);
			bytes_add_be(bytes, track->fixed ? chunks[i].len / track->fixed : 1, 4);
			bytes_add_be(bytes, 1, 4);
		}
	box_end(bytes, at);
	at = box_start(bytes, "stco");
	bytes_add_be(bytes, 0, 4);
	bytes_add_be(bytes, chunk_count, 4);
	for (unsigned i = 0; i < count; i++)
		if (chunks[i].track == number)
			bytes_add_be(bytes, chunks[i].at, 4);
	box_end(bytes, at);
	box_end(bytes, stbl);
}

/* A file of these tracks, whose chunks follow one another. */
static __attribute__((unused)) struct bytes made_film(const char *brand,
	const struct made_track *tracks, unsigned track_count, struct made_chunk *chunks,
	unsigned count)
{
	struct bytes bytes = { 0 };
	size_t mdat = 0;

	/* Where the chunks are is only known with the boxes before them. */
	for (int round = 0; round < 2; round++) {
		uint64_t at = mdat + 8;
		size_t moov;

		for (unsigned i = 0; i < count; at += chunks[i++].len)
			chunks[i].at = at;
		bytes.len = 0;
		mdat = box_start(&bytes, "ftyp");
		bytes_add(&bytes, brand, 4);
		bytes_fill(&bytes, 0, 4);
		bytes_add(&bytes, brand, 4);
		box_end(&bytes, mdat);
		moov = box_start(&bytes, "moov");
		for (unsigned i = 0; i < track_count; i++) {
			size_t trak = box_start(&bytes, "trak"), mdia, minf, hdlr;

			mdia = box_start(&bytes, "mdia");
			hdlr = box_start(&bytes, "hdlr");
			bytes_fill(&bytes, 0, 8);
			bytes_add(&bytes, tracks[i].handler, 4);
			bytes_fill(&bytes, 0, 13);
			box_end(&bytes, hdlr);
			minf = box_start(&bytes, "minf");
			made_tables(&bytes, &tracks[i], i, chunks, count);
			box_end(&bytes, minf);
			box_end(&bytes, mdia);
			box_end(&bytes, trak);
		}
		box_end(&bytes, moov);
		mdat = box_start(&bytes, "mdat");
	}
	for (unsigned i = 0; i < count; i++)
		bytes_add(&bytes, chunks[i].data, chunks[i].len);
	box_end(&bytes, mdat);
	return bytes;
}

/* Checks the file as one in two pieces; returns the bits that prove where they meet. */
static __attribute__((unused)) unsigned check_in_two(
	const struct bytes *bytes, uint64_t joint, enum verdict *verdict, struct finding *found)
{
	const struct range runs[] = { { 0, joint }, { joint, bytes->len - joint } };
	struct memory_image evidence = MEMORY_IMAGE(bytes->data, bytes->len);
	struct view *view = view_new();
	unsigned bits;

	*found = (struct finding){ 0 };
	view_point_runs(view, &evidence.image, runs, 2, bytes->len);
	view_set_thorough(view, true);
	*verdict = carver_find("mp4")->check(view, found);
	bits = view_proof(view, joint);
	view_free(view);
	return bits;
}

#endif
