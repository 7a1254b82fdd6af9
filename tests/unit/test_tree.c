/* Names in the tree that is mounted, where several files and folders want the same one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "mount/tree.h"

#define LONGEST 255

/* The name of a folder's last node. */
static const char *last_name(const struct tree *tree, uint32_t folder)
{
	uint32_t node = tree_first(tree, folder);

	while (tree_next(tree, node) != TREE_NONE)
		node = tree_next(tree, node);
	return tree_name(tree, node);
}

Test(tree, numbers_files_of_one_name)
{
	static const char *const names[] = { "a.jpg", "a@5.jpg", "a@5-2.jpg", "a@5-3.jpg" };
	struct tree *tree = tree_new();
	uint32_t folder = tree_folder(tree, TREE_ROOT, "folder");

	for (uint32_t i = 0; i < 4; i++) {
		tree_add(tree, folder, "a.jpg", "jpg", 5, false, i);
		cr_assert_str_eq(last_name(tree, folder), names[i]);
	}
	for (uint32_t i = 0; i < 4; i++)
		cr_assert_eq(tree_file(tree, tree_child(tree, folder, names[i])), i);
	/* Inside another file: its first name has the offset. Some are taken by chance. */
	tree_add(tree, folder, "a.jpg", "jpg", 5, true, 4);
	cr_assert_str_eq(last_name(tree, folder), "a@5-4.jpg");
	tree_add(tree, folder, "a.jpg", "jpg", 6, true, 5);
	cr_assert_str_eq(last_name(tree, folder), "a@6.jpg");
	tree_add(tree, folder, "a@6-2.jpg", "jpg", 9, false, 6);
	tree_add(tree, folder, "a.jpg", "jpg", 6, true, 7);
	cr_assert_str_eq(last_name(tree, folder), "a@6-3.jpg");
	tree_free(tree);
}

/* If each began to count at 1, this would take minutes. */
Test(tree, adds_many_files_of_one_name)
{
	const uint32_t count = 100000;
	struct tree *tree = tree_new();
	char name[32];

	for (uint32_t i = 0; i < count; i++)
		tree_add(tree, TREE_ROOT, "a.jpg", "jpg", 5, true, i);
	snprintf(name, sizeof(name), "a@5-%u.jpg", (unsigned)count);
	cr_assert_str_eq(last_name(tree, TREE_ROOT), name);
	tree_free(tree);
}

Test(tree, finds_a_folder_beside_files)
{
	struct tree *tree = tree_new();
	uint32_t folder, other;

	tree_add(tree, TREE_ROOT, "a", "", 1, false, 1);
	tree_add(tree, TREE_ROOT, "a_", "", 2, false, 2);
	folder = tree_folder(tree, TREE_ROOT, "a");
	cr_assert_str_eq(tree_name(tree, folder), "a_2");
	cr_assert_eq(tree_file(tree, folder), TREE_NONE);
	cr_assert_eq(tree_folder(tree, TREE_ROOT, "a"), folder, "the same once more");
	other = tree_folder(tree, TREE_ROOT, "a_");
	cr_assert_str_eq(tree_name(tree, other), "a__");
	tree_free(tree);
}

/* Files have the name, and all that fit where it is only cut. */
Test(tree, finds_a_folder_beside_files_of_the_longest_names)
{
	char name[LONGEST + 1], other[LONGEST + 1];
	struct tree *tree = tree_new();
	uint32_t folder;

	memset(name, 'x', LONGEST);
	name[LONGEST] = '\0';
	memcpy(other, name, sizeof(name));
	tree_add(tree, TREE_ROOT, name, "", 1, false, 1);
	for (unsigned i = LONGEST; i > 0; i--) {
		other[i - 1] = '_';
		tree_add(tree, TREE_ROOT, other, "", 1, false, i);
	}
	folder = tree_folder(tree, TREE_ROOT, name);
	cr_assert_eq(tree_file(tree, folder), TREE_NONE);
	cr_assert_eq(strlen(tree_name(tree, folder)), (size_t)LONGEST);
	cr_assert_str_eq(tree_name(tree, folder) + LONGEST - 3, "x_2");
	tree_free(tree);
}
