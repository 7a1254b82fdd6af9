/*
 * A carved file's name must be the same in every run, so names are allocated serially, in the
 * report's order, while the files themselves are created and written by many threads. What a name
 * depends on is kept per type: how many files it has had, and the extensions seen at the last
 * offset (files come in order of offset, so only neighbours can collide).
 *
 * Types are checked when rules are read; here they are cleaned once more, because this is the last
 * place before the file system.
 */
#include "output/path_alloc.h"

#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "output/output_dir.h"

#define LABEL_MAX 80     /* bytes of a title in a name */
#define EXTENSION_MAX 32 /* bytes */
#define RECENT 64        /* types that are found without a search */

struct seen {
	char extension[EXTENSION_MAX + 2];
	uint32_t count;
};

struct type {
	char *name;          /* the key */
	const char *folder;  /* of the next file, with a slash; "" for the type "" */
	uint64_t file_count; /* names allocated */
	uint64_t folder_number;
	uint64_t offset;   /* of the last name */
	struct seen *seen; /* the extensions at that offset */
	size_t seen_count, seen_capacity;
};

struct taken {
	char *name;
};

/* Rules give their types' names as they have them: the same pointer for the same type. */
struct recent {
	const char *name;
	struct type *type;
};

struct path_alloc {
	void *types;   /* tree of struct type */
	void *folders; /* tree of struct taken: names in use in the output folder itself */
	struct recent recent[RECENT]; /* by the name's address */
	struct strpool used;          /* types' folders with their slashes */
};

/* For both trees: their nodes start with the name. */
static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct path_alloc *path_alloc_new(void)
{
	return xcalloc(1, sizeof(struct path_alloc));
}

/* Writes a plain path component of at most len_max bytes and a zero, or a byte more if the name is
 * empty: letters, digits, dot, minus, underscore, no leading dot. Returns its length. */
static size_t plain_name(const char *name, size_t len_max, char *plain)
{
	size_t len = strnlen(name, len_max);

	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			  (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i > 0);

		plain[i] = ok ? c : '_';
	}
	if (len == 0)
		plain[len++] = '_';
	plain[len] = '\0';
	return len;
}

/* Finds or adds the node of len bytes that starts with the name. added may be NULL. */
static void *find_or_add(void **tree, const char *name, size_t len, bool *added)
{
	void **found = tfind(&name, tree, compare_names);
	void *node;

	if (added)
		*added = !found;
	if (found)
		return *found;
	node = xcalloc(1, len);
	*(char **)node = xstrdup(name);
	if (!tsearch(node, tree, compare_names))
		fatal("out of memory for the names of files");
	return node;
}

/* True when the name was still free. */
static bool claim_folder(struct path_alloc *path_alloc, const char *name)
{
	bool added;

	find_or_add(&path_alloc->folders, name, sizeof(struct taken), &added);
	return added;
}

void path_alloc_reserve(struct path_alloc *path_alloc, const char *name)
{
	claim_folder(path_alloc, name);
}

/* Gives the type its next folder: TYPE, TYPE.2, TYPE.3 ... */
static void next_folder(struct path_alloc *path_alloc, struct type *type)
{
	char plain[202], *folder = NULL, *slashed;

	plain_name(type->name, 200, plain);
	do {
		free(folder);
		type->folder_number++;
		folder = type->folder_number == 1
				 ? xstrdup(plain)
				 : xasprintf("%s.%" PRIu64, plain, type->folder_number);
	} while (!claim_folder(path_alloc, folder));
	slashed = xasprintf("%s/", folder);
	type->folder = strpool_add(&path_alloc->used, slashed);
	free(slashed);
	free(folder);
}

/* How many names with this offset and extension the type has had, this one included. */
static uint32_t count_name(
	struct type *type, uint64_t offset, const char *extension, size_t extension_len)
{
	if (type->offset != offset)
		type->seen_count = 0;
	type->offset = offset;
	for (size_t i = 0; i < type->seen_count; i++)
		if (strcmp(type->seen[i].extension, extension) == 0)
			return ++type->seen[i].count;
	type->seen = xgrow(type->seen, &type->seen_capacity, type->seen_count, sizeof(*type->seen));
	type->seen[type->seen_count] = (struct seen){ .count = 1 };
	memcpy(type->seen[type->seen_count++].extension, extension, extension_len + 1);
	return 1;
}

static struct type *find_type(struct path_alloc *path_alloc, const char *name)
{
	struct recent *recent = &path_alloc->recent[((uintptr_t)name >> 4) % RECENT];

	if (recent->name != name || strcmp(recent->type->name, name) != 0)
		*recent = (struct recent){ name,
			find_or_add(&path_alloc->types, name, sizeof(struct type), NULL) };
	return recent->type;
}

