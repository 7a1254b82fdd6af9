/* Names in the tree that is mounted, where several files and folders want the same one. */
#include <criterion/criterion.h>
#include <string.h>

#include "mount/tree.h"

#define LONGEST 255

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
