/* The content map: the same from chunks of any length, whoever classifies them, and which class
 * blocks get. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "content_map/block_map.h"
#include "content_map/map_bin.h"
#include "temp.h"

TestSuite(block_map, .init = temp_make, .fini = temp_remove);

#define BLOCK ((size_t)MAP_BIN_BLOCK_MIN)
#define BLOCKS 9
#define LEN (BLOCKS * BLOCK + 1000)

static const uint8_t expected[BLOCKS + 1] = { CONTENT_ZERO, CONTENT_COMPRESSED, CONTENT_TEXT,
	CONTENT_TEXT, CONTENT_CODE, CONTENT_OTHER, CONTENT_OTHER, CONTENT_CODE, CONTENT_TEXT,
	CONTENT_OTHER /* too few bytes to tell */ };

static uint32_t random_state = 1;

static uint8_t random_byte(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint8_t)(random_state >> 24);
}

static void repeat(uint8_t *to, const void *bytes, size_t len)
{
	for (size_t i = 0; i < BLOCK; i++)
		to[i] = ((const uint8_t *)bytes)[i % len];
}

/* A block of each kind. */
static uint8_t *make_image(void)
{
	static const uint8_t x86[] =
		"\x55\x48\x89\xE5\x48\x83\xEC\x20\x48\x8D\x3D\x10\x22\x00\x00\xE8"
		"\x31\x04\x00\x00\x85\xC0\x74\x0C\x48\x8B\x45\xF8\x0F\xB6\x12\x99"
		"\xC3\x41\x57\x41\x56\x53\x0F\x84\x67\x01\x00\x00\x4C\x89\xFE\x31";
	static const uint8_t arm64[] =
		"\xFD\x7B\xBE\xA9\xFD\x03\x00\x91\xF3\x0B\x00\xF9\x13\x00\x00\x90"
		"\x60\x42\x1C\x91\x25\x84\xFF\x97\xE1\x03\x00\xAA\x40\x00\x80\x52"
		"\xBF\x17\x05\xB9\x08\x3C\x40\x39\x1A\x2B\x3C\xD5\x77\x66\x55\x54";
	static const char english[] =
		"The map shows at a glance where something may lie; 1234.\r\n";
	static const char umlauts[] =
		"\xC3\x9C"
		"ber \xC3\x84pfel, \xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2 \xE2\x82\xAC ";
	uint8_t *image = calloc(LEN, 1);

	for (size_t i = 0; i < BLOCK; i++) {
		image[BLOCK + i] = random_byte();
		image[5 * BLOCK + i] = (uint8_t)(i / 8 % 40 + i % 4);
		image[8 * BLOCK + i] = i % 2 ? 0 : (uint8_t)english[i / 2 % (sizeof(english) - 1)];
	}
	repeat(image + 2 * BLOCK, english, sizeof(english) - 1);
	repeat(image + 3 * BLOCK, umlauts, sizeof(umlauts) - 1);
	repeat(image + 4 * BLOCK, x86, sizeof(x86) - 1);
	image[6 * BLOCK + 511] = 1; /* not in the sample */
	repeat(image + 7 * BLOCK, arm64, sizeof(arm64) - 1);
	for (size_t i = BLOCKS * BLOCK; i < LEN; i++)
		image[i] = random_byte();
	return image;
}

static struct output_dir *open_sink(void)
{
	struct error error = { 0 };
	struct output_dir *output_dir;

	unlink(temp_at("out/" MAP_BIN_NAME));
	cr_assert_eq(output_dir_open(&output_dir, temp_at("out"), &error), 0, "%s", error.text);
	return output_dir;
}

/* The file's content; the map is gone then. */
static uint8_t *finish(struct block_map *map, const struct ranges *unreadable,
	struct content_sums *sums, size_t *len)
{
	struct output_dir *output_dir = open_sink();
	struct error error = { 0 };

	cr_assert_eq(
		block_map_finish(map, unreadable, output_dir, sums, &error), 0, "%s", error.text);
	output_dir_close(output_dir);
	block_map_free(map);
	return (uint8_t *)temp_read("out/" MAP_BIN_NAME, len);
}

static void give(struct block_map *map, const uint8_t *image, uint64_t offset, size_t len)
{
	static struct block_ends ends;

	block_map_begin(&ends);
	block_map_add(map, &ends, offset, image + offset, len);
	block_map_join(map, &ends);
}

static uint64_t number_at(const uint8_t *bytes, size_t len)
{
	uint64_t number = 0;

	while (len--)
		number = number << 8 | bytes[len];
	return number;
}

