#include "hashing/hash_sets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "hashing/hash_index.h"
#include "hashing/hash_list.h"

/* For each kind of hash, while an index is made. */
#define MAKING_MEMORY ((size_t)128 << 20)

struct hash_set {
	char *name; /* the list's, without its folders */
	struct hash_index *index;
	bool alert;
};

struct hash_sets {
	struct hash_set *items;
	size_t count;
	bool skip_known;
};

static int add_set(
	struct hash_sets *sets, const char *path, bool alert, bool keep_index, struct error *error)
{
	struct hash_set *set = &sets->items[sets->count];
	int status = hash_index_open(&set->index, path, MAKING_MEMORY, keep_index, error);

	if (!status)
		status = hash_kinds_check(hash_index_kinds(set->index), error);
	if (status) {
		hash_index_close(set->index);
		return status;
	}
	set->name = text_clean_copy(text_file_name(path));
	set->alert = alert;
	sets->count++;
	if (hash_index_ignored(set->index))
		log_warn("%s: %" PRIu64 " lines hold no hash and were ignored, %" PRIu64
			 " hashes are known",
			set->name, hash_index_ignored(set->index), hash_index_count(set->index));
	return 0;
}

int hash_sets_open(struct hash_sets **result, const char *const *known, size_t known_count,
	const char *const *alert, size_t alert_count, bool keep_indexes, struct error *error)
{
	struct hash_sets *sets;
	int status = 0;

	*result = NULL;
	if (!known_count && !alert_count)
		return 0;
	sets = xcalloc(1, sizeof(*sets));
	sets->items = xcalloc(known_count + alert_count, sizeof(*sets->items));
	for (size_t i = 0; i < known_count && !status; i++)
		status = add_set(sets, known[i], false, keep_indexes, error);
	for (size_t i = 0; i < alert_count && !status; i++)
		status = add_set(sets, alert[i], true, keep_indexes, error);
	if (status)
		hash_sets_close(sets);
	else
		*result = sets;
	return status;
}

uint32_t hash_sets_kinds(const struct hash_sets *sets)
{
	uint32_t mask = 0;

	for (size_t i = 0; sets && i < sets->count; i++)
		mask |= hash_index_kinds(sets->items[i].index);
	return mask;
}

char *hash_sets_summary(const struct hash_sets *sets)
{
	char *text = xstrdup("");

	for (size_t i = 0; sets && i < sets->count; i++) {
		const struct hash_set *set = &sets->items[i];
		char *longer = xasprintf("%s%s%s %08" PRIx32, text, set->alert ? "!" : "=",
			set->name, hash_index_checksum(set->index));

		free(text);
		text = longer;
	}
	return text;
}

/* 1, 0, or a negative errno. */
static int is_in_set(const struct hash_set *set, const struct hashes *hashes)
{
	const char *const all[] = { hashes->sha256, hashes->sha1, hashes->md5 };
	enum hash_kind kind;
	uint8_t digest[32];
	int found = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !found; i++)
		if (hash_digest_parse(all[i], strlen(all[i]), &kind, digest))
			found = hash_index_find(set->index, kind, digest);
	return found;
}

int hash_sets_find(const struct hash_sets *sets, const struct hashes *hashes, const char **known,
	const char **alert, struct error *error)
{
	*known = *alert = NULL;
	for (size_t i = 0; i < sets->count; i++) {
		const struct hash_set *set = &sets->items[i];
		const char **mark = set->alert ? alert : known;
		int found = *mark ? 0 : is_in_set(set, hashes);

		if (found < 0)
			return error_set(error, EXIT_IO, -found,
				"cannot read the index of the hashes in '%s': %s", set->name,
				strerror(-found));
		if (found)
			*mark = set->name;
	}
	return 0;
}

void hash_sets_skip_known(struct hash_sets *sets)
{
	sets->skip_known = true;
}

bool hash_sets_skips_known(const struct hash_sets *sets)
{
	return sets->skip_known;
}

void hash_sets_close(struct hash_sets *sets)
{
	if (!sets)
		return;
	for (size_t i = 0; i < sets->count; i++) {
		hash_index_close(sets->items[i].index);
		free(sets->items[i].name);
	}
	free(sets->items);
	free(sets);
}
