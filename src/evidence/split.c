/*
 * Which files a split raw image consists of can only be determined from their names. The part's
 * number is the text after the last dot: digits that start at 0 or 1 (dd, FTK Imager, ewfexport:
 * .001 .002 ... .999 .1000) or letters that start with a's (split, dcfldd: .aa .ab ... .zz), at
 * least two of them, so that "image.1" and "notes.a" stay what they are.
 *
 * GNU split widens its suffixes before it runs out of them, and keeps the names in order: .yz is
 * followed by .zaaa, .89 by .9000. So where the plain successor is missing and is a row of last
 * digits followed by first ones, two more first ones are tried.
 */
#include "evidence/split.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* Letters far after the last part are some other file: image.gz next to image.ab. */
#define LETTER_GAP 25

/* A kind of suffix: its digits run from first to last. */
struct alphabet {
	char first, last;
};

static const struct alphabet alphabets[] = { { '0', '9' }, { 'a', 'z' }, { 'A', 'Z' } };

/* Where the suffix of path begins, and its alphabet; NULL when path has none that can number a
 * part. */
static const char *suffix_of(const char *path, const struct alphabet **alphabet)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	const char *suffix = dot ? dot + 1 : NULL;
	size_t len = suffix ? strlen(suffix) : 0;

	if (!dot || (slash && dot < slash) || dot == path || dot[-1] == '/' || len < 2 || len > 9)
		return NULL;
	for (size_t i = 0; i < sizeof(alphabets) / sizeof(alphabets[0]); i++) {
		const struct alphabet *a = &alphabets[i];
		size_t fit = 0;

		while (fit < len && suffix[fit] >= a->first && suffix[fit] <= a->last)
			fit++;
		if (fit == len) {
			*alphabet = a;
			return suffix;
		}
	}
	return NULL;
}

/* The suffix as a number in its alphabet. At most nine digits, so that it always fits. */
static uint64_t rank_of(const char *suffix, const struct alphabet *alphabet)
{
	uint64_t base = (uint64_t)(alphabet->last - alphabet->first) + 1, rank = 0;

	for (; *suffix; suffix++)
		rank = rank * base + (uint64_t)(*suffix - alphabet->first);
	return rank;
}

