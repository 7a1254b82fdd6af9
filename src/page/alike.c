/*
 * By ssdeep's digests (J. Kornblum, Identifying almost identical files using context triggered piecewise hashing, 2006),
 * which libfuzzy makes and compares. It finds digests alike only if they have GRAM characters in a row in common, at
 * the same size of blocks: so those that share one are found by it, and each is compared with few, however many
 * share what is common.
 */
#include "page/alike.h"

#ifdef HAVE_FUZZY

#include <fcntl.h>
#include <fuzzy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "output/dirfd.h"

#define SHORTEST ((uint64_t)512)
#define LONGEST ((uint64_t)16 << 20)
#define READ_LEN ((size_t)256 << 10)
#define MOST_FILES ((uint64_t)1 << 20)
#define GRAM ((size_t)7)
/* Of a hundred, as `ssdeep -m` counts: fewer are chance, or a template that two have in common. */
#define LEAST_SCORE 60
/* A file is compared with so many at most, and with so many for the same characters. */
#define MOST_COMPARED 64
#define MOST_SHARING 16
#define CHAINS ((size_t)1 << 18)

struct digest {
	char text
		[FUZZY_MAX_RESULT]; /* SIZE:CHARACTERS:CHARACTERS, the second for blocks twice as large */
	uint64_t row;
	size_t leader; /* the first of its group, perhaps by way of others */
};

/* Characters of a digest. */
struct gram {
	uint64_t key; /* they, and the size of blocks, mixed */
	uint32_t digest;
	uint32_t next; /* in its chain: number from 1; 0: none */
};

struct alike {
	int dir_fd;
	uint64_t left; /* to be taken */
	struct digest *digests;
	size_t count, capacity;
	struct gram *grams;
	uint32_t gram_count;
	uint32_t *chains; /* CHAINS, by the keys: number of the first gram from 1; 0: none */
};

struct alike *alike_open(int dir_fd, uint64_t max)
{
	struct alike *alike = xcalloc(1, sizeof(*alike));

	alike->dir_fd = dir_fd;
	alike->left = max < MOST_FILES ? max : MOST_FILES;
	return alike;
}

/* Whether all of it could be read. */
static bool read_all(int fd, struct fuzzy_state *state, uint64_t len)
{
	uint8_t *bytes = xmalloc(READ_LEN);
	bool whole = true;

	for (uint64_t at = 0; at < len && whole;) {
		ssize_t got = file_read_at(fd, bytes, READ_LEN, at);

		whole = got > 0 && fuzzy_update(state, bytes, (size_t)got) == 0;
		at += got > 0 ? (uint64_t)got : 0;
	}
	free(bytes);
	return whole;
}

static bool make_digest(const struct alike *alike, const char *path, char *text)
{
	int fd = dirfd_open(alike->dir_fd, path, O_RDONLY | O_NONBLOCK, false);
	struct fuzzy_state *state = fuzzy_new();
	struct stat info;
	bool made = fd >= 0 && state && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		    (uint64_t)info.st_size >= SHORTEST && (uint64_t)info.st_size <= LONGEST &&
		    read_all(fd, state, (uint64_t)info.st_size) &&
		    fuzzy_digest(state, text, FUZZY_FLAG_ELIMSEQ) == 0;

	if (state)
		fuzzy_free(state);
	if (fd >= 0)
		close(fd);
	return made;
}

void alike_add(struct alike *alike, const struct file_record *file, uint64_t number)
{
	struct digest *digest;

	if (!alike->left || !file->written || file->length < SHORTEST || file->length > LONGEST)
		return;
	if (alike->count == alike->capacity) {
		alike->capacity = alike->capacity ? 2 * alike->capacity : 256;
		alike->digests =
			xreallocarray(alike->digests, alike->capacity, sizeof(*alike->digests));
	}
	digest = &alike->digests[alike->count];
	if (!make_digest(alike, file->path, digest->text))
		return;
	digest->row = number - 1;
	digest->leader = alike->count++;
	alike->left--;
}

/* ---- groups -------------------------------------------------------------------------------- */

