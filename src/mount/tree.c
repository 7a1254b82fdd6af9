/* Nodes are numbers; a hash table over (parent, name) finds them. */
#include "mount/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NAME_LEN_MAX 255

struct node {
	const char *name;
	uint32_t parent, next;
	uint32_t first, last; /* in a folder; last of a file: the folder that wanted its name */
	uint32_t file;
	uint32_t numbered; /* the last number that a file got which wanted this name */
};

struct tree {
	struct node *nodes;
	size_t count, capacity;
	struct strpool names;
	uint32_t *slots;   /* node + 1; 0: free */
	size_t slot_count; /* a power of two, more than twice the nodes */
};

static size_t hash_of(uint32_t parent, const char *name, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u ^ parent;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
	return (size_t)(hash ^ hash >> 29);
}

/* The slot of the child of that name, or the free one where it belongs. */
static uint32_t *find_slot(const struct tree *tree, uint32_t parent, const char *name, size_t len)
{
	size_t mask = tree->slot_count - 1, at = hash_of(parent, name, len) & mask;

	for (; tree->slots[at]; at = (at + 1) & mask) {
		const struct node *node = &tree->nodes[tree->slots[at] - 1];

		if (node->parent == parent && strncmp(node->name, name, len) == 0 &&
			!node->name[len])
			break;
	}
	return &tree->slots[at];
}

static uint32_t find_child(const struct tree *tree, uint32_t parent, const char *name, size_t len)
{
	return *find_slot(tree, parent, name, len) - 1; /* 0 becomes TREE_NONE */
}

static void grow_slots(struct tree *tree)
{
	if (tree->slot_count > 2 * (tree->count + 1))
		return;
	free(tree->slots);
	tree->slot_count = tree->slot_count ? 2 * tree->slot_count : 1024;
	tree->slots = xcalloc(tree->slot_count, sizeof(*tree->slots));
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct node *node = &tree->nodes[i];

		*find_slot(tree, node->parent, node->name, strlen(node->name)) = i + 1;
	}
}

static uint32_t add_node(struct tree *tree, uint32_t parent, const char *name, uint32_t file)
{
	uint32_t index = (uint32_t)tree->count;
	struct node *above;

	grow_slots(tree);
	tree->nodes = xgrow(tree->nodes, &tree->capacity, tree->count, sizeof(*tree->nodes));
	tree->nodes[tree->count++] = (struct node){ strpool_add(&tree->names, name), parent,
		TREE_NONE, TREE_NONE, TREE_NONE, file, 1 };
	if (index == TREE_ROOT)
		return index;
	above = &tree->nodes[parent];
	if (above->first == TREE_NONE)
		above->first = index;
	else
		tree->nodes[above->last].next = index;
	above->last = index;
	*find_slot(tree, parent, name, strlen(name)) = index + 1;
	return index;
}

struct tree *tree_new(void)
{
	struct tree *tree = xcalloc(1, sizeof(*tree));