Test(block_map, classes_and_layout)
{
	struct block_map *map = block_map_new(LEN);
	struct content_sums sums;
	uint8_t *image = make_image(), *file;
	size_t len;

	give(map, image, 0, LEN);
	file = finish(map, NULL, &sums, &len);
	cr_assert_eq(len, MAP_BIN_HEAD_LEN + 2 * (BLOCKS + 1));
	cr_assert_eq(memcmp(file, "BURINMAP", 8), 0);
	cr_assert_eq(number_at(file + 8, 4), 1);
	cr_assert_eq(number_at(file + 12, 4), 64);
	cr_assert_eq(number_at(file + 16, 8), LEN);
	cr_assert_eq(number_at(file + 24, 8), 4096);
	cr_assert_eq(number_at(file + 32, 8), BLOCKS + 1);
	cr_assert_eq(number_at(file + 40, 4), 2);
	cr_assert_eq(number_at(file + 44, 4), 512);
	for (size_t i = 0; i <= BLOCKS; i++)
		cr_assert_eq(file[64 + 2 * i], expected[i], "block %zu is %s", i,
			content_class_name(file[64 + 2 * i]));
	cr_assert_eq(file[65], 0);
	cr_assert_geq(file[64 + 3], 245, "random bytes have %u/32 bits", file[64 + 3]);
	cr_assert(file[64 + 5] > 3.8 * 32 && file[64 + 5] < 5 * 32, "%u", file[64 + 5]);
	cr_assert_eq(sums.block_len, 4096);
	cr_assert_eq(sums.bytes[CONTENT_ZERO], 4096);
	cr_assert_eq(sums.bytes[CONTENT_TEXT], 3 * 4096);
	cr_assert_eq(sums.bytes[CONTENT_COMPRESSED], 4096);
	free(file);
	free(image);
}

/* In 1/32 bits, as content_map/content.c computes it, without optimisations. */
static uint8_t entropy_of(const uint8_t *sample, size_t len)
{
	unsigned counts[256] = { 0 }, values = 0;
	uint64_t sum = 0, bits;

	for (size_t i = 0; i < len; i++)
		counts[sample[i]]++;
	for (unsigned value = 0; value < 256; value++) {
		values += counts[value] != 0;
		if (counts[value])
			sum += (uint64_t)lround(counts[value] * log2(counts[value]) * 65536);
	}
	bits = ((uint64_t)lround((double)len * log2((double)len) * 65536) - sum) / len +
	       (uint64_t)(values - 1) * 47274 / len;
	return bits >= 255 * 2048 ? 255 : (uint8_t)(bits / 2048);
}

Test(block_map, entropy_of_any_mixture)
{
	static uint8_t sample[CONTENT_SAMPLE_LEN];

	for (unsigned seed = 1; seed <= 3000; seed++) {
		size_t len;
		unsigned often, values;
		uint8_t entropy;

		random_state = seed;
		random_byte();
		len = seed % 3 == 0 ? 512 : seed % 3 == 1 ? sizeof(sample) : 1 + seed % 1200;
		often = random_byte(); /* of 256 bytes, those that are one value */
		values = 1u + random_byte();
		for (size_t i = 0; i < len; i++)
			sample[i] = random_byte() < often ? (uint8_t)seed
							  : (uint8_t)(random_byte() % values);
		content_classify(sample, len, &entropy);
		cr_assert_eq(entropy, entropy_of(sample, len), "seed %u: %u, not %u", seed, entropy,
			entropy_of(sample, len));
	}
}

Test(block_map, pieces_make_no_difference)
{
	uint8_t *image = make_image(), *whole, *file;
	struct block_map *map = block_map_new(LEN);
	struct content_sums sums;
	size_t len, file_len;

	give(map, image, 0, LEN);
	whole = finish(map, NULL, &sums, &len);
	for (unsigned seed = 1; seed <= 40; seed++) {
		size_t most = seed < 10 ? 70 : seed < 30 ? 3000 : 3 * BLOCK;

		random_state = seed;
		map = block_map_new(LEN);
		for (size_t at = 0, step; at < LEN; at += step) {
			step = 1 + (random_byte() << 8 | random_byte()) % most;
			if (step > LEN - at)
				step = LEN - at;
			give(map, image, at, step);
		}
		file = finish(map, NULL, &sums, &file_len);
		cr_assert(file_len == len && memcmp(file, whole, len) == 0, "seed %u", seed);
		free(file);
	}
	free(whole);
	free(image);
}

