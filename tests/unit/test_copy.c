/* Files that are copied side by side have the bytes and hashes that each has alone. */
#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>

#include "carve/copy.h"
#include "evidence/backend.h"
#include "output/output_dir.h"
#include "report/record.h"
#include "temp.h"

#define LEN (2u << 20)
#define FILES 40

static uint8_t content[LEN];

static int read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	(void)image;
	memcpy(buffer, content + offset, len);
	return 0;
}

static char path[] = "fake";
static char *paths[] = { path };
static const struct image_backend backend = { .name = "fake", .read_at = read_at };
static struct image image = { .backend = &backend,
	.info = { .format = "raw",
		.size = LEN,
		.sector_size = 512,
		.paths = paths,
		.path_count = 1 },
	.read_unit = 512 };

static struct file_record records[FILES];
static struct range runs[FILES][2];
static char names[FILES][32];
static int statuses[FILES];
static unsigned begun, ended;

/* Lengths of none, one or several parts, odd ones, and files in two pieces. */
static void make_records(void)
{
	for (size_t i = 0; i < LEN; i++)
		content[i] = (uint8_t)(i * 2654435761u >> 13);
	for (unsigned i = 0; i < FILES; i++) {
		uint64_t len = i % 9 == 0   ? 300000 + 77 * i
			       : i % 5 == 0 ? 64 * i
					    : 1000 * (i % 7) + i % 3;

		runs[i][0] = (struct range){ 4096 * i, len };
		runs[i][1] = (struct range){ LEN - 4096 * i - 999, 999 };
		snprintf(names[i], sizeof(names[i]), "%s%u", i % 2 ? "a/" : "b/", i);
		records[i] = (struct file_record){
			.path = names[i], .runs = runs[i], .run_count = 1 + (i % 4 == 3)
		};
	}
	begun = ended = 0;
}

static struct file_record *next(void *context, void **file)
{
	(void)context;
	if (begun == FILES)
		return NULL;
	*file = &statuses[begun];
	return &records[begun++];
}

static void done(void *context, void *file, int status, const struct error *error)
{
	(void)context;
	(void)error;
	*(int *)file = status;
	ended++;
}

static void copy_all(struct output_dir *folder, const atomic_bool *cancel)
{
	const struct copy_list list = { &image, folder, cancel, next, done, NULL };
	struct copier copier;

	copier_init(&copier, HASH_SHA256, NULL);
	copy_files(&copier, &list);
	copier_free(&copier);
	cr_expect_eq(ended, FILES);
}

static void expect_file(const struct file_record *record, bool written)
{
	static uint8_t expected[LEN], got[LEN];
	uint8_t digest[32];
	char hex[65], at[64];
	size_t len = 0;

	for (uint32_t i = 0; i < record->run_count; i++) {
		memcpy(expected + len, content + record->runs[i].offset, record->runs[i].length);
		len += record->runs[i].length;
	}
	cr_assert(EVP_Digest(expected, len, digest, NULL, EVP_sha256(), NULL));
	for (int i = 0; i < 32; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	cr_expect_str_eq(record->hashes.sha256, hex, "%s", record->path);
	snprintf(at, sizeof(at), "out/%s", record->path);
	if (written) {
		FILE *file = fopen(temp_at(at), "rb");

		cr_assert(file, "%s", record->path);
		cr_expect_eq(fread(got, 1, sizeof(got), file), len, "%s", record->path);
		cr_expect_eq(memcmp(got, expected, len), 0, "%s", record->path);
		fclose(file);
	}
}

Test(copy, files_side_by_side)
{
	atomic_bool cancel = false;
	struct error error = { 0 };
	struct output_dir *folder;

	temp_make();
	make_records();
	cr_assert_eq(output_dir_open(&folder, temp_at("out"), &error), 0);
	copy_all(folder, &cancel);
	for (unsigned i = 0; i < FILES; i++) {
		cr_expect_eq(statuses[i], 0);
		expect_file(&records[i], true);
	}
	output_dir_close(folder);
	temp_remove();
}

Test(copy, hashes_alone)
{
	atomic_bool cancel = false;

	make_records();
	copy_all(NULL, &cancel);
	for (unsigned i = 0; i < FILES; i++)
		expect_file(&records[i], false);
}

Test(copy, one_that_can_not_be_written)
{
	atomic_bool cancel = false;
	struct error error = { 0 };
	struct output_dir *folder;

	temp_make();
	make_records();
	snprintf(names[9], sizeof(names[9]), "%s", names[7]);
	cr_assert_eq(output_dir_open(&folder, temp_at("out"), &error), 0);
	copy_all(folder, &cancel);
	for (unsigned i = 0; i < FILES; i++)
		if (i != 7 && i != 9)
			expect_file(&records[i], true);
	cr_expect_eq((statuses[7] == -EEXIST) + (statuses[9] == -EEXIST), 1);
	output_dir_close(folder);
	temp_remove();
}

Test(copy, cancelled)
{
	atomic_bool cancel = true;
	struct error error = { 0 };
	struct output_dir *folder;

	temp_make();
	make_records();
	cr_assert_eq(output_dir_open(&folder, temp_at("out"), &error), 0);
	copy_all(folder, &cancel);
	for (unsigned i = 0; i < FILES; i++)
		cr_expect_eq(statuses[i],
			records[i].runs[0].length || records[i].run_count > 1 ? -ECANCELED : 0);
	output_dir_close(folder);
	temp_remove();
}