static size_t leader_of(struct alike *alike, size_t i)
{
	struct digest *digests = alike->digests;

	while (digests[i].leader != i)
		i = digests[i].leader = digests[digests[i].leader].leader;
	return i;
}

static uint64_t key_of(uint64_t size, const char *characters)
{
	uint64_t key = size * 0x9e3779b97f4a7c15U;

	for (size_t i = 0; i < GRAM; i++)
		key = (key ^ (uint8_t)characters[i]) * 0x100000001b3U;
	return key ^ key >> 32;
}

static void join(struct alike *alike, size_t a, size_t b)
{
	if (a < b)
		alike->digests[b].leader = a;
	else
		alike->digests[a].leader = b;
}

/* Joins the digest to the groups of those that have the key, too, and are alike; *compared counts. */
static void compare(struct alike *alike, size_t i, uint64_t key, unsigned *compared)
{
	uint32_t *chain = &alike->chains[key % CHAINS];
	unsigned sharing = 0;

	for (uint32_t at = *chain; at && *compared < MOST_COMPARED;
		at = alike->grams[at - 1].next) {
		const struct gram *gram = &alike->grams[at - 1];
		size_t mine = leader_of(alike, i), other = leader_of(alike, gram->digest);

		if (gram->key != key)
			continue;
		sharing++;
		if (mine == other)
			continue;
		++*compared;
		if (fuzzy_compare(alike->digests[i].text, alike->digests[gram->digest].text) >=
			LEAST_SCORE)
			join(alike, mine, other);
	}
	if (sharing >= MOST_SHARING)
		return;
	alike->grams[alike->gram_count++] = (struct gram){ key, (uint32_t)i, *chain };
	*chain = alike->gram_count;
}

static void place(struct alike *alike, size_t i)
{
	char *part;
	uint64_t size = strtoull(alike->digests[i].text, &part, 10);
	unsigned compared = 0;

	for (unsigned second = 0; second < 2 && *part == ':'; second++) {
		size_t len = strcspn(++part, ":");

		for (size_t at = 0; at + GRAM <= len; at++)
			compare(alike, i, key_of(size << second, part + at), &compared);
		part += len;
	}
}

static void find_groups(struct alike *alike)
{
	alike->grams = xcalloc(alike->count * (size_t)FUZZY_MAX_RESULT + 1, sizeof(*alike->grams));
	alike->chains = xcalloc(CHAINS, sizeof(*alike->chains));
	for (size_t i = 0; i < alike->count; i++)
		place(alike, i);
	free(alike->grams);
	free(alike->chains);
}

void alike_write(struct alike *alike, struct strbuf *text)
{
	size_t *next = xcalloc(alike->count + 1, sizeof(*next)); /* in its group; 0: none */
	size_t *last = xcalloc(alike->count + 1, sizeof(*last));

	find_groups(alike);
	for (size_t i = 0; i < alike->count; i++) {
		size_t leader = leader_of(alike, i);

		if (leader != i)
			next[last[leader] ? last[leader] : leader] = i;
		last[leader] = i;
	}
	for (size_t i = 0; i < alike->count; i++) {
		size_t file = i;

		if (leader_of(alike, i) != i || !next[i])
			continue;
		do {
			strbuf_number(text, alike->digests[file].row);
			strbuf_text(text, next[file] ? " " : "\\n");
			file = next[file];
		} while (file);
	}
	free(last);
	free(next);
}

const char *alike_lacks(void)
{
	return NULL;
}

void alike_close(struct alike *alike)
{
	free(alike->digests);
	free(alike);
}

#else

struct alike *alike_open(int dir_fd, uint64_t max)
{
	(void)dir_fd, (void)max;
	return NULL;
}

void alike_add(struct alike *alike, const struct file_record *file, uint64_t number)
{
	(void)alike, (void)file, (void)number;
}

void alike_write(struct alike *alike, struct strbuf *text)
{
	(void)alike, (void)text;
}

const char *alike_lacks(void)
{
	return "this burin was built without libfuzzy";
}

void alike_close(struct alike *alike)
{
	(void)alike;
}

#endif