Test(block_map, gaps_and_what_is_unreadable)
{
	struct block_map *map = block_map_new(LEN);
	struct ranges unreadable = { 0 };
	static struct block_ends ends;
	uint8_t *image = make_image(), *file;
	struct content_sums sums;
	size_t len;

	/* one chunk with holes in it: a bit of blocks 1, 3 and 4, and all of 5 */
	block_map_begin(&ends);
	block_map_add(map, &ends, BLOCK + 600, image + BLOCK + 600, 1000);
	block_map_add(map, &ends, 3 * BLOCK + 10, image + 3 * BLOCK + 10, 500);
	block_map_add(map, &ends, 4 * BLOCK + 100, image + 4 * BLOCK + 100, 100);
	block_map_add(map, &ends, 5 * BLOCK, image + 5 * BLOCK, BLOCK);
	block_map_join(map, &ends);
	give(map, image, 6 * BLOCK, 400);
	ranges_add(&unreadable, 5 * BLOCK + 4095, 2 * BLOCK);
	file = finish(map, &unreadable, &sums, &len);
	cr_assert_eq(file[64], CONTENT_NOT_READ);
	cr_assert_eq(
		file[66], CONTENT_OTHER); /* of the sample there are 64 bytes: too few to say */
	cr_assert_eq(file[68], CONTENT_NOT_READ);
	cr_assert_eq(file[70], CONTENT_TEXT);
	cr_assert_eq(file[72], CONTENT_OTHER);
	cr_assert_eq(file[74], CONTENT_UNREADABLE);
	cr_assert_eq(file[76], CONTENT_UNREADABLE);
	cr_assert_eq(file[78], CONTENT_NOT_READ, "nothing was read");
	cr_assert_eq(sums.bytes[CONTENT_UNREADABLE], 2 * BLOCK);
	ranges_free(&unreadable);
	free(file);
	free(image);
}

/* Another process, of which there are three, classifies the part. */
static uint8_t *described(struct block_map *there, const uint8_t *image, const struct range *runs,
	size_t run_count, size_t *len)
{
	static struct block_ends ends;

	block_map_begin(&ends);
	for (size_t i = 0; i < run_count; i++)
		block_map_add(there, &ends, runs[i].offset, image + runs[i].offset,
			(size_t)runs[i].length);
	return block_map_encode(there, &ends, runs, run_count, len);
}

/* Random chunks of random runs: of all of the image, or of part of it. */
static void compare_others(const uint8_t *image, unsigned seed, bool holes)
{
	struct block_map *here = block_map_new(LEN), *alone = block_map_new(LEN), *there[3];
	size_t most = seed < 20 ? 300 : 3 * BLOCK, len, here_len, alone_len, count = 0;
	struct content_sums sums;
	struct range runs[5];
	uint8_t *files[2];

	random_state = seed;
	for (size_t i = 0; i < 3; i++)
		there[i] = block_map_new(LEN);
	for (size_t at = 0; at < LEN;) {
		size_t hole = holes && random_byte() % 2 ? random_byte() * 40 : 0;
		size_t step = 1 + (random_byte() << 8 | random_byte()) % most;

		at += hole;
		if (at < LEN) {
			runs[count++] = (struct range){ at, step < LEN - at ? step : LEN - at };
			give(alone, image, at, (size_t)runs[count - 1].length);
			at += step;
		}
		if (count && (count == 5 || at >= LEN || !(random_byte() % 3))) {
			uint8_t *bytes =
				described(there[random_byte() % 3], image, runs, count, &len);

			cr_assert_eq(block_map_apply(here, runs, count, bytes, len), 0);
			free(bytes);
			count = 0;
		}
	}
	files[0] = finish(here, NULL, &sums, &here_len);
	files[1] = finish(alone, NULL, &sums, &alone_len);
	cr_assert(here_len == alone_len && memcmp(files[0], files[1], here_len) == 0, "seed %u",
		seed);
	free(files[0]);
	free(files[1]);
	for (size_t i = 0; i < 3; i++)
		block_map_free(there[i]);
}

Test(block_map, other_processes_make_no_difference)
{
	uint8_t *image = make_image();

	for (unsigned seed = 1; seed <= 40; seed++)
		compare_others(image, seed, seed % 2);
	free(image);
}

