/*
 * Each kind has a file of its own (inner_*.c) with a library that opens it, in a process that can
 * open nothing else (served.h). Here are their table, their paths, and the image that burin sees.
 */
#include "evidence/inner.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "evidence/inner_kind.h"
#include "evidence/served.h"
#include "evidence/secrets.h"

#define SEPARATOR "::"
/* Images inside each other. */
#define DEPTH_MAX 8
/* Inner images of one image. */
#define FOUND_MAX 256
/* A longer name, such as that of an array's members, is left out of a folder's. */
#define FOLDER_NAME_MAX 64
/* Whole units are lost where any byte can't be read. */
#define UNIT_LEN 4096
/* Of a list of what changed, which has 16 bytes for 16 KiB or more, or a layout. */
#define SERVED_LEN_MAX ((uint64_t)128 << 20)

/* THE TABLE. */
static const struct inner_kind *const kinds[] = { &inner_bitlocker, &inner_luks, &inner_filevault,
	&inner_lvm, &inner_md, &inner_shadow, &inner_streams };

/* ---- paths --------------------------------------------------------------------------------- */

struct inner_path {
	char *outer; /* the path of the image around it */
	const struct inner_kind *kind;
	uint64_t offset;
	char name[INNER_NAME_LEN];
};

/* The last part of the path; NULL: it has none. */
static const char *last_part(const char *path)
{
	const char *found = NULL, *at = path;

	while ((at = strstr(at, SEPARATOR))) {
		found = at;
		at += strlen(SEPARATOR);
	}
	return found;
}

static bool parse_path(const char *path, struct inner_path *parsed)
{
	const char *part = last_part(path), *at;
	char *end;

	if (!part || part == path)
		return false;
	part += strlen(SEPARATOR);
	at = strchr(part, '@');
	*parsed = (struct inner_path){ 0 };
	for (size_t i = 0; at && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strlen(kinds[i]->name) == (size_t)(at - part) &&
			!strncmp(kinds[i]->name, part, (size_t)(at - part)))
			parsed->kind = kinds[i];
	if (!parsed->kind || at[1] < '0' || at[1] > '9')
		return false;
	errno = 0;
	parsed->offset = strtoull(at + 1, &end, 10);
	if (errno || (*end && *end != '/') || strlen(end) > sizeof(parsed->name))
		return false;
	if (*end)
		snprintf(parsed->name, sizeof(parsed->name), "%s", end + 1);
	parsed->outer = xasprintf("%.*s", (int)(part - strlen(SEPARATOR) - path), path);
	return true;
}

bool inner_is_path(const char *path)
{
	struct inner_path parsed;

	if (!strstr(path, SEPARATOR) || !access(path, F_OK) || !parse_path(path, &parsed))
		return false;
	free(parsed.outer);
	return true;
}

char *inner_folder_name(const char *path)
{
	struct inner_path parsed;
	char *outer, *name;

	if (!inner_is_path(path) || !parse_path(path, &parsed))
		return xstrdup(text_file_name(path));
	outer = inner_folder_name(parsed.outer);
	if (strlen(parsed.name) > FOLDER_NAME_MAX)
		*parsed.name = 0;
	name = xasprintf("%s-%s@%" PRIu64 "%s%s", outer, parsed.kind->name, parsed.offset,
		*parsed.name ? "-" : "", parsed.name);
	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '-';
	free(outer);
	free(parsed.outer);
	return name;
}

/* ---- opening ------------------------------------------------------------------------------- */

static const struct image_backend inner_backend = {
	.name = "inner",
	.read_at = served_read_at,
	.why = served_why,
	.close = served_close,
};

bool inner_is_kind(const struct inner_kind *kind, const struct volume *volume)
{
	for (const char *const *name = kind->file_systems; *name; name++)
		if (!strcmp(*name, volume->file_system))
			return true;
	return false;
}

static const struct volume *list_of(struct image *image, size_t *count)
{
	if (!image->list)
		image->list = volumes_read(image, VOLUMES_LIST, NULL);
	return volumes_list(image->list, count);
}

bool inner_find_volume(
	struct image *outer, const struct inner_kind *kind, uint64_t offset, struct volume *volume)
{
	const struct volume *items;
	bool found = false;
	size_t count;

	items = list_of(outer, &count);
	for (size_t i = 0; i < count && !found; i++) {
		found = items[i].offset == offset && inner_is_kind(kind, &items[i]);
		if (found)
			*volume = items[i];
	}
	return found;
}

