#include "assemble/word_search.h"

#include <string.h>

#include "base/byte_tables.h"
#include "base/memory.h"
#include "carvers/bytes.h"

bool word_set_add(struct word_set *set, const void *bytes, size_t len, size_t key_at)
{
	struct search_word *word = &set->words[set->count];
	uint8_t *first;

	if (set->count == WORDS_MAX || len < WORD_LEN_MIN || len > WORD_LEN_MAX ||
		key_at > WORD_KEY_AT_MAX)
		return false;
	*word = (struct search_word){ .len = (uint8_t)len, .key_at = (uint8_t)key_at };
	memcpy(word->bytes, bytes, len);
	set->has_zeros |= is_all_zero(bytes, len);
	for (int i = 0; i < WORD_LEN_MIN; i++)
		set->classes[i][word->bytes[i]] |= (uint8_t)(1u << set->count % 8);
	first = &set->first[le16(word->bytes)];
	word->next = *first;
	*first = (uint8_t)++set->count;
	return true;
}

/* A hit's key, of which `left` bytes from the hit on are there. */
static uint32_t read_key(const uint8_t *bytes, size_t key_at, size_t left)
{
	uint8_t key[WORD_KEY] = { 0 };

	left -= key_at < left ? key_at : left;
	memcpy(key, bytes + key_at, left < sizeof(key) ? left : sizeof(key));
	return le32(key);
}

struct searching {
	const struct word_set *set;
	const uint8_t *bytes;
	size_t len;
	void (*found)(void *context, unsigned word, size_t at, uint32_t key);
	void *context;
};

/* The words that begin at one of the bytes. */
static void search_place(const struct searching *searching, size_t at)
{
	const uint8_t *bytes = searching->bytes + at;
	size_t left = searching->len - at;
	unsigned next = searching->set->first[le16(bytes)];

	while (next) {
		const struct search_word *word = &searching->set->words[next - 1];

		if (word->len <= left && memcmp(bytes, word->bytes, word->len) == 0)
			searching->found(searching->context, next - 1, at,
				read_key(bytes, word->key_at, left));
		next = word->next;
	}
}

/* Places that are looked up at a time, as most begin no word: the pairs of eight bytes. */
#define GROUP 7

static bool begins_none(const struct word_set *set, uint64_t bytes)
{
	unsigned any = 0;

	for (unsigned i = 0; i < GROUP; i++)
		any |= set->first[bytes >> 8 * i & 0xffff];
	return !any;
}

/* Free space is often zero. A word that is not can start only at the last of so many zeros. */
#define ZEROS 4096

static bool are_zeros(const struct searching *searching, size_t at)
{
	const uint8_t *bytes = searching->bytes + at;

	return !searching->set->has_zeros && searching->len - at >= ZEROS && !le64(bytes) &&
	       is_all_zero(bytes, ZEROS);
}

#ifdef __x86_64__

#define WIDE ((size_t)64)

/* Searches from `at` on, while there is enough to be read at once. Returns where it ended. */
__attribute__((target(BYTE_TABLES_TARGET))) static size_t search_wide(
	const struct searching *searching, size_t step_len)
{
	struct byte_table first = byte_table_load(searching->set->classes[0]);
	struct byte_table second = byte_table_load(searching->set->classes[1]);
	size_t at = 0;

	while (at < step_len && searching->len - at > WIDE) {
		const uint8_t *bytes = searching->bytes + at;
		__m512i one = _mm512_loadu_si512(bytes), other = _mm512_loadu_si512(bytes + 1);
		uint64_t places;

		if (are_zeros(searching, at)) {
			at += ZEROS - (WORD_LEN_MAX - 1);
			continue;
		}
		one = byte_table_look_up(&first, one, _mm512_movepi8_mask(one));
		other = byte_table_look_up(&second, other, _mm512_movepi8_mask(other));
		places = _mm512_test_epi8_mask(one, other);
		if (step_len - at < WIDE)
			places &= ((uint64_t)1 << (step_len - at)) - 1;
		for (; places; places &= places - 1)
			search_place(searching, at + (size_t)__builtin_ctzll(places));
		at += WIDE;
	}
	return at;
}

#endif

static size_t search_most(const struct searching *searching, size_t step_len)
{
#ifdef __x86_64__
	if (byte_tables_can() && !searching->set->is_plain)
		return search_wide(searching, step_len);
#endif
	(void)searching;
	(void)step_len;
	return 0;
}

void word_set_search(const struct word_set *set, const uint8_t *bytes, size_t step_len, size_t len,
	void (*found)(void *context, unsigned word, size_t at, uint32_t key), void *context)
{
	const struct searching searching = { set, bytes, len, found, context };
	size_t at = search_most(&searching, step_len);

	while (at < step_len && at + 1 < len) {
		size_t group = len - at > GROUP ? GROUP : 1;

		if (are_zeros(&searching, at)) {
			at += ZEROS - (WORD_LEN_MAX - 1);
			continue;
		}
		if (group == GROUP && begins_none(set, le64(bytes + at))) {
			at += GROUP;
			continue;
		}
		for (; group && at < step_len; group--, at++)
			search_place(&searching, at);
	}
}
