/*
 * The resources of a PE file: a tree of three levels (type, name, language) whose leaves give
 * address and length. Of their contents only the last one's is checked, so that a tree with foreign
 * bytes after it proves nothing; the version's texts give title and extension.
 */
#include <string.h>

#include "bytes.h"
#include "pe.h"
#include "title.h"

#define ENTRIES_MAX 65536 /* in total: some entries could share what is below them */
#define TYPE_GROUP 14
#define TYPE_VERSION 16
#define TYPE_MANIFEST 24

struct pe_tree {
	struct pe *pe;
	uint64_t at;    /* of the root */
	uint32_t limit; /* bytes from there to the section's end */
	uint32_t left;  /* entries that may still be read */
	uint64_t broken_at;
	uint64_t last_at, last_end; /* the leaf that ends last */
	uint32_t last_type;
	uint64_t version_at;
	uint32_t version_len;
};

/* Reads the directory at `offset` from the root: how many entries it has; they start 16 bytes after
 * it. */
static bool read_directory(struct pe_tree *tree, uint32_t offset, uint32_t *count)
{
	const uint8_t *p;

	tree->broken_at = tree->at + offset;
	if (offset > tree->limit || tree->limit - offset < 16)
		return false;
	p = view_peek(tree->pe->view, tree->at + offset, 16);
	if (!p || le32(p) != 0)
		return false;
	*count = (uint32_t)le16(p + 12) + le16(p + 14);
	if (*count > (tree->limit - offset - 16) / 8 || *count > tree->left)
		return false;
	tree->left -= *count;
	return true;
}

static bool add_leaf(struct pe_tree *tree, uint32_t offset, uint32_t type)
{
	const uint8_t *p;
	uint32_t len;
	uint64_t at;

	tree->broken_at = tree->at + offset;
	if (offset > tree->limit || tree->limit - offset < 16)
		return false;
	p = view_peek(tree->pe->view, tree->at + offset, 16);
	if (!p)
		return false;
	len = le32(p + 4);
	if (!pe_offset(tree->pe, le32(p), len, &at))
		return false;
	if (at + len > tree->last_end) {
		tree->last_at = at;
		tree->last_end = at + len;
		tree->last_type = type;
	}
	/* A picture or a manifest stays a part of a program whose overlay cannot be verified. */
	view_embedded(tree->pe->view, at);
	if (type == TYPE_VERSION && !tree->version_at) {
		tree->version_at = at;
		tree->version_len = len;
	}
	if (tree->at + offset + 16 > tree->last_end) {
		tree->last_end = tree->at + offset + 16;
		tree->last_type = 0;
	}
	return true;
}

static bool read_entry(
	struct pe_tree *tree, uint32_t offset, uint32_t index, uint32_t *id, uint32_t *next)
{
	const uint8_t *p =
		view_peek(tree->pe->view, tree->at + offset + 16 + 8 * (uint64_t)index, 8);

	if (!p)
		return false;
	*id = le32(p);
	*next = le32(p + 4);
	return true;
}

#define IS_DIRECTORY 0x80000000u

/* The names below one type, and the languages below them. */
static bool walk_type(struct pe_tree *tree, uint32_t names, uint32_t type)
{
	uint32_t name_count, language_count, id, languages, leaf;

	if (!read_directory(tree, names, &name_count))
		return false;
	for (uint32_t i = 0; i < name_count; i++) {
		if (!read_entry(tree, names, i, &id, &languages))
			return false;
		if (!(languages & IS_DIRECTORY)) {
			if (!add_leaf(tree, languages, type))
				return false;
			continue;
		}
		languages &= ~IS_DIRECTORY;
		if (!read_directory(tree, languages, &language_count))
			return false;
		for (uint32_t j = 0; j < language_count; j++)
			if (!read_entry(tree, languages, j, &id, &leaf) || leaf & IS_DIRECTORY ||
				!add_leaf(tree, leaf, type))
				return false;
	}
	return true;
}

