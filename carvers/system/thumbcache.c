/*
 * Thumbnail caches of Windows Vista and later, thumbcache_*.db (libyal's documentation of the WTCDB
 * format).
 *
 *	file:  header: 'CMMM', version (20 and 21; 26 and more), type, [4 bytes, in later versions], first entry, first
 *		available entry, [number of entries, in earlier ones]
 *	entry: 'CMMM', length, hash, [4 letters, version 20], lengths of identifier, padding and
 *	       data, ..., identifier (UTF-16), padding, data
 *
 * The entries follow each other. The available one, whose parts are all empty, takes the rest of
 * the file, and so ends it; if the chain ends in another way, the end is unverified. burin checks
 * the lengths, that identifiers have no control characters, that data starts like a picture, and
 * whether the available entry is zeros: else, with what entries before it left there, the file is
 * unverified. (The checksums are of an unpublished type.)
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEADER_LEN 24
#define ENTRY_MAX (256u << 20)

struct thumb_cache {
	struct view *view;
	uint32_t version, available;
	uint32_t entry_len; /* of an entry's header */
	uint64_t at;        /* the next entry */
	uint64_t entries;
	bool ended;       /* the available entry was seen */
	uint64_t left_at; /* where it is, if it is not zeros */
};

static const char *read_header(struct thumb_cache *cache)
{
	const uint8_t *p = view_peek(cache->view, 0, 32);

	if (!p || memcmp(p, "CMMM", 4) != 0)
		return "no header";
	cache->version = le32(p + 4);
	if (cache->version < 20 || cache->version > 32 || le32(p + 8) > 15)
		return "an impossible version or type";
	cache->entry_len = cache->version == 21 ? 48 : 56;
	for (uint32_t len = HEADER_LEN; len <= 28; len += 4) {
		if (memcmp(p + len, "CMMM", 4) != 0)
			continue;
		cache->at = len;
		cache->available = le32(p + len - (le32(p + len - 8) == len ? 4 : 8));
		return NULL;
	}
	return "no entry after the header";
}

/* Whether data starts like a thumbnail. */
static bool possible_data(const uint8_t *p, uint32_t len)
{
	return len < 8 || memcmp(p, "BM", 2) == 0 || memcmp(p, "\xff\xd8\xff", 3) == 0 ||
	       memcmp(p, "\x89PNG", 4) == 0 || memcmp(p, "RIFF", 4) == 0 ||
	       memcmp(p, "II*", 3) == 0;
}

enum thumb_entry { ENTRY_VALID, ENTRY_NONE, ENTRY_CUT };

static enum thumb_entry read_entry(struct thumb_cache *cache)
{
	const uint8_t *p = view_peek(cache->view, cache->at, cache->entry_len);
	uint32_t len, id_len, padding_len, data_len, field = cache->version == 20 ? 24 : 16;
	uint64_t left = view_size(cache->view) - cache->at;

	if (!p || memcmp(p, "CMMM", 4) != 0)
		return ENTRY_NONE;
	len = le32(p + 4);
	id_len = le32(p + field);
	padding_len = le32(p + field + 4);
	data_len = le32(p + field + 8);
	if (len < cache->entry_len || len > ENTRY_MAX || id_len > 1024 || padding_len > 65536 ||
		id_len + padding_len > len - cache->entry_len ||
		data_len > len - cache->entry_len - id_len - padding_len)
		return ENTRY_NONE;
	if (len > left)
		return ENTRY_CUT;
	if (id_len == 0 && data_len == 0) {
		if (!walk_zeros(cache->view, cache->at + cache->entry_len, cache->at + len)) {
			if (cache->at != cache->available)
				return ENTRY_NONE;
			cache->left_at = cache->at;
		}
		cache->ended |= cache->at == cache->available;
		cache->at += len;
		return ENTRY_VALID;
	}
	p = view_peek(cache->view, cache->at + cache->entry_len, id_len);
	for (uint32_t i = 0; p && i + 2 <= id_len; i += 2)
		if (le16(p + i) < ' ')
			return ENTRY_NONE;
	p = view_peek(cache->view, cache->at + cache->entry_len + id_len + padding_len,
		data_len < 8 ? data_len : 8);
	if (data_len && (!p || !possible_data(p, data_len)))
		return ENTRY_NONE;
	if (data_len)
		view_embedded(cache->view, cache->at + cache->entry_len + id_len + padding_len);
	cache->at += len;
	cache->entries++;
	cache->ended = false;
	return ENTRY_VALID;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct thumb_cache cache = { .view = view };
	const char *problem = read_header(&cache);
	enum thumb_entry entry;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	while ((entry = read_entry(&cache)) == ENTRY_VALID)
		;
	if (cache.entries == 0 && !cache.ended)
		return verdict_because(CARVE_REJECT, finding, "no valid entry");
	finding->length = cache.at;
	view_holds(view, HEADER_LEN, cache.at);
	if (entry == ENTRY_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : cache.at);
	if (cache.ended && cache.left_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the available entry at %" PRIu64 " is not zeros", cache.left_at);
	if (cache.ended)
		return CARVE_COMPLETE;
	if (cache.at < cache.available)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no entry at %" PRIu64 ", before the first available one at %" PRIu32,
			cache.at, cache.available);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no available entry at the end; %" PRIu64 " entries are valid", cache.entries);
}

const struct carver thumbcache_carver = {
	.name = "thumbcache",
	.summary = "Thumbnail caches of Windows, by their entries",
	.check = check,
};
