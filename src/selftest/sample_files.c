/*
 * The smallest valid files by each format's specification, with content that compresses, but not to
 * nothing. Checksums and deflate streams are libdeflate's.
 */
#include "selftest/sample_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "base/memory.h"
#include "bench/random.h"

/* ---- bytes --------------------------------------------------------------------------------- */

void bytes_add(struct bytes *bytes, const void *data, size_t len)
{
	if (bytes->capacity - bytes->len < len) {
		bytes->capacity = (bytes->len + len) * 2;
		bytes->data = xreallocarray(bytes->data, bytes->capacity, 1);
	}
	if (len)
		memcpy(bytes->data + bytes->len, data, len);
	bytes->len += len;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

static void add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

static void add_byte(struct bytes *bytes, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	bytes_add(bytes, &byte, 1);
}

static void add_little(struct bytes *bytes, uint32_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		add_byte(bytes, value >> 8 * i & 0xff);
}

static void add_big(struct bytes *bytes, uint32_t value, unsigned width)
{
	while (width--)
		add_byte(bytes, value >> 8 * width & 0xff);
}

void sample_text(struct bytes *bytes, size_t len, uint64_t *seed)
{
	static const char *const words[] = { "the ", "disk ", "was ", "read ", "at ", "noon ",
		"and ", "nothing ", "more ", "could ", "be ", "found ", "on ", "it.\n" };
	size_t end = bytes->len + len;

	while (bytes->len < end)
		add_text(bytes, words[random_below(seed, sizeof(words) / sizeof(*words))]);
	bytes->len = end;
}

/* Values that rise and fall with some noise, like those of a picture or a recording. */
static uint8_t wave(size_t at, uint64_t noise, uint64_t *seed)
{
	size_t phase = at % 251;

	return (uint8_t)((phase < 126 ? phase : 251 - phase) + random_below(seed, noise));
}

/* Compresses len bytes with one of the library's functions. */
static void add_compressed(struct bytes *bytes, const void *data, size_t len,
	size_t (*compress)(struct libdeflate_compressor *, const void *, size_t, void *, size_t))
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
	size_t room = len + len / 4 + 1024;
	uint8_t *compressed = xmalloc(room);

	if (!compressor)
		abort();
	room = compress(compressor, data, len, compressed, room);
	bytes_add(bytes, compressed, room);
	libdeflate_free_compressor(compressor);
	free(compressed);
}

/* ---- PNG ----------------------------------------------------------------------------------- */

static void add_chunk(struct bytes *bytes, const char *type, const struct bytes *content)
{
	size_t start = bytes->len + 4;

	add_big(bytes, (uint32_t)content->len, 4);
	add_text(bytes, type);
	bytes_add(bytes, content->data, content->len);
	add_big(bytes, libdeflate_crc32(0, bytes->data + start, bytes->len - start), 4);
}

/* Grey, eight bits, each row with filter 0. */
static void make_png(struct bytes *bytes, size_t size, uint64_t *seed)
{
	uint32_t width = 96, height = (uint32_t)(size / 64) + 1;
	struct bytes header = { 0 }, rows = { 0 }, compressed = { 0 }, none = { 0 };

	add_big(&header, width, 4);
	add_big(&header, height, 4);
	bytes_add(&header, "\x08\0\0\0", 5);
	for (uint32_t y = 0; y < height; y++) {
		add_byte(&rows, 0);
		for (uint32_t x = 0; x < width; x++)
			add_byte(&rows, wave(x + 3 * y, 16, seed));
	}
	add_compressed(&compressed, rows.data, rows.len, libdeflate_zlib_compress);
	bytes_add(bytes, "\x89PNG\r\n\x1a\n", 8);
	add_chunk(bytes, "IHDR", &header);
	add_chunk(bytes, "IDAT", &compressed);
	add_chunk(bytes, "IEND", &none);
	bytes_free(&header);
	bytes_free(&rows);
	bytes_free(&compressed);
}

/* ---- JPEG ---------------------------------------------------------------------------------- */

struct bit_writer {
	struct bytes *bytes;
	unsigned pending, count;
};

static void put_bits(struct bit_writer *writer, unsigned value, unsigned count)
{
	while (count--) {
		writer->pending = writer->pending << 1 | (value >> count & 1);
		if (++writer->count < 8)
			continue;
		add_byte(writer->bytes, writer->pending & 0xff);
		if ((writer->pending & 0xff) == 0xff)
			add_byte(writer->bytes, 0);
		writer->pending = writer->count = 0;
	}
}

/* Baseline, grey. The DC table has a code of four bits for each of the sizes 0 to 7, the AC table
 * only the end of a block; so each block is its mean. */