static char *put_text(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

/* At least `digits` of them, at most DIGITS_MAX. */
static char *put_number(char *to, uint64_t number, unsigned digits)
{
	uint64_t power = 10;
	unsigned len = 1;

	for (; len < DIGITS_MAX && number >= power; len++)
		power = len + 1 < DIGITS_MAX ? power * 10 : UINT64_MAX;
	for (; digits > len; digits--)
		*to++ = '0';
	digits_before(to + len, number);
	return to + len;
}

/* Empty for none. Returns its length. */
static size_t plain_extension(const char *extension, char plain[EXTENSION_MAX + 2])
{
	plain[0] = '\0';
	return *extension ? plain_name(extension, EXTENSION_MAX, plain) : 0;
}

void path_alloc_claim(struct path_alloc *path_alloc, const char *type_name, uint64_t offset,
	const char *extension, struct path_claim *claim)
{
	struct type *type = find_type(path_alloc, type_name);
	char suffix[EXTENSION_MAX + 2];
	size_t suffix_len = plain_extension(extension, suffix);

	claim->number = count_name(type, offset, suffix, suffix_len);
	if (*type_name && type->file_count++ % OUTPUT_DIR_FOLDER_FILES == 0)
		next_folder(path_alloc, type);
	claim->folder = type->folder ? type->folder : "";
}

/* Not by snprintf, which would be the slowest part of reporting a file. */
char *path_alloc_print(const struct path_claim *claim, uint64_t offset, const char *label,
	const char *extension, unsigned digits, char *room, size_t room_len)
{
	char suffix[EXTENSION_MAX + 2], called[LABEL_MAX + 2], *name, *end;
	size_t suffix_len = plain_extension(extension, suffix);
	size_t called_len = *label ? plain_name(label, LABEL_MAX, called) : 0;
	size_t folder_len = strlen(claim->folder), len_max;

	len_max = folder_len + DIGITS_MAX + (claim->number > 1 ? 1 + DIGITS_MAX : 0) + 1 +
		  called_len + 1 + suffix_len;
	end = name = len_max < room_len ? room : xmalloc(len_max + 1);
	end = put_text(end, claim->folder, folder_len);
	end = put_number(end, offset, digits > DIGITS_MAX ? DIGITS_MAX : digits);
	if (claim->number > 1)
		end = put_number(put_text(end, "-", 1), claim->number, 1);
	if (called_len)
		end = put_text(put_text(end, "_", 1), called, called_len);
	if (suffix_len)
		end = put_text(put_text(end, ".", 1), suffix, suffix_len);
	*end = '\0';
	return name;
}

/* ---- in a checkpoint ----------------------------------------------------------------------- */

#define NAME_LEN_MAX ((size_t)1 << 16)

struct saving {
	struct codec_writer *writer; /* NULL: only counts */
	uint64_t count;
};

static void save_type(const void *node, VISIT visit, void *context)
{
	const struct type *type = *(struct type *const *)node;
	struct saving *saving = context;

	if (visit != postorder && visit != leaf)
		return;
	saving->count++;
	if (!saving->writer)
		return;
	codec_put_text(saving->writer, type->name);
	codec_put_text(saving->writer, type->folder ? type->folder : "");
	codec_put(saving->writer, type->file_count);
	codec_put(saving->writer, type->folder_number);
	codec_put(saving->writer, type->offset);
	codec_put(saving->writer, type->seen_count);
	for (size_t i = 0; i < type->seen_count; i++) {
		codec_put_text(saving->writer, type->seen[i].extension);
		codec_put(saving->writer, type->seen[i].count);
	}
}

static void save_taken(const void *node, VISIT visit, void *context)
{
	struct saving *saving = context;

	if (visit != postorder && visit != leaf)
		return;
	saving->count++;
	if (saving->writer)
		codec_put_text(saving->writer, (*(struct taken *const *)node)->name);
}

static void save_tree(
	const void *tree, void (*save)(const void *, VISIT, void *), struct codec_writer *writer)
{
	struct saving counting = { 0 }, saving = { .writer = writer };

	twalk_r(tree, save, &counting);
	codec_put(writer, counting.count);
	twalk_r(tree, save, &saving);
}

void path_alloc_save(const struct path_alloc *path_alloc, struct codec_writer *writer)
{
	save_tree(path_alloc->types, save_type, writer);
	save_tree(path_alloc->folders, save_taken, writer);
}

static void load_seen(struct type *type, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	type->seen_count = 0;
	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct seen seen = { 0 };

		codec_copy_text(reader, seen.extension, sizeof(seen.extension));
		seen.count = (uint32_t)codec_get(reader, UINT32_MAX - 1);
		type->seen = xgrow(
			type->seen, &type->seen_capacity, type->seen_count, sizeof(*type->seen));
		type->seen[type->seen_count++] = seen;
	}
}

static void load_type(struct path_alloc *path_alloc, struct codec_reader *reader)
{
	char *name = codec_get_text(reader, NAME_LEN_MAX), *folder;
	struct type *type = find_or_add(&path_alloc->types, name, sizeof(*type), NULL);

	free(name);
	folder = codec_get_text(reader, NAME_LEN_MAX);
	type->folder = strpool_add(&path_alloc->used, folder);
	free(folder);
	type->file_count = codec_get(reader, UINT64_MAX);
	type->folder_number = codec_get(reader, UINT64_MAX);
	type->offset = codec_get(reader, UINT64_MAX);
	load_seen(type, reader);
}

void path_alloc_load(struct path_alloc *path_alloc, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++)
		load_type(path_alloc, reader);
	count = codec_get(reader, UINT64_MAX);
	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		char *name = codec_get_text(reader, NAME_LEN_MAX);

		claim_folder(path_alloc, name);
		free(name);
	}
}

static void free_type(void *node)
{
	struct type *type = node;

	free(type->seen);
	free(type->name);
	free(type);
}

static void free_taken(void *node)
{
	struct taken *taken = node;

	free(taken->name);
	free(taken);
}

void path_alloc_free(struct path_alloc *path_alloc)
{
	if (!path_alloc)
		return;
	tdestroy(path_alloc->types, free_type);
	tdestroy(path_alloc->folders, free_taken);
	strpool_free(&path_alloc->used);
	free(path_alloc);
}
