/*
 * igzip accepts intact streams. What it accepts with the right CRC either zlib accepts with the
 * same end, or it inflates to the right bytes all the same (codes that no byte uses may be
 * damaged), whatever was changed or cut, and in whatever pieces the input comes. No byte outside a
 * piece is touched: each piece ends at an inaccessible page, because igzip is assembly, which
 * sanitizers do not instrument.
 */
#include "carver_case.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "carvers/common/igzip.h"
#include "tier.h"

#define ROOM_LEN ((size_t)1 << 18)
#define PLAIN_MAX 200000

static uint64_t random_state;

static uint32_t draw(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

struct result {
	bool done;
	size_t taken, given;
	uint32_t crc;
};

/* ROOM_LEN bytes followed by such a page. */
static uint8_t *fenced(void)
{
	uint8_t *room = mmap(
		NULL, ROOM_LEN + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(room != MAP_FAILED);
	cr_assert(!mprotect(room + ROOM_LEN, 4096, PROT_NONE));
	return room;
}

/* Words with random bytes among them: matches of all lengths, and literals. */
static size_t make_plain(uint8_t *plain)
{
	size_t len = draw(4) ? draw(3000) : draw(PLAIN_MAX), at = 0;
	uint32_t odd = 1 + draw(40);

	while (at < len) {
		size_t step = 1 + draw(draw(8) ? 20 : 300), from = at ? draw((uint32_t)at) : 0;

		for (size_t i = 0; i < step && at < len; i++, at++)
			plain[at] = at && draw(odd) ? plain[from + i] : (uint8_t)draw(256);
	}
	return len;
}

static size_t deflate_all(const uint8_t *plain, size_t len, bool gzip, uint8_t *compressed)
{
	static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE };
	z_stream stream = { .next_in = (Bytef *)plain,
		.avail_in = (uInt)len,
		.next_out = compressed,
		.avail_out = (uInt)ROOM_LEN };

	cr_assert_eq(deflateInit2(&stream, (int)draw(10), Z_DEFLATED, gzip ? 31 : -15,
			     1 + (int)draw(9), strategies[draw(4)]),
		Z_OK);
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static struct result by_zlib(const uint8_t *compressed, size_t len, bool gzip)
{
	static uint8_t output[4096];
	struct result result = { 0 };
	z_stream stream = { .next_in = (Bytef *)compressed, .avail_in = (uInt)len };
	int code;

	cr_assert_eq(inflateInit2(&stream, gzip ? 31 : -15), Z_OK);
	do {
		stream.next_out = output;
		stream.avail_out = sizeof(output);
		code = inflate(&stream, Z_NO_FLUSH);
		result.crc = (uint32_t)crc32(
			result.crc, output, (uInt)(sizeof(output) - stream.avail_out));
	} while (code == Z_OK);
	result.done = code == Z_STREAM_END;
	result.taken = stream.total_in;
	result.given = stream.total_out;
	inflateEnd(&stream);
	return result;
}

static struct result by_igzip(
	const uint8_t *compressed, size_t len, bool gzip, uint8_t *in, uint8_t *out)
{
	struct inflate_state *state = igzip_open(gzip);
	struct result result = { 0 };
	enum igzip_step step = IGZIP_MORE;
	uint32_t in_max = draw(2) ? 65536 : 1 + draw(300),
		 out_max = draw(2) ? 65536 : 1 + draw(300);

	while (step == IGZIP_MORE && result.taken < len) {
		size_t piece_len = 1 + draw(in_max), left, room, room_len;
		const uint8_t *piece;

		if (piece_len > len - result.taken)
			piece_len = len - result.taken;
		piece = memcpy(in + ROOM_LEN - piece_len, compressed + result.taken, piece_len);
		left = piece_len;
		do {
			room = room_len = 1 + draw(out_max);
			step = igzip_run(state, &piece, &left, out + ROOM_LEN - room, &room);
			result.given += room_len - room;
			result.crc = (uint32_t)crc32(
				result.crc, out + ROOM_LEN - room_len, (uInt)(room_len - room));
		} while (step == IGZIP_MORE && !room);
		cr_assert_leq(left, piece_len, "it gives back more than it got");
		cr_assert(step != IGZIP_MORE || !left, "it stops with %zu bytes left", left);
		result.taken += piece_len - left;
	}
	igzip_close(state);
	result.done = step == IGZIP_DONE;
	return result;
}

static void damage(uint8_t *compressed, size_t *len)
{
	uint32_t kind = draw(4);

	if (kind == 0)
		*len = draw((uint32_t)*len);
	else if (kind == 1)
		compressed[draw((uint32_t)*len)] ^= (uint8_t)(1 << draw(8));
	else if (kind == 2)
		memset(compressed + draw((uint32_t)*len), (int)draw(256), 1 + draw(200));
	else
		for (size_t at = draw((uint32_t)*len); at < *len; at++)
			compressed[at] = (uint8_t)draw(256);
}

static void expect_like_zlib(const uint8_t *compressed, size_t len, bool gzip,
	const struct result *sound, uint8_t *in, uint8_t *out)
{
	struct result quick = by_igzip(compressed, len, gzip, in, out), sure;

	if (!quick.done)
		return;
	sure = by_zlib(compressed, len, gzip);
	if (!sure.done) {
		cr_assert(!gzip || (quick.crc == sound->crc && quick.given == sound->given),
			"zlib does not call it done");
		return;
	}
	cr_assert_eq(quick.taken, sure.taken, "%zu, not %zu bytes taken", quick.taken, sure.taken);
	cr_assert_eq(quick.given, sure.given);
	cr_assert_eq(quick.crc, sure.crc);
}

Test(igzip, agrees_with_zlib)
{
	uint8_t *plain = malloc(PLAIN_MAX), *compressed = malloc(ROOM_LEN + 1000);
	uint8_t *in = fenced(), *out = fenced();

	random_state = test_seed() << 20 | 1;
	printf("seed %llu\n", (unsigned long long)random_state);
	for (unsigned round = 0; round < test_tier(80, 300, 6000); round++) {
		bool gzip = draw(2);
		size_t len = make_plain(plain), behind = draw(30), packed_len;
		struct result result;

		packed_len = deflate_all(plain, len, gzip, compressed);
		for (size_t i = 0; i < behind; i++)
			compressed[packed_len + i] = (uint8_t)draw(256);
		result = by_igzip(compressed, packed_len + behind, gzip, in, out);
		cr_assert(result.done, "a sound stream of %zu bytes is not done at %zu", packed_len,
			result.taken);
		cr_assert_eq(result.taken, packed_len, "%zu, not %zu bytes taken", result.taken,
			packed_len);
		cr_assert_eq(result.given, len);
		cr_assert_eq(result.crc, crc32(0, plain, (uInt)len));
		damage(compressed, &packed_len);
		expect_like_zlib(compressed, packed_len, gzip, &result, in, out);
	}
	free(plain);
	free(compressed);
	munmap(in, ROOM_LEN + 4096);
	munmap(out, ROOM_LEN + 4096);
}
