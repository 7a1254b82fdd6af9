/*
 * A chunk is compressed, a whole zlib stream with its own checksum, or stored, with an Adler-32
 * behind its bytes.
 *
 * What a thread needs comes from a pool, whose size bounds the memory. Blocks of one and the same
 * byte, of which media are full, have the same packed form each time: the last one seen is kept,
 * and what equals it is filled in without unpacking.
 */
#include "evidence/e01_unpack.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/e01_sections.h"

#define SUM_LEN 4
#define SCRATCH_MEMORY ((size_t)128 << 20)
#define BLANK_MAX 256

struct e01_unpacker {
	size_t chunk_len, packed_len;
	size_t made, most;    /* scratches */
	pthread_mutex_t lock; /* over the above and the free ones */
	pthread_cond_t returned;
	struct e01_scratch *free;
	pthread_rwlock_t blank_lock; /* over the packed form of a chunk that is all one byte */
	uint8_t blank[BLANK_MAX], blank_byte;
	size_t blank_len;
};

/* ---- scratch ------------------------------------------------------------------------------- */

struct e01_unpacker *e01_unpacker_new(size_t chunk_len, size_t packed_len)
{
	struct e01_unpacker *unpacker = xcalloc(1, sizeof(*unpacker));
	size_t most = SCRATCH_MEMORY / (packed_len + chunk_len);

	unpacker->chunk_len = chunk_len;
	unpacker->packed_len = packed_len;
	unpacker->most = most < 2 ? 2 : most;
	pthread_mutex_init(&unpacker->lock, NULL);
	pthread_cond_init(&unpacker->returned, NULL);
	pthread_rwlock_init(&unpacker->blank_lock, NULL);
	return unpacker;
}

static void free_scratch(struct e01_scratch *scratch)
{
	libdeflate_free_decompressor(scratch->inflater);
	free(scratch->packed);
	free(scratch->plain);
	free(scratch);
}

void e01_unpacker_free(struct e01_unpacker *unpacker)
{
	if (!unpacker)
		return;
	while (unpacker->free) {
		struct e01_scratch *scratch = unpacker->free;

		unpacker->free = scratch->next;
		free_scratch(scratch);
	}
	pthread_rwlock_destroy(&unpacker->blank_lock);
	pthread_cond_destroy(&unpacker->returned);
	pthread_mutex_destroy(&unpacker->lock);
	free(unpacker);
}

static struct e01_scratch *make_scratch(const struct e01_unpacker *unpacker)
{
	struct e01_scratch *scratch = calloc(1, sizeof(*scratch));

	if (!scratch)
		return NULL;
	scratch->packed = malloc(unpacker->packed_len);
	scratch->plain = malloc(unpacker->chunk_len);
	scratch->inflater = libdeflate_alloc_decompressor();
	if (scratch->packed && scratch->plain && scratch->inflater)
		return scratch;
	free_scratch(scratch);
	return NULL;
}

struct e01_scratch *e01_scratch_take(struct e01_unpacker *unpacker)
{
	struct e01_scratch *scratch;

	pthread_mutex_lock(&unpacker->lock);
	while (!unpacker->free && unpacker->made == unpacker->most)
		pthread_cond_wait(&unpacker->returned, &unpacker->lock);
	scratch = unpacker->free;
	if (scratch) {
		unpacker->free = scratch->next;
	} else {
		scratch = make_scratch(unpacker);
		unpacker->made += scratch != NULL;
	}
	pthread_mutex_unlock(&unpacker->lock);
	return scratch;
}

void e01_scratch_give(struct e01_unpacker *unpacker, struct e01_scratch *scratch)
{
	pthread_mutex_lock(&unpacker->lock);
	scratch->next = unpacker->free;
	unpacker->free = scratch;
	pthread_cond_signal(&unpacker->returned);
	pthread_mutex_unlock(&unpacker->lock);
}

/* ---- unpacking ----------------------------------------------------------------------------- */

/* A stream ends by itself: what begins with the blank chunk's is the same one. */
static bool fill_blank(struct e01_unpacker *unpacker, const uint8_t *bytes, size_t len, uint8_t *to)
{
	bool same;

	pthread_rwlock_rdlock(&unpacker->blank_lock);
	same = unpacker->blank_len && unpacker->blank_len <= len &&
	       !memcmp(unpacker->blank, bytes, unpacker->blank_len);
	if (same)
		memset(to, unpacker->blank_byte, unpacker->chunk_len);
	pthread_rwlock_unlock(&unpacker->blank_lock);
	return same;
}

/* A whole chunk was unpacked from `used` bytes. */
static void note_blank(
	struct e01_unpacker *unpacker, const uint8_t *bytes, size_t used, const uint8_t *plain)
{
	if (memcmp(plain, plain + 1, unpacker->chunk_len - 1))
		return;
	pthread_rwlock_wrlock(&unpacker->blank_lock);
	memcpy(unpacker->blank, bytes, used);
	unpacker->blank_len = used;
	unpacker->blank_byte = *plain;
	pthread_rwlock_unlock(&unpacker->blank_lock);
}

static enum e01_fault inflate_chunk(struct e01_unpacker *unpacker, struct e01_scratch *scratch,
	const uint8_t *bytes, size_t len, bool exact, uint8_t *to, size_t plain_len)
{
	bool whole = plain_len == unpacker->chunk_len;
	uint8_t *out = whole ? to : scratch->plain; /* the last chunk may be padded */
	size_t used, made;

	if (whole && !exact && len <= BLANK_MAX && fill_blank(unpacker, bytes, len, to))
		return E01_GOOD;
	if (libdeflate_zlib_decompress_ex(scratch->inflater, bytes, len, out, unpacker->chunk_len,
		    &used, &made) != LIBDEFLATE_SUCCESS ||
		made < plain_len)
		return E01_PACKED;
	if (exact && used != len)
		return E01_ENTRY;
	if (!whole)
		memcpy(to, out, plain_len);
	else if (used <= BLANK_MAX)
		note_blank(unpacker, bytes, used, to);
	return E01_GOOD;
}

/* The medium's last chunk may hold more than the medium has: padding, or an odd last sector. */
static enum e01_fault copy_chunk(const struct e01_unpacker *unpacker, const uint8_t *bytes,
	size_t len, bool exact, uint8_t *to, size_t plain_len)
{
	size_t lens[3] = { plain_len, len < SUM_LEN ? 0 : len - SUM_LEN, unpacker->chunk_len };

	for (int i = 0; i < 3; i++) {
		if (lens[i] < plain_len || lens[i] + SUM_LEN > len ||
			(exact && lens[i] + SUM_LEN != len) || !e01_sum_holds(bytes, lens[i]))
			continue;
		memcpy(to, bytes, plain_len);
		return E01_GOOD;
	}
	return exact && plain_len + SUM_LEN != len ? E01_ENTRY : E01_SUM;
}

enum e01_fault e01_unpack(struct e01_unpacker *unpacker, struct e01_scratch *scratch,
	bool compressed, const uint8_t *bytes, size_t len, bool exact, uint8_t *to,
	size_t plain_len)
{
	if (compressed)
		return inflate_chunk(unpacker, scratch, bytes, len, exact, to, plain_len);
	return copy_chunk(unpacker, bytes, len, exact, to, plain_len);
}