static bool is_first(const char *suffix, const struct alphabet *alphabet)
{
	uint64_t rank = rank_of(suffix, alphabet);

	return rank == 0 || (rank == 1 && alphabet->first == '0');
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Advances the suffix at the end of name, which has room for three more bytes. False: there is no
 * next one. */
static bool advance(char *suffix, const struct alphabet *alphabet)
{
	size_t len = strlen(suffix), i = len;

	while (i > 0 && suffix[i - 1] == alphabet->last)
		suffix[--i] = alphabet->first;
	if (i > 0) {
		suffix[i - 1]++;
		return true;
	}
	if (alphabet->first != '0' || len >= 9)
		return false;
	memmove(suffix + 1, suffix, len + 1); /* .999 -> .1000 */
	suffix[0] = '1';
	return true;
}

/* Adds two first digits to a suffix like "za" or "90" (see above); false for any other. */
static bool widen(char *suffix, const struct alphabet *alphabet)
{
	size_t len = strlen(suffix), i = 0;

	while (i < len && suffix[i] == alphabet->last)
		i++;
	if (i == 0 || i == len || len > 7)
		return false;
	for (; i < len; i++)
		if (suffix[i] != alphabet->first)
			return false;
	memset(suffix + len, alphabet->first, 2);
	suffix[len + 2] = 0;
	return true;
}

/* The name of the part after path if that file exists; the caller frees it. NULL: none. */
static char *next_part(const char *path, const struct alphabet *alphabet)
{
	size_t stem_len = (size_t)(strrchr(path, '.') + 1 - path);
	char *next = xasprintf("%s   ", path); /* room to grow */
	char *suffix = next + stem_len;

	suffix[strlen(path) - stem_len] = 0;
	if (advance(suffix, alphabet) &&
		(exists(next) || (widen(suffix, alphabet) && exists(next))))
		return next;
	free(next);
	return NULL;
}

/* The lowest file next to last that would be a later part, though the part between is missing: its
 * name, which the caller frees, or NULL. */
static char *part_after_gap(const char *last, const struct alphabet *alphabet)
{
	const char *slash = strrchr(last, '/'), *name = slash ? slash + 1 : last;
	size_t stem_len = (size_t)(strrchr(name, '.') + 1 - name), name_len = strlen(name);
	char *folder = slash ? strndup(last, (size_t)(slash + 1 - last)) : strdup("."),
	     *found = NULL;
	uint64_t low = rank_of(name + stem_len, alphabet), best = UINT64_MAX;
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	if (alphabet->first != '0')
		best = low + LETTER_GAP;
	while (dir && (entry = readdir(dir))) {
		const struct alphabet *other;
		const char *suffix = suffix_of(entry->d_name, &other);
		uint64_t rank = suffix ? rank_of(suffix, other) : 0;

		if (!suffix || other != alphabet || strlen(entry->d_name) != name_len ||
			strncmp(entry->d_name, name, stem_len) || rank <= low || rank >= best)
			continue;
		best = rank;
		free(found);
		found = xstrdup(entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(folder);
	return found;
}

/* The first part of the set of which path is a later one; the caller frees it. NULL: no such file.
 */
static char *first_part(const char *path, const char *suffix, const struct alphabet *alphabet)
{
	char *first = xstrdup(path);
	size_t stem_len = (size_t)(suffix - path), len = strlen(suffix);
	char *digits = first + stem_len;

	memset(digits, alphabet->first, len);
	if (exists(first))
		return first;
	digits[len - 1]++;
	if (alphabet->first == '0' && exists(first))
		return first;
	free(first);
	return NULL;
}

/* True when continuing from first, part by part, leads to path. */
static bool leads_to(const char *first, const char *path, const struct alphabet *alphabet)
{
	char *part = xstrdup(first);
	bool found = false;

	while (part && !found) {
		char *next = next_part(part, alphabet);

		free(part);
		part = next;
		found = part && !strcmp(part, path);
	}
	free(part);
	return found;
}

char *split_first(const char *path)
{
	const struct alphabet *alphabet;
	const char *suffix = suffix_of(path, &alphabet);
	char *first = suffix ? first_part(path, suffix, alphabet) : NULL;

	/* Letters may be a name like image.dd, which only a complete row of parts makes a part. */
	if (first && strcmp(first, path) &&
		(alphabet->first == '0' || leads_to(first, path, alphabet)))
		return first;
	free(first);
	return NULL;
}

static int refuse_later_part(const char *path, struct error *error)
{
	char *first = split_first(path);
	int rc = 0;

	if (first)
		rc = error_set(error, EXIT_IO, EINVAL,
			"%s is a later part of a split image: give the first one, %s", path, first);
	free(first);
	return rc;
}

static int refuse_gap(const char *last, const struct alphabet *alphabet, struct error *error)
{
	char *later = part_after_gap(last, alphabet);

	if (!later)
		return 0;
	error_set(error, EXIT_IO, ENOENT,
		"the part after %s is missing, though %s exists: find it, or move the parts "
		"after the gap away to carve what is before it",
		last, later);
	free(later);
	return -ENOENT;
}

/* Appends the parts after the first one, as long as they follow each other. */
static char **find_parts(
	char **list, size_t *capacity, size_t *count, const struct alphabet *alphabet)
{
	char *next;

	while ((next = next_part(list[*count - 1], alphabet))) {
		list = xgrow(list, capacity, *count, sizeof(*list));
		list[(*count)++] = next;
	}
	return list;
}

int split_find(const char *path, char ***paths, size_t *count, struct error *error)
{
	const struct alphabet *alphabet;
	const char *suffix = suffix_of(path, &alphabet);
	size_t capacity = 0, found = 0;
	char **list = xgrow(NULL, &capacity, 0, sizeof(*list));
	int rc = 0;

	list[found++] = xstrdup(path);
	if (suffix)
		rc = refuse_later_part(path, error);
	if (suffix && !rc && is_first(suffix, alphabet)) {
		list = find_parts(list, &capacity, &found, alphabet);
		rc = refuse_gap(list[found - 1], alphabet, error);
	}
	if (rc) {
		while (found)
			free(list[--found]);
		free(list);
		return rc;
	}
	*paths = list;
	*count = found;
	return 0;
}