/* What a process is to serve; it is not started yet. */
static struct served_image *new_served(
	struct image *outer, const struct inner_kind *kind, const struct inner_place *place)
{
	struct served_image *served = xcalloc(1, sizeof(*served));

	served->image.backend = &inner_backend;
	served->image.outer = outer;
	served->image.read_unit = UNIT_LEN;
	served->kind = kind->served;
	served->arg = xmalloc(sizeof(*place));
	memcpy(served->arg, place, sizeof(*place));
	served->arg_len = sizeof(*place);
	served->needs_secret = kind->needs_secret;
	served->open_cpu_seconds = kind->open_cpu_seconds;
	served->begin = kind->whole ? 0 : place->volume.offset;
	served->length = kind->whole ? outer->info.size : place->volume.length;
	served->unit = UNIT_LEN;
	return served;
}

/* Its files, and who acquired them, are those of the image around it; and how it was opened. */
static void describe(struct image *image, const struct inner_path *path, const char *how)
{
	const struct image_info *outer = &image->outer->info;
	struct image_info *info = &image->info;
	const char *before = "";

	info->format = path->kind->name;
	image_add_paths(info, outer);
	info->values = xcalloc(outer->value_count + 1, sizeof(*info->values));
	for (size_t i = 0; i < outer->value_count; i++) {
		if (!strcmp(outer->values[i].name, "opened"))
			before = outer->values[i].value;
		else
			info->values[info->value_count++] =
				(struct image_value){ xstrdup(outer->values[i].name),
					xstrdup(outer->values[i].value) };
	}
	info->values[info->value_count++] = (struct image_value){ xstrdup("opened"),
		xasprintf("%s%s%s at byte %" PRIu64 " of %s%s%s%s%s%s%s", before,
			*before ? "; " : "", path->kind->name, path->offset, path->outer,
			*path->name ? ": " : "", path->name, path->kind->library ? ", by " : "",
			path->kind->library ? path->kind->library : "", *how ? ", " : "", how) };
	info->damage = outer->damage ? xstrdup(outer->damage) : NULL;
}

static int refuse(const struct inner_path *path, const char *why, struct error *error)
{
	char clean[512];

	return error_set(error, EXIT_IO, EINVAL,
		"%s: the %s volume at byte %" PRIu64 " can't be opened: %s", path->outer,
		path->kind->name, path->offset,
		*why ? text_clean(why, clean, sizeof(clean)) : "its library gave up");
}

/* Why it can't even be tried; NULL: it can. *volume: the one that is meant. */
static const char *find_obstacle(
	struct image *outer, const struct inner_path *path, struct volume *volume)
{
	size_t secrets;

	secrets_list(&secrets);
	if (!inner_find_volume(outer, path->kind, path->offset, volume))
		return "there is no such volume at that offset";
	if (path->kind->needs_secret && !secrets)
		return "give its password or key with --password-file or --key";
	return NULL;
}

static int open_served(struct image **image, struct image *outer, const struct inner_path *path,
	const struct inner_place *place, struct error *error)
{
	struct served_image *served = new_served(outer, path->kind, place);
	char reason[512], *how;

	if (served_open(served, reason, sizeof(reason))) {
		int status = refuse(path, reason, error);

		served->image.outer = NULL; /* the caller's */
		image_close(&served->image);
		return status;
	}
	how = served_how(served);
	describe(&served->image, path, how);
	free(how);
	*image = &served->image;
	return 0;
}

/* All bytes of what a process serves, *len of them, which the caller frees. NULL: they can't be read. */
static void *read_served(struct image *image, size_t *len)
{
	void *bytes = NULL;

	*len = image->info.size < SERVED_LEN_MAX ? (size_t)image->info.size : 0;
	if (*len)
		bytes = xmalloc(*len);
	if (!bytes || !image_read_at(image, 0, bytes, *len))
		return bytes;
	free(bytes);
	return NULL;
}

void *inner_read_served(struct image *outer, const struct inner_kind *kind,
	const struct inner_place *place, size_t *len, char *reason, size_t reason_len)
{
	struct served_image *served = new_served(outer, kind, place);
	void *bytes = NULL;

	*reason = 0;
	if (!served_open(served, reason, reason_len))
		bytes = read_served(&served->image, len);
	served->image.outer = NULL; /* the caller's */
	image_close(&served->image);
	return bytes;
}