/* Whether the last leaf's content fits its type. */
static bool valid_leaf(const struct pe_tree *tree)
{
	uint64_t len = tree->last_end - tree->last_at;
	size_t shown = len < 16 ? (size_t)len : 16;
	const uint8_t *p = view_peek(tree->pe->view, tree->last_at, shown);

	if (!p || len < 16)
		return false;
	switch (tree->last_type) {
	case TYPE_VERSION:
		return le16(p) <= len && le16(p) + 16u > len && le16(p + 6) == 'V';
	case TYPE_GROUP:
		return le16(p) == 0 && le16(p + 2) - 1 < 2 && 6 + 14u * le16(p + 4) == len;
	case TYPE_MANIFEST:
		/* Written as text, and padded with zeros or blanks. */
		for (uint64_t at = tree->last_end; at > tree->last_at; at--) {
			p = view_peek(tree->pe->view, at - 1, 1);
			if (!p || (*p > ' ' && *p != '>'))
				return false;
			if (*p == '>')
				return true;
		}
	}
	return false;
}

/* The value of a string in the version, in UTF-16: NULL, or *len bytes of it. */
static const uint8_t *version_value(const uint8_t *p, size_t p_len, const char *name, size_t *len)
{
	size_t name_len = strlen(name) + 1;

	for (size_t at = 0; at + 2 * name_len + 8 <= p_len; at += 2) {
		size_t same = 0;

		while (same < name_len && p[at + 2 * same] == (uint8_t)name[same] &&
			p[at + 2 * same + 1] == 0)
			same++;
		if (same < name_len)
			continue;
		at = (at + 2 * name_len + 3) & ~(size_t)3;
		*len = 0;
		while (at + *len + 2 <= p_len && le16(p + at + *len))
			*len += 2;
		return at < p_len ? p + at : NULL;
	}
	return NULL;
}

static void name_by_version(const struct pe_tree *tree)
{
	static const char *const kinds[] = { "ocx", "cpl", "scr", "ax", "drv", "mui", "acm",
		"tsp" };
	size_t len = tree->version_len < 16384 ? tree->version_len : 16384, value_len;
	const uint8_t *p = view_peek(tree->pe->view, tree->version_at, len), *value;
	struct finding *finding = tree->pe->finding;

	if (!p)
		return;
	value = version_value(p, len, "FileDescription", &value_len);
	if (!value || !value_len)
		value = version_value(p, len, "ProductName", &value_len);
	if (value)
		finding_set_title_utf16(finding, value, value_len, false);
	value = version_value(p, len, "OriginalFilename", &value_len);
	for (size_t i = 0; value && i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t kind_len = strlen(kinds[i]), same = 0;

		if (value_len < 2 * kind_len + 2 || value[value_len - 2 * kind_len - 2] != '.')
			continue;
		while (same < kind_len &&
			(value[value_len - 2 * (kind_len - same)] | 0x20) == kinds[i][same])
			same++;
		if (same == kind_len)
			finding->extension = kinds[i];
	}
}

bool pe_resources(struct pe *pe, uint64_t *end, uint64_t *broken_at)
{
	struct pe_tree tree = { .pe = pe, .left = ENTRIES_MAX };
	uint32_t address = pe->directories[PE_RESOURCES].address, count, type, names;

	if (pe->directories[PE_RESOURCES].len < 16 || !pe_offset(pe, address, 16, &tree.at))
		return false;
	for (uint32_t i = 0; i < pe->section_count; i++)
		if (address >= pe->sections[i].address &&
			address - pe->sections[i].address < pe->sections[i].len)
			tree.limit = pe->sections[i].len - (address - pe->sections[i].address);
	*broken_at = tree.at;
	if (!read_directory(&tree, 0, &count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!read_entry(&tree, 0, i, &type, &names))
			return false;
		if (names & IS_DIRECTORY && !walk_type(&tree, names & ~IS_DIRECTORY, type)) {
			/* Executable packers compress leaves; then only the tree is there. */
			*broken_at = count == 1 ? tree.broken_at : 0;
			return false;
		}
	}
	*broken_at = 0;
	if (tree.version_at)
		name_by_version(&tree);
	if (!valid_leaf(&tree))
		return false;
	*end = tree.last_end;
	return true;
}