	add_node(tree, TREE_ROOT, "", TREE_NONE);
	return tree;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Cuts so that UTF-8 stays whole and `rest` bytes more fit. */
static int cut_len(const char *name, size_t len, size_t rest)
{
	size_t max = rest < NAME_LEN_MAX ? NAME_LEN_MAX - rest : 0;

	if (len > max)
		for (len = max; len && ((uint8_t)name[len] & 0xc0) == 0x80;)
			len--;
	return (int)len;
}

/* A name that a folder can hold. The caller frees it. */
static char *sound_name(const char *name, size_t len)
{
	if (len == 0 || (len <= 2 && strspn(name, ".") >= len))
		return xasprintf("_%.*s", (int)len, name);
	return xasprintf("%.*s", cut_len(name, len, 0), name);
}

/* The folder for a name that a file has already: "photo.jpg_", "photo.jpg_2". */
static uint32_t folder_beside(struct tree *tree, uint32_t file, const char *name)
{
	uint32_t parent = tree->nodes[file].parent, found = tree->nodes[file].last;

	for (unsigned number = 1; found == TREE_NONE; number++) {
		char tail[16] = "_", *own;

		if (number > 1)
			snprintf(tail, sizeof(tail), "_%u", number);
		own = xasprintf("%.*s%s", cut_len(name, strlen(name), strlen(tail)), name, tail);
		found = find_child(tree, parent, own, strlen(own));
		if (found == TREE_NONE)
			found = add_node(tree, parent, own, TREE_NONE);
		else if (tree->nodes[found].file != TREE_NONE)
			found = TREE_NONE;
		free(own);
	}
	tree->nodes[file].last = found;
	return found;
}

static uint32_t folder_of(struct tree *tree, uint32_t parent, const char *name, size_t len)
{
	char *own = sound_name(name, len);
	uint32_t found = find_child(tree, parent, own, strlen(own));

	if (found == TREE_NONE)
		found = add_node(tree, parent, own, TREE_NONE);
	else if (tree->nodes[found].file != TREE_NONE)
		found = folder_beside(tree, found, own);
	free(own);
	return found;
}

uint32_t tree_folder(struct tree *tree, uint32_t parent, const char *name)
{
	return folder_of(tree, parent, name, strlen(name));
}

uint32_t tree_folders(struct tree *tree, uint32_t parent, const char *path, const char **base)
{
	const char *slash;

	while ((slash = strchr(path, '/'))) {
		if (slash > path)
			parent = folder_of(tree, parent, path, (size_t)(slash - path));
		path = slash + 1;
	}
	*base = path;
	return parent;
}

/* "photo@1234.jpg", "photo@1234-2.jpg" */
static char *numbered_name(
	const char *name, const char *extension, uint64_t offset, unsigned number)
{
	size_t len = strlen(name), dot = strlen(extension) + 1;
	char tail[64];

	if (dot > 1 && dot < 32 && len > dot && name[len - dot] == '.' &&
		strcmp(name + len - dot + 1, extension) == 0)
		len -= dot;
	snprintf(tail, sizeof(tail), number > 1 ? "@%" PRIu64 "-%u" : "@%" PRIu64, offset, number);
	if (dot > 1 && dot < 32)
		snprintf(tail + strlen(tail), sizeof(tail) - strlen(tail), ".%s", extension);
	return xasprintf("%.*s%s", cut_len(name, len, strlen(tail)), name, tail);
}

void tree_add(struct tree *tree, uint32_t folder, const char *name, const char *extension,
	uint64_t offset, bool embedded, uint32_t file)
{
	char *own = embedded ? numbered_name(name, extension, offset, 1)
			     : sound_name(name, strlen(name));
	uint32_t taken = find_child(tree, folder, own, strlen(own));

	if (taken != TREE_NONE && !embedded) {
		free(own);
		own = numbered_name(name, extension, offset, 1);
		taken = find_child(tree, folder, own, strlen(own));
	}
	while (find_child(tree, folder, own, strlen(own)) != TREE_NONE) {
		free(own);
		own = numbered_name(name, extension, offset, ++tree->nodes[taken].numbered);
	}
	add_node(tree, folder, own, file);
	free(own);
}

/* ---- looking ------------------------------------------------------------------------------- */

uint32_t tree_child(const struct tree *tree, uint32_t folder, const char *name)
{
	return find_child(tree, folder, name, strlen(name));
}

uint32_t tree_file(const struct tree *tree, uint32_t node)
{
	return tree->nodes[node].file;
}

const char *tree_name(const struct tree *tree, uint32_t node)
{
	return tree->nodes[node].name;
}

uint32_t tree_first(const struct tree *tree, uint32_t folder)
{
	return tree->nodes[folder].first;
}

uint32_t tree_next(const struct tree *tree, uint32_t node)
{
	return node < tree->count ? tree->nodes[node].next : TREE_NONE;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	strpool_free(&tree->names);
	free(tree->nodes);
	free(tree->slots);
	free(tree);
}