static int open_laid_out(struct image **image, struct image *outer, const struct inner_path *path,
	const struct inner_place *place, struct error *error)
{
	char reason[512];
	size_t len;
	void *layout = inner_read_served(outer, path->kind, place, &len, reason, sizeof(reason));

	*image = layout ? path->kind->build(layout, len, &place->volume) : NULL;
	free(layout);
	if (!*image)
		return refuse(path, *reason ? reason : "its description is damaged", error);
	(*image)->outer = outer;
	describe(*image, path, "");
	return 0;
}

static int open_parts(struct image **image, struct image *outer, const struct inner_path *path,
	const struct inner_place *place, struct error *error)
{
	char how[INNER_HOW_LEN] = "";
	const char *why;

	*image = path->kind->open(outer, place, &why, how);
	if (!*image)
		return refuse(path, why, error);
	(*image)->outer = outer;
	describe(*image, path, how);
	return 0;
}

/* The image owns outer then. */
static int open_in(struct image **image, struct image *outer, const struct inner_path *path,
	struct error *error)
{
	struct inner_place place = { .name = "" };
	const char *why = find_obstacle(outer, path, &place.volume);

	memcpy(place.name, path->name, sizeof(place.name));
	if (why)
		return refuse(path, why, error);
	if (path->kind->build)
		return open_laid_out(image, outer, path, &place, error);
	if (path->kind->open)
		return open_parts(image, outer, path, &place, error);
	return open_served(image, outer, path, &place, error);
}

const struct volume *inner_streams_of(const struct image *image)
{
	const struct served_image *served = (const struct served_image *)image;

	if (image->backend != &inner_backend || served->kind != inner_streams.served)
		return NULL;
	return &((const struct inner_place *)served->arg)->volume;
}

/* Adds the ranges that the process serves as an image, as far as they are inside another of that size. */
static bool read_ranges(struct image *list, uint64_t size, struct ranges *ranges)
{
	size_t len;
	struct range *items = read_served(list, &len);
	bool good = items && len >= sizeof(*items) && items[0].offset == len / sizeof(*items) - 1;

	for (size_t i = 1; good && i < len / sizeof(*items); i++) {
		uint64_t left = items[i].offset < size ? size - items[i].offset : 0;

		if (items[i].length > left)
			items[i].length = left;
	}
	if (good)
		ranges_add_all(ranges, items + 1, len / sizeof(*items) - 1);
	free(items);
	return good;
}

bool inner_changed(struct image *image, struct ranges *changed)
{
	const struct served_image *served = (const struct served_image *)image;
	struct served_image *list;
	char reason[512];
	bool known;

	if (image->backend != &inner_backend || served->kind != inner_shadow.served)
		return false;
	list = new_served(image->outer, &inner_shadow, served->arg);
	list->kind = inner_shadow.changed;
	known = !served_open(list, reason, sizeof(reason)) &&
		read_ranges(&list->image, image->info.size, changed);
	list->image.outer = NULL; /* the image's */
	image_close(&list->image);
	if (!known)
		ranges_free(changed);
	return known;
}

/* ---- the image that stays open ------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	bool on;
	struct image *image; /* NULL: none */
	char *path;          /* of it */
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* And all around it. */
static void close_chain(struct image *image)
{
	while (image) {
		struct image *outer = image->outer;

		free(image->outer_path);
		image->outer = NULL;
		image->outer_path = NULL;
		image_close(image);
		image = outer;
	}
}

/* Keeps an image, or none, instead of the one before. */
static void keep(struct image *image, char *path)
{
	struct image *old_image;
	char *old_path;

	pthread_mutex_lock(&kept.lock);
	old_image = kept.image;
	old_path = kept.path;
	kept.image = image;
	kept.path = path;
	pthread_mutex_unlock(&kept.lock);
	close_chain(old_image);
	free(old_path);
}

/* The image at that path, which is the caller's then; NULL: it is not kept. */
static struct image *take_kept(const char *path)
{
	struct image *image = NULL;

	pthread_mutex_lock(&kept.lock);
	if (kept.image && !strcmp(kept.path, path)) {
		image = kept.image;
		kept.image = NULL;
	}
	pthread_mutex_unlock(&kept.lock);
	return image;
}

void inner_keep(bool on)
{
	kept.on = on;
	keep(NULL, NULL);
}

void inner_close_outer(struct image *outer, char *path)
{
	const struct image *last = outer;

	while (last && last->outer)
		last = last->outer;
	if (kept.on && outer && path && !last->ddrescue_map_path) {
		keep(outer, path);
		return;
	}
	image_close(outer);
	free(path);
}

