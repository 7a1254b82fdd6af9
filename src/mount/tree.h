/* A tree of folders and files that is built once and then only read, by any number of threads. */
#ifndef BURIN_MOUNT_TREE_H
#define BURIN_MOUNT_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct tree;

#define TREE_ROOT 0u
#define TREE_NONE UINT32_MAX

struct tree *tree_new(void);
/* The folder of that name in a folder; it is made where it is missing. Names that a file system could not
 * have ("", "..", too long ones) get one that is near. */
uint32_t tree_folder(struct tree *tree, uint32_t parent, const char *name);
/* The same for a path, relative to parent, without its last component. *base: that one. */
uint32_t tree_folders(struct tree *tree, uint32_t parent, const char *path, const char **base);
/* Adds a file. Where the name is taken, and for `embedded`, it gets "@offset" before its extension, and a
 * number if that is taken, too. file: what tree_file returns for it. */
void tree_add(struct tree *tree, uint32_t folder, const char *name, const char *extension,
	uint64_t offset, bool embedded, uint32_t file);

/* The node of that name in a folder, or TREE_NONE. */
uint32_t tree_child(const struct tree *tree, uint32_t folder, const char *name);
/* Of a file; TREE_NONE for a folder. */
uint32_t tree_file(const struct tree *tree, uint32_t node);
const char *tree_name(const struct tree *tree, uint32_t node);
/* The first node in a folder, and the one after another; TREE_NONE: there are no more. In the order in
 * which they were added. node: may be any number, as a program can seek a folder anywhere. */
uint32_t tree_first(const struct tree *tree, uint32_t folder);
uint32_t tree_next(const struct tree *tree, uint32_t node);
/* NULL is fine. */
void tree_free(struct tree *tree);

#endif
