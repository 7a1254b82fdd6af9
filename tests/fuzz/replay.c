/*
 * Runs a fuzz target over files, without a fuzzer: each argument is a file, or a folder whose files
 * are taken. Linked with one fuzz_*.c. Exit status 0 when all were run, 1 when one could not be
 * read or there was none; a crash is the sanitizer's matter.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned run_count;

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t len = 0;
	int status = 1;

	if (!file || fseek(file, 0, SEEK_END) || ftell(file) < 0)
		goto close_file;
	len = (size_t)ftell(file);
	rewind(file);
	data = malloc(len ? len : 1);
	if (!data || fread(data, 1, len, file) != len)
		goto free_data;
	LLVMFuzzerTestOneInput(data, len);
	run_count++;
	status = 0;
free_data:
	free(data);
close_file:
	if (file)
		fclose(file);
	if (status)
		fprintf(stderr, "can't read %s\n", path);
	return status;
}

static int run_folder(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort), status = count < 0;

	if (status)
		fprintf(stderr, "can't list %s\n", path);
	for (int i = 0; i < count; i++) {
		char inner[4096];
		struct stat info;

		snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
		if (stat(inner, &info) == 0 && S_ISREG(info.st_mode))
			status |= run_file(inner);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return status;
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++) {
		struct stat info;
		int is_folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);

		status |= is_folder ? run_folder(argv[i]) : run_file(argv[i]);
	}
	printf("%u inputs\n", run_count);
	return status || !run_count;
}