static void make_jpeg(struct bytes *bytes, size_t size, uint64_t *seed)
{
	static const uint8_t head[] =
		"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xdb\0\x43\0";
	static const uint8_t tables[] =
		"\xff\xc4\0\x1b\0\0\0\0\x8\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4\5\6\7"
		"\xff\xc4\0\x14\x10\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	uint32_t blocks_high = (uint32_t)(size / 32) + 1;
	struct bit_writer writer = { .bytes = bytes };
	int mean = 0;

	bytes_add(bytes, head, sizeof(head) - 1);
	for (int i = 0; i < 64; i++)
		add_byte(bytes, 1);
	bytes_add(bytes, "\xff\xc0\0\x0b\x08", 5);
	add_big(bytes, blocks_high * 8, 2);
	add_big(bytes, 32 * 8, 2);
	bytes_add(bytes, "\1\1\x11\0", 4);
	bytes_add(bytes, tables, sizeof(tables) - 1);
	bytes_add(bytes, "\xff\xda\0\x08\1\1\0\0\x3f\0", 10);
	for (uint32_t block = 0; block < blocks_high * 32; block++) {
		int next = wave(block * 5, 16, seed) - 64, step = next - mean;
		unsigned bits = 0;

		for (int left = abs(step); left; left >>= 1)
			bits++;
		if (bits > 7)
			bits = step = 0;
		mean += step;
		put_bits(&writer, bits, 4);
		put_bits(&writer, (unsigned)(step < 0 ? step + (1 << bits) - 1 : step), bits);
		put_bits(&writer, 0, 2);
	}
	if (writer.count)
		put_bits(&writer, 0xff, 8 - writer.count);
	bytes_add(bytes, "\xff\xd9", 2);
}

/* ---- GZIP, ZIP ----------------------------------------------------------------------------- */

static void make_gz(struct bytes *bytes, size_t size, uint64_t *seed)
{
	struct bytes text = { 0 };

	sample_text(&text, size * 4, seed);
	add_compressed(bytes, text.data, text.len, libdeflate_gzip_compress);
	bytes_free(&text);
}

struct sample_member {
	const char *name;
	uint32_t crc, compressed_len, len, offset;
	unsigned method;
};

/* The fields that local and central headers share, from the version on. */
static void add_member_fields(struct bytes *bytes, const struct sample_member *member)
{
	add_little(bytes, 20, 2);
	add_little(bytes, 0, 2);
	add_little(bytes, member->method, 2);
	add_little(bytes, 0x58210000, 4); /* 1 January 2024 */
	add_little(bytes, member->crc, 4);
	add_little(bytes, member->compressed_len, 4);
	add_little(bytes, member->len, 4);
	add_little(bytes, (uint32_t)strlen(member->name), 2);
	add_little(bytes, 0, 2);
}

/* Returns the offset of its content. */
static size_t add_member(struct bytes *bytes, size_t start, const struct bytes *content,
	struct sample_member *member)
{
	struct bytes compressed = { 0 };
	size_t place;

	if (member->method)
		add_compressed(
			&compressed, content->data, content->len, libdeflate_deflate_compress);
	else
		bytes_add(&compressed, content->data, content->len);
	member->crc = libdeflate_crc32(0, content->data, content->len);
	member->compressed_len = (uint32_t)compressed.len;
	member->len = (uint32_t)content->len;
	member->offset = (uint32_t)(bytes->len - start);
	add_text(bytes, "PK\3\4");
	add_member_fields(bytes, member);
	add_text(bytes, member->name);
	place = bytes->len;
	bytes_add(bytes, compressed.data, compressed.len);
	bytes_free(&compressed);
	return place;
}

static void add_directory(
	struct bytes *bytes, size_t start, const struct sample_member *members, unsigned count)
{
	size_t directory = bytes->len, end;

	for (unsigned i = 0; i < count; i++) {
		add_text(bytes, "PK\1\2");
		add_little(bytes, 20, 2);
		add_member_fields(bytes, &members[i]);
		for (int field = 0; field < 5; field++)
			add_little(bytes, 0, 2);
		add_little(bytes, members[i].offset, 4);
		add_text(bytes, members[i].name);
	}
	end = bytes->len;
	add_text(bytes, "PK\5\6");
	add_little(bytes, 0, 4);
	add_little(bytes, count, 2);
	add_little(bytes, count, 2);
	add_little(bytes, (uint32_t)(end - directory), 4);
	add_little(bytes, (uint32_t)(directory - start), 4);
	add_little(bytes, 0, 2);
}

static void make_zip(struct bytes *bytes, size_t size, uint64_t *seed)
{
	struct sample_member members[] = { { .name = "readme.txt" },
		{ .name = "notes.txt", .method = 8 } };
	struct bytes text = { 0 };
	size_t start = bytes->len;

	sample_text(&text, size / 2 + 100, seed);
	for (int i = 0; i < 2; i++)
		add_member(bytes, start, &text, &members[i]);
	add_directory(bytes, start, members, 2);
	bytes_free(&text);
}

