/*
 * A chunk is either compressed, a whole zlib stream with its own checksum, or stored, with an
 * Adler-32 after its bytes.
 *
 * What a thread needs comes from a pool, whose size bounds the memory. Chunks that repeat one byte,
 * of which media are full, have the same compressed form each time: the last one seen is kept, and
 * chunks equal to it are filled in without decompressing.
 */
#include "evidence/e01_decode.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/e01_sections.h"

#define SUM_LEN 4
#define SCRATCH_MEMORY ((size_t)128 << 20)
#define BLANK_MAX 256

struct e01_decoder {
	size_t chunk_len, stored_len;
	size_t made, made_max; /* of scratch structs */
	pthread_mutex_t lock;  /* over the above and the free ones */
	pthread_cond_t returned;
	struct e01_scratch *free;
	pthread_rwlock_t blank_lock; /* over the compressed form of a chunk that repeats one byte */
	uint8_t blank[BLANK_MAX], blank_byte;
	size_t blank_len;
};

/* ---- scratch ------------------------------------------------------------------------------- */

struct e01_decoder *e01_decoder_new(size_t chunk_len, size_t stored_len)
{
	struct e01_decoder *decoder = xcalloc(1, sizeof(*decoder));
	size_t made_max = SCRATCH_MEMORY / (stored_len + chunk_len);

	decoder->chunk_len = chunk_len;
	decoder->stored_len = stored_len;
	decoder->made_max = made_max < 2 ? 2 : made_max;
	pthread_mutex_init(&decoder->lock, NULL);
	pthread_cond_init(&decoder->returned, NULL);
	pthread_rwlock_init(&decoder->blank_lock, NULL);
	return decoder;
}

static void free_scratch(struct e01_scratch *scratch)
{
	libdeflate_free_decompressor(scratch->inflater);
	free(scratch->stored);
	free(scratch->plain);
	free(scratch);
}

void e01_decoder_free(struct e01_decoder *decoder)
{
	if (!decoder)
		return;
	while (decoder->free) {
		struct e01_scratch *scratch = decoder->free;

		decoder->free = scratch->next;
		free_scratch(scratch);
	}
	pthread_rwlock_destroy(&decoder->blank_lock);
	pthread_cond_destroy(&decoder->returned);
	pthread_mutex_destroy(&decoder->lock);
	free(decoder);
}

static struct e01_scratch *make_scratch(const struct e01_decoder *decoder)
{
	struct e01_scratch *scratch = calloc(1, sizeof(*scratch));

	if (!scratch)
		return NULL;
	scratch->stored = malloc(decoder->stored_len);
	scratch->plain = malloc(decoder->chunk_len);
	scratch->inflater = libdeflate_alloc_decompressor();
	if (scratch->stored && scratch->plain && scratch->inflater)
		return scratch;
	free_scratch(scratch);
	return NULL;
}

struct e01_scratch *e01_scratch_acquire(struct e01_decoder *decoder)
{
	struct e01_scratch *scratch;

	pthread_mutex_lock(&decoder->lock);
	while (!decoder->free && decoder->made == decoder->made_max)
		pthread_cond_wait(&decoder->returned, &decoder->lock);
	scratch = decoder->free;
	if (scratch) {
		decoder->free = scratch->next;
	} else {
		scratch = make_scratch(decoder);
		decoder->made += scratch != NULL;
	}
	pthread_mutex_unlock(&decoder->lock);
	return scratch;
}

void e01_scratch_release(struct e01_decoder *decoder, struct e01_scratch *scratch)
{
	pthread_mutex_lock(&decoder->lock);
	scratch->next = decoder->free;
	decoder->free = scratch;
	pthread_cond_signal(&decoder->returned);
	pthread_mutex_unlock(&decoder->lock);
}

/* ---- decompressing ------------------------------------------------------------------------- */

/* A stream marks its own end: bytes that begin with the blank chunk's stream are that stream. */
static bool fill_blank(struct e01_decoder *decoder, const uint8_t *bytes, size_t len, uint8_t *to)
{
	bool same;

	pthread_rwlock_rdlock(&decoder->blank_lock);
	same = decoder->blank_len && decoder->blank_len <= len &&
	       !memcmp(decoder->blank, bytes, decoder->blank_len);
	if (same)
		memset(to, decoder->blank_byte, decoder->chunk_len);
	pthread_rwlock_unlock(&decoder->blank_lock);
	return same;
}

/* A whole chunk was decompressed from `used` bytes. */
static void note_blank(
	struct e01_decoder *decoder, const uint8_t *bytes, size_t used, const uint8_t *plain)
{
	if (memcmp(plain, plain + 1, decoder->chunk_len - 1))
		return;
	pthread_rwlock_wrlock(&decoder->blank_lock);
	memcpy(decoder->blank, bytes, used);
	decoder->blank_len = used;
	decoder->blank_byte = *plain;
	pthread_rwlock_unlock(&decoder->blank_lock);
}

static enum e01_fault inflate_chunk(struct e01_decoder *decoder, struct e01_scratch *scratch,
	const uint8_t *bytes, size_t len, bool exact, uint8_t *to, size_t plain_len)
{
	bool whole = plain_len == decoder->chunk_len;
	uint8_t *out = whole ? to : scratch->plain; /* the last chunk may be padded */
	size_t used, made;

	if (whole && !exact && len <= BLANK_MAX && fill_blank(decoder, bytes, len, to))
		return E01_GOOD;
	if (libdeflate_zlib_decompress_ex(scratch->inflater, bytes, len, out, decoder->chunk_len,
		    &used, &made) != LIBDEFLATE_SUCCESS ||
		made < plain_len)
		return E01_CORRUPT;
	if (exact && used != len)
		return E01_ENTRY;
	if (!whole)
		memcpy(to, out, plain_len);
	else if (used <= BLANK_MAX)
		note_blank(decoder, bytes, used, to);
	return E01_GOOD;
}

/* The medium's last chunk may hold more than the medium has: padding, or an odd last sector. */
static enum e01_fault copy_chunk(const struct e01_decoder *decoder, const uint8_t *bytes,
	size_t len, bool exact, uint8_t *to, size_t plain_len)
{
	size_t lens[3] = { plain_len, len < SUM_LEN ? 0 : len - SUM_LEN, decoder->chunk_len };

	for (int i = 0; i < 3; i++) {
		if (lens[i] < plain_len || lens[i] + SUM_LEN > len ||
			(exact && lens[i] + SUM_LEN != len) || !e01_sum_holds(bytes, lens[i]))
			continue;
		memcpy(to, bytes, plain_len);
		return E01_GOOD;
	}
	return exact && plain_len + SUM_LEN != len ? E01_ENTRY : E01_SUM;
}

enum e01_fault e01_decode(struct e01_decoder *decoder, struct e01_scratch *scratch, bool compressed,
	const uint8_t *bytes, size_t len, bool exact, uint8_t *to, size_t plain_len)
{
	if (compressed)
		return inflate_chunk(decoder, scratch, bytes, len, exact, to, plain_len);
	return copy_chunk(decoder, bytes, len, exact, to, plain_len);
}
