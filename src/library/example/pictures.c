/*
 * Lists the pictures in an image with their first bytes; the folder gets the reports:
 *
 *     cc pictures.c $(pkg-config --cflags --libs burin) -o pictures
 *     ./pictures disk.E01 FOLDER
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <burin.h>

static void show_message(void *context, enum burin_level level, const char *text)
{
	(void)context;
	if (level != BURIN_INFO)
		fprintf(stderr, "%s\n", text);
}

static void count_file(void *context, struct burin_file *file)
{
	if (strcmp(burin_file_get(file, "status"), "complete") == 0)
		++*(unsigned *)context;
}

static int list(const char *output, struct burin_error *error)
{
	struct burin_image *image = NULL;
	struct burin_report *report = NULL;
	struct burin_file *file;
	int code = burin_report_open(&report, output, error);

	if (!code)
		code = burin_image_open(&image, burin_report_image(report), error);
	while (!code && !(code = burin_report_next(report, &file, error)) && file) {
		unsigned char head[4] = { 0 };

		if (burin_file_read(file, image, 0, head, sizeof(head), error) < 0)
			code = error->code;
		printf("%s %" PRIu64 " %" PRIu64 " %02x%02x%02x%02x %s\n",
			burin_file_get(file, "kind"), burin_file_offset(file),
			burin_file_length(file), head[0], head[1], head[2], head[3],
			burin_file_get(file, "status"));
	}
	burin_report_close(report);
	burin_image_close(image);
	return code;
}

int main(int argc, char **argv)
{
	struct burin_error error = { 0 };
	unsigned complete = 0;
	struct burin_run *run;
	int code;

	if (argc != 3) {
		fprintf(stderr, "usage: pictures IMAGE FOLDER\n");
		return BURIN_USAGE;
	}
	run = burin_run_new();
	burin_run_on_message(run, show_message, NULL);
	burin_run_on_file(run, count_file, &complete);
	code = burin_run_set(run, "types", "jpeg,png,gif", &error);
	if (!code)
		code = burin_run_set(run, "dry-run", NULL, &error);
	if (!code)
		code = burin_run_carve(run, argv[1], argv[2], &error);
	burin_run_free(run);
	if (code <= BURIN_PROBLEMS && !list(argv[2], &error))
		printf("%u complete\n", complete);
	else
		fprintf(stderr, "pictures: %s\n", error.text);
	return code;
}