Test(block_map, invalid_descriptions_are_refused)
{
	static const struct range runs[] = { { 100, 2 * BLOCK }, { 5 * BLOCK, 2 * BLOCK + 9 } };
	struct block_map *there = block_map_new(LEN), *here = block_map_new(LEN);
	uint8_t *image = make_image();
	size_t len;
	uint8_t *bytes = described(there, image, runs, 2, &len);
	uint8_t *longer = calloc(len + 1, 1);

	memcpy(longer, bytes, len);
	cr_assert_eq(block_map_apply(here, runs, 2, bytes, len), 0);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *part = malloc(cut + !cut);

		memcpy(part, bytes, cut);
		cr_assert_eq(block_map_apply(here, runs, 2, part, cut), -EBADMSG, "%zu", cut);
		free(part);
	}
	cr_assert_eq(block_map_apply(here, runs, 2, longer, len + 1), -EBADMSG);
	cr_assert_eq(block_map_apply(here, runs, 1, bytes, len), -EBADMSG, "of other blocks");
	longer[len - 4] = CONTENT_CLASSES; /* of the last block but one */
	cr_assert_eq(block_map_apply(here, runs, 2, longer, len), -EBADMSG);
	memcpy(longer, bytes, len);
	longer[2] = BLOCKS + 1; /* the block of the first end */
	cr_assert_eq(block_map_apply(here, runs, 2, longer, len), -EBADMSG);
	memcpy(longer, bytes, len);
	longer[3] = 0xFF; /* the length of its sample: 16,383 */
	longer[4] = 0x7F;
	cr_assert_eq(block_map_apply(here, runs, 2, longer, len), -EBADMSG);
	block_map_free(there);
	block_map_free(here);
	free(longer);
	free(bytes);
	free(image);
}

Test(block_map, goes_on_from_a_checkpoint)
{
	uint8_t *image = make_image(), *whole, *file;
	struct content_sums sums;
	size_t len, file_len;
	struct block_map *map = block_map_new(LEN);

	give(map, image, 0, LEN);
	whole = finish(map, NULL, &sums, &len);
	for (size_t at = 0; at <= LEN; at += 1777) {
		int fd = memfd_create("state", 0);
		struct codec_writer *writer = codec_writer_new(fd);
		struct codec_reader *reader;

		map = block_map_new(LEN);
		give(map, image, 0, at);
		block_map_save(map, writer);
		cr_assert_eq(codec_writer_close(writer), 0);
		block_map_free(map);
		cr_assert_eq(codec_reader_open(&reader, fd), 0);
		map = block_map_new(LEN);
		block_map_load(map, reader);
		cr_assert(codec_ok(reader) && codec_at_end(reader));
		codec_reader_close(reader);
		close(fd);
		give(map, image, at, LEN - at);
		file = finish(map, NULL, &sums, &file_len);
		cr_assert(file_len == len && memcmp(file, whole, len) == 0, "at %zu", at);
		free(file);
	}
	free(whole);
	free(image);
}

Test(block_map, stays_small)
{
	static const struct {
		uint64_t evidence, block;
	} sizes[] = { { 1, 4096 }, { (uint64_t)1 << 34, 4096 }, { ((uint64_t)1 << 34) + 1, 8192 },
		{ (uint64_t)1 << 40, 262144 }, { 0, 4096 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct block_map *map = block_map_new(sizes[i].evidence);
		struct content_sums sums;
		size_t len;
		uint8_t *file = finish(map, NULL, &sums, &len);

		cr_assert_eq(sums.block_len, sizes[i].block);
		cr_assert_eq(sums.bytes[CONTENT_NOT_READ], sizes[i].evidence);
		cr_assert_leq(len, 64 + 2 * MAP_BIN_BLOCKS_MAX);
		free(file);
	}
}

/* Loads a checkpoint whose first block has this class, and whose others were not read. */
static bool load_class(struct block_map *map, unsigned content_class)
{
	struct codec_writer writer = { 0 };
	struct codec_reader reader;
	bool valid;

	codec_put(&writer, content_class);
	for (size_t i = 4; i < BLOCKS; i += 4)
		codec_put(&writer, 0);
	for (size_t i = 0; i < 4; i++) /* nothing of a block that is under way */
		codec_put(&writer, 0);
	reader = codec_reader_from(writer.bytes, writer.len);
	block_map_load(map, &reader);
	valid = codec_ok(&reader);
	free(writer.bytes);
	return valid;
}

/* The map must be fit to be finished, whatever a checkpoint holds. */
Test(block_map, unknown_classes_in_a_checkpoint)
{
	struct block_map *map = block_map_new(LEN);
	struct content_sums sums;
	uint64_t sum = 0;
	size_t len;

	cr_expect(load_class(map, CONTENT_CLASSES - 1));
	cr_expect_not(load_class(map, CONTENT_CLASSES));
	cr_expect_not(load_class(map, 255));
	free(finish(map, NULL, &sums, &len));
	for (size_t i = 0; i < CONTENT_CLASSES; i++)
		sum += sums.bytes[i];
	cr_expect_eq(sum, LEN);
}