void sample_zip_around(
	struct bytes *bytes, const struct bytes *inner, uint64_t *seed, size_t *place)
{
	struct sample_member members[] = { { .name = "inner" },
		{ .name = "notes.txt", .method = 8 } };
	struct bytes text = { 0 };
	size_t start = bytes->len;

	sample_text(&text, 2000, seed);
	*place = add_member(bytes, start, inner, &members[0]);
	add_member(bytes, start, &text, &members[1]);
	add_directory(bytes, start, members, 2);
	bytes_free(&text);
}

/* ---- BMP, WAV, PDF ------------------------------------------------------------------------- */

static void make_bmp(struct bytes *bytes, size_t size, uint64_t *seed)
{
	uint32_t width = 64, height = (uint32_t)(size / (width * 3)) + 1, len = width * 3 * height;

	add_text(bytes, "BM");
	add_little(bytes, 54 + len, 4);
	add_little(bytes, 0, 4);
	add_little(bytes, 54, 4);
	add_little(bytes, 40, 4);
	add_little(bytes, width, 4);
	add_little(bytes, height, 4);
	add_little(bytes, 1, 2);
	add_little(bytes, 24, 2);
	add_little(bytes, 0, 4);
	add_little(bytes, len, 4);
	add_little(bytes, 2835, 4);
	add_little(bytes, 2835, 4);
	add_little(bytes, 0, 4);
	add_little(bytes, 0, 4);
	/* Each row resembles the one above, as in a picture. */
	for (uint32_t i = 0; i < len; i++)
		add_byte(bytes, wave(i % (width * 3), 3, seed));
}

/* With a title after the samples, which nothing but what follows them can show to be whole. */
static void make_wav(struct bytes *bytes, size_t size, uint64_t *seed)
{
	uint32_t len = (uint32_t)size & ~1u, title_len = 20;

	add_text(bytes, "RIFF");
	add_little(bytes, 36 + len + 8 + title_len, 4);
	add_text(bytes, "WAVEfmt ");
	add_little(bytes, 16, 4);
	add_little(bytes, 1, 2);
	add_little(bytes, 1, 2);
	add_little(bytes, 8000, 4);
	add_little(bytes, 16000, 4);
	add_little(bytes, 2, 2);
	add_little(bytes, 16, 2);
	add_text(bytes, "data");
	add_little(bytes, len, 4);
	for (uint32_t i = 0; i < len; i++)
		add_byte(bytes, wave(i, 16, seed));
	add_text(bytes, "LIST");
	add_little(bytes, title_len, 4);
	add_text(bytes, "INFOINAM");
	add_little(bytes, 8, 4);
	add_text(bytes, "a sample");
}

static void add_object(
	struct bytes *bytes, size_t start, size_t places[], int number, const char *text)
{
	char head[32];

	places[number] = bytes->len - start;
	snprintf(head, sizeof(head), "%d 0 obj\n", number);
	add_text(bytes, head);
	add_text(bytes, text);
	if (number < 4)
		add_text(bytes, "\nendobj\n");
}

static void make_pdf(struct bytes *bytes, size_t size, uint64_t *seed)
{
	struct bytes text = { 0 };
	size_t start = bytes->len, places[5], xref;
	char line[128];

	add_text(bytes, "%PDF-1.4\n");
	add_object(bytes, start, places, 1, "<< /Type /Catalog /Pages 2 0 R >>");
	add_object(bytes, start, places, 2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
	add_object(bytes, start, places, 3,
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>");
	sample_text(&text, size, seed);
	snprintf(line, sizeof(line), "<< /Length %zu >>\nstream\n", text.len);
	add_object(bytes, start, places, 4, line);
	bytes_add(bytes, text.data, text.len);
	add_text(bytes, "\nendstream\nendobj\n");
	xref = bytes->len - start;
	add_text(bytes, "xref\n0 5\n0000000000 65535 f \n");
	for (int i = 1; i < 5; i++) {
		snprintf(line, sizeof(line), "%010zu 00000 n \n", places[i]);
		add_text(bytes, line);
	}
	snprintf(line, sizeof(line),
		"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%zu\n%%%%EOF\n", xref);
	add_text(bytes, line);
	bytes_free(&text);
}

const struct sample_kind sample_kinds[] = {
	{ "png", make_png, true, true },
	{ "jpeg", make_jpeg, false, false },
	{ "gz", make_gz, true, true },
	{ "zip", make_zip, false, false },
	{ "bmp", make_bmp, false, false },
	{ "wav", make_wav, false, false },
	{ "pdf", make_pdf, true, false },
	{ 0 },
};
