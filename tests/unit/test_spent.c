/* Every carver, where its work is spent soon: any peek may return NULL, also one of bytes that were looked at before. */
#include "carver_case.h"

#include <dirent.h>

#define LEN_MAX ((size_t)65536)
#define LIMIT_MAX 100000 /* units of work */

static void check_file(const struct carver *carver, const char *path)
{
	struct bytes file = bytes_of_file(path);
	size_t len = file.len < LEN_MAX ? file.len : LEN_MAX;

	for (uint64_t i = 0, limit = 1; limit < LIMIT_MAX; i++, limit += 11 + limit / 16) {
		struct view *view = view_new_memory(file.data, len);
		struct finding found = { 0 };

		view_set_trial(view, i % 2);
		view_set_thorough(view, i % 3 == 0);
		view_limit_work(view, limit);
		carver->check(view, &found);
		view_free(view);
	}
	free(file.data);
}

Test(spent, no_carver_needs_what_it_may_not_look_at)
{
	size_t files = 0;

	for (size_t i = 0; carvers[i]; i++) {
		char folder[128], path[512];
		struct dirent *entry;
		DIR *golden;

		snprintf(folder, sizeof(folder), "tests/golden/%s", carvers[i]->name);
		golden = opendir(folder);
		for (size_t n = 0; golden && n < 200 && (entry = readdir(golden)); n++) {
			size_t len = strlen(entry->d_name);

			if (entry->d_name[0] == '.' ||
				(len > 9 && strcmp(entry->d_name + len - 9, ".expected") == 0))
				continue;
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			check_file(carvers[i], path);
			files++;
		}
		if (golden)
			closedir(golden);
	}
	cr_expect_gt(files, 300, "%zu", files);
}