static int open_outer(struct image **outer, const char *path, struct error *error)
{
	char *changed;

	*outer = take_kept(path);
	changed = *outer ? image_changed(*outer) : NULL;
	if (*outer && !changed)
		return 0;
	free(changed);
	close_chain(*outer);
	return image_open(outer, path, error);
}

int inner_open(struct image **image, const char *path, struct error *error)
{
	struct inner_path parsed;
	struct image *outer;
	int status;

	if (!parse_path(path, &parsed))
		return error_set(error, EXIT_IO, EINVAL, "can't open %s", path);
	status = open_outer(&outer, parsed.outer, error);
	if (status) {
		free(parsed.outer);
		return status;
	}
	status = open_in(image, outer, &parsed, error);
	if (status)
		inner_close_outer(outer, parsed.outer);
	else
		(*image)->outer_path = parsed.outer;
	return status;
}

/* ---- finding ------------------------------------------------------------------------------- */

struct search {
	const struct inner_wanted *wanted;
	void (*found)(void *context, char *path);
	void *context;
	unsigned depth, count;
};

static void search_image(struct search *search, struct image *image, const char *path);

/* What is in outer, which is not opened anew: that may take a password a second. */
static void search_inner(struct search *search, struct image *outer, const char *path)
{
	struct inner_path parsed;
	struct image *image;

	if (!parse_path(path, &parsed))
		return;
	if (!open_in(&image, outer, &parsed, NULL)) {
		search_image(search, image, path);
		image->outer = NULL; /* the caller's */
		image_close(image);
	}
	free(parsed.outer);
}

/* Reports it, and searches it in its turn. Takes over path. */
static void take(struct search *search, struct image *outer, char *path)
{
	char *copy = xstrdup(path);

	if (search->count++ >= FOUND_MAX) {
		free(copy);
		free(path);
		return;
	}
	search->found(search->context, path);
	if (++search->depth < DEPTH_MAX)
		search_inner(search, outer, copy);
	search->depth--;
	free(copy);
}

/* The names of what is in it, lines, which the caller frees. NULL: there are none. */
static char *list_names(const struct search *search, struct image *outer, const char *path,
	const struct inner_kind *kind, const struct volume *volume)
{
	const struct inner_place place = { .volume = *volume };
	struct served_image *served;
	char reason[512], *names;

	if (kind->list)
		return kind->list(outer, volume, path, search->wanted->beside);
	served = new_served(outer, kind, &place);
	names = served_list(served, reason, sizeof(reason));
	served->image.outer = NULL; /* the caller's */
	image_close(&served->image);
	return names;
}

static void take_all(struct search *search, struct image *image, const char *path,
	const struct inner_kind *kind, const struct volume *volume)
{
	const char *only = kind->only_on_request && strcmp(search->wanted->shadows, "all")
				   ? search->wanted->shadows
				   : NULL;
	char *names, *rest, *name;

	if (!kind->list && !kind->served_lists) {
		take(search, image,
			xasprintf("%s" SEPARATOR "%s@%" PRIu64, path, kind->name, volume->offset));
		return;
	}
	names = list_names(search, image, path, kind, volume);
	for (name = names ? strtok_r(names, "\n", &rest) : NULL; name;
		name = strtok_r(NULL, "\n", &rest))
		if (!only || !strcmp(only, name))
			take(search, image,
				xasprintf("%s" SEPARATOR "%s@%" PRIu64 "%s%s", path, kind->name,
					volume->offset, strcmp(name, INNER_NO_NAME) ? "/" : "",
					strcmp(name, INNER_NO_NAME) ? name : ""));
	free(names);
}

static bool is_wanted(const struct search *search, const struct inner_kind *kind)
{
	size_t secrets;

	if (kind->only_on_request)
		return search->wanted->shadows != NULL;
	secrets_list(&secrets);
	return search->wanted->volumes && (secrets || !kind->needs_secret);
}

static void search_image(struct search *search, struct image *image, const char *path)
{
	const struct volume *items;
	size_t count;

	items = list_of(image, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
			if (is_wanted(search, kinds[k]) && inner_is_kind(kinds[k], &items[i]))
				take_all(search, image, path, kinds[k], &items[i]);
}

void inner_find(const char *path, const struct inner_wanted *wanted,
	void (*found)(void *context, char *path), void *context)
{
	struct search search = { .wanted = wanted, .found = found, .context = context };
	struct image *image;

	if (image_open(&image, path, NULL))
		return;
	search_image(&search, image, path);
	image_close(image);
}
