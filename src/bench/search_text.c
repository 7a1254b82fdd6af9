#include "bench/search_text.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/random.h"
#include "evidence/image.h"
#include "patterns/pattern_set.h"
#include "scan/gpu_bench.h"

#define PIECE_LEN ((size_t)64 << 10)
#define SECTOR_LEN 512

int bench_text_take(struct bench_text *text, size_t len, struct error *error)
{
	void *memory = mmap(NULL, len + GPU_BENCH_TEXT_PAD, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return error_set(error, EXIT_IO, ENOMEM,
			"no memory for a text of %zu bytes: choose a smaller --size", len);
	madvise(memory, len, MADV_HUGEPAGE); /* like the reader's ring; it works without, too */
	*text = (struct bench_text){ memory, len };
	return 0;
}

void bench_text_free(struct bench_text *text)
{
	if (text->bytes)
		munmap(text->bytes, text->len + GPU_BENCH_TEXT_PAD);
	*text = (struct bench_text){ 0 };
}

/* ---- content ------------------------------------------------------------------------- */

static size_t smaller(size_t a, uint64_t b)
{
	return b < a ? (size_t)b : a;
}

void bench_text_random(struct bench_text *text, uint64_t seed)
{
	for (size_t at = 0; at < text->len; at += sizeof(uint64_t)) {
		uint64_t value = random_next(&seed);

		memcpy(text->bytes + at, &value, smaller(sizeof(value), text->len - at));
	}
}

void bench_text_from(struct bench_text *text, struct image *image, uint64_t seed)
{
	uint64_t size = image_info(image)->size;

	if (size == text->len) {
		image_read_around(image, 0, text->bytes, text->len);
		return;
	}
	for (size_t at = 0; at < text->len; at += PIECE_LEN) {
		uint64_t places = size > PIECE_LEN ? (size - PIECE_LEN) / SECTOR_LEN + 1 : 1;
		uint64_t from = random_next(&seed) % places * SECTOR_LEN;

		image_read_around(
			image, from, text->bytes + at, smaller(PIECE_LEN, text->len - at));
	}
}

static void plant(uint8_t *at, const struct pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->len; i++)
		at[i] = (uint8_t)((at[i] & ~pattern->mask[i]) |
				  (pattern->bytes[i] & pattern->mask[i]));
}

void bench_text_plant(
	struct bench_text *text, const struct pattern_set *set, uint64_t distance, uint64_t seed)
{
	for (uint64_t i = 0; set->count && i < text->len / distance; i++) {
		const struct pattern *pattern = &set->patterns[random_next(&seed) % set->count];
		uint64_t place = random_next(&seed);

		if (!pattern->regex && pattern->len <= text->len)
			plant(text->bytes + place % (text->len - pattern->len + 1), pattern);
	}
}
