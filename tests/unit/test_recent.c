/* What a thread read recently is not read again, and is what the image has. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranges.h"
#include "carve/recent.h"
#include "memory_image.h"

#define PART 16384
#define LEN (3 * 1024 * 1024 + 1000)

/* On the heap: the leak sanitizer reads all static arrays at each test's end. */
static uint8_t *content, *others;
static size_t reads, bytes_read;

static int read_counted(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	reads++;
	bytes_read += len;
	return memory_image_read_at(image, offset, buffer, len);
}

static const struct image_backend counted = { .name = "counted", .read_at = read_counted };
static struct memory_image evidence, other;
static struct recent recent;

static void fill(void)
{
	content = xmalloc(LEN);
	others = xmalloc(LEN);
	for (size_t i = 0; i < LEN; i++) {
		content[i] = (uint8_t)(i * 2654435761u >> 13);
		others[i] = (uint8_t)~content[i];
	}
	memory_image_init(&evidence, content, LEN);
	memory_image_init(&other, others, LEN);
	evidence.image.backend = other.image.backend = &counted;
	reads = bytes_read = 0;
}

static void end(void)
{
	free(content);
	free(others);
	recent_free(&recent);
}

TestSuite(recent, .init = fill, .fini = end);

/* Whether a read gives the same as one that keeps nothing, what can't be read included. */
static bool is_same(uint64_t offset, size_t len)
{
	static uint8_t got[300000], wanted[300000];
	struct ranges got_bad = { 0 }, wanted_bad = { 0 };
	bool same;

	memset(got, 0x55, len);
	memset(wanted, 0xaa, len);
	recent_read(&recent, &evidence.image, offset, got, len, &got_bad);
	image_read_noting(&evidence.image, offset, wanted, len, &wanted_bad);
	same = memcmp(got, wanted, len) == 0 && got_bad.count == wanted_bad.count;
	for (size_t i = 0; same && i < got_bad.count; i++)
		same = got_bad.items[i].offset == wanted_bad.items[i].offset &&
		       got_bad.items[i].length == wanted_bad.items[i].length;
	ranges_free(&got_bad);
	ranges_free(&wanted_bad);
	return same;
}

Test(recent, places_that_are_looked_at_in_turn_are_read_once)
{
	uint8_t bytes[5000];

	for (unsigned i = 0; i < 4; i++) {
		recent_read(&recent, &evidence.image, 10, bytes, 4096, NULL);
		recent_read(&recent, &evidence.image, 5 * PART - 100, bytes, 4096, NULL);
		recent_read(&recent, &evidence.image, 20 * PART + 4096 * i, bytes, 4096, NULL);
		cr_expect_arr_eq(bytes, content + 20 * PART + 4096 * i, 4096);
	}
	cr_expect_eq(reads, 4,
		"the first place is in one part, the second in two, the third in one; %zu", reads);
}

/* They cost what they are long: they may be anywhere in an image, and hostile files look at as many places as they can. */
Test(recent, a_few_bytes_are_read_without_what_is_around_them)
{
	uint8_t bytes[4096];

	for (unsigned i = 0; i < 100; i++) {
		recent_read(&recent, &evidence.image, (uint64_t)PART * i + 7, bytes, 100, NULL);
		cr_expect_arr_eq(bytes, content + PART * i + 7, 100);
	}
	cr_expect_leq(bytes_read, 100 * 1024, "%zu", bytes_read);
	recent_read(&recent, &evidence.image, 0, bytes, 4096, NULL);
	bytes_read = 0;
	recent_read(&recent, &evidence.image, 9000, bytes, 100, NULL);
	cr_expect_arr_eq(bytes, content + 9000, 100);
	cr_expect_eq(bytes_read, 0, "that part is kept; %zu", bytes_read);
}

Test(recent, any_read_gives_what_the_image_has)
{
	uint64_t random = 7;

	evidence.bad_from = 40 * PART + 700;
	evidence.bad_to = 40 * PART + 1200;
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t offset;
		size_t len;

		random = random * 6364136223846793005u + 1442695040888963407u;
		len = (random >> 20) % (i % 50 ? 9000 : 300000);
		offset = (random >> 33) % (i % 3 ? LEN + 5000 : 4 * PART) + (i % 7 ? 0 : 39 * PART);
		cr_assert(is_same(offset, len), "%zu at %llu", len, (unsigned long long)offset);
	}
}

Test(recent, another_image_is_read_anew)
{
	uint8_t bytes[100];

	recent_read(&recent, &evidence.image, 0, bytes, 100, NULL);
	recent_read(&recent, &other.image, 0, bytes, 100, NULL);
	cr_expect_arr_eq(bytes, others, 100);
}

static bool interrupts(void)
{
	return true;
}

Test(recent, what_was_cut_is_not_kept)
{
	uint8_t bytes[4096];

	evidence.bad_to = LEN;
	evidence.image.interrupted = interrupts;
	recent_read(&recent, &evidence.image, PART, bytes, sizeof(bytes), NULL);
	cr_assert(image_was_cut(&evidence.image));
	image_forget_cut(&evidence.image);
	evidence.image.interrupted = NULL;
	evidence.bad_to = 0;
	cr_expect(is_same(PART, sizeof(bytes)));
}
