/* E01 sets of several segments, made here with libewf: which files belong to one, and what is read where segments are missing,
 * damaged or can't be read. */
#include "image_case.h"

#include <fcntl.h>
#include <libewf.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "tier.h"

#define MIB (1u << 20)
#define MEDIA_LEN (3 * MIB + 512)

/* Not arrays: at the end of each test of the program the leak sanitizer reads all that is static. */
static uint8_t *media, *got;

static void begin(void)
{
	log_set_level(LOG_ERROR);
	media = calloc(1, MEDIA_LEN);
	got = calloc(1, MEDIA_LEN);
	temp_make();
}

TestSuite(e01_set, .init = begin, .fini = temp_remove, .timeout = TEST_HANGS);

static void set_value(libewf_handle_t *handle, const char *name, const char *value)
{
	cr_assert_eq(libewf_handle_set_utf8_header_value(handle, (const uint8_t *)name,
			     strlen(name), (const uint8_t *)value, strlen(value), NULL),
		1);
}

/* Writes NAME.E01 and as many segments of about 1 MiB as it takes, with an identifier of its own.
 * compressed: or stored. */
static void write_e01(const char *name, const uint8_t *bytes, size_t len, bool compressed)
{
	static const char md5[] = "0123456789abcdefFEDCBA9876543210";
	static uint8_t identifier[16];
	char *base = strdup(temp_at(name));
	libewf_handle_t *handle = NULL;

	cr_assert_eq(libewf_handle_initialize(&handle, NULL), 1);
	cr_assert_eq(libewf_handle_open(handle, &base, 1, LIBEWF_OPEN_WRITE, NULL), 1);
	cr_assert_eq(libewf_handle_set_format(handle, LIBEWF_FORMAT_ENCASE6, NULL), 1);
	identifier[0]++;
	cr_assert_eq(
		libewf_handle_set_segment_file_set_identifier(handle, identifier, 16, NULL), 1);
	cr_assert_eq(libewf_handle_set_media_size(handle, len, NULL), 1);
	cr_assert_eq(libewf_handle_set_maximum_segment_size(handle, MIB, NULL), 1);
	cr_assert_eq(libewf_handle_set_compression_values(handle, compressed ? 1 : 0, 0, NULL), 1);
	set_value(handle, "case_number", "2026/17");
	set_value(handle, "examiner_name", "J\xc3\xbcrgen\nR");
	set_value(handle, "evidence_number", "   ");
	cr_assert_eq(libewf_handle_set_utf8_hash_value(
			     handle, (const uint8_t *)"MD5", 3, (const uint8_t *)md5, 32, NULL),
		1);
	cr_assert_eq(libewf_handle_write_buffer(handle, bytes, len, NULL), (ssize_t)len);
	cr_assert_geq(libewf_handle_write_finalize(handle, NULL), 0);
	libewf_handle_close(handle, NULL);
	libewf_handle_free(&handle, NULL);
	free(base);
}

static const char *value_of(const struct image_info *info, const char *name)
{
	for (size_t i = 0; i < info->value_count; i++)
		if (!strcmp(info->values[i].name, name))
			return info->values[i].value;
	return NULL;
}

/* Stored chunks of 32 KiB in four segments. */
static void write_set(const char *name)
{
	fill(media, MEDIA_LEN, 9);
	write_e01(name, media, MEDIA_LEN, false);
}

static void move(const char *from, const char *to)
{
	cr_assert_eq(rename(temp_at(from), temp_at(to)), 0, "%s", from);
}

Test(e01_set, with_acquisition_data)
{
	struct image *image;
	const struct image_info *info;
	uint64_t offset, len;
	int fd;

	fill(media, 100 * 512, 8);
	memset(media + 20000, 0, 20000);
	write_e01("disk", media, 100 * 512, true);
	image = opened(temp_at("disk.E01"));
	info = image_info(image);
	cr_assert_str_eq(info->format, "ewf");
	cr_assert_eq(info->sector_size, 512);
	cr_assert_eq(info->path_count, 1);
	cr_assert_str_eq(info->stored_md5, "0123456789abcdeffedcba9876543210");
	cr_assert_str_eq(info->stored_sha1, "");
	cr_assert_str_eq(value_of(info, "case_number"), "2026/17");
	cr_assert_eq(strncmp(value_of(info, "examiner_name"), "J\xc3\xbcrgen", 7), 0);
	cr_assert_null(strchr(value_of(info, "examiner_name"), '\n'));
	cr_assert_null(value_of(info, "evidence_number"));
	cr_assert_null(value_of(info, "password"));
	holds(image, media, 100 * 512);
	cr_assert_eq(image_extent(image, 0, false, &fd, &offset, &len), -ENOTSUP);
	image_close(image);
}

Test(e01_set, in_segments)
{
	struct image *image;

	write_set("disk");
	image = opened(temp_at("disk.E01"));
	cr_assert_eq(image_info(image)->path_count, 4);
	cr_assert_str_eq(image_info(image)->paths[3], temp_at("disk.E04"));
	holds(image, media, MEDIA_LEN);
	image_close(image);
}

Test(e01_set, is_detected_by_its_content)
{
	struct image *image;

	fill(media, 512 * 10, 8);
	write_e01("disk", media, 512 * 10, true);
	move("disk.E01", "picture.jpg");
	image = opened(temp_at("picture.jpg"));
	cr_assert_str_eq(image_info(image)->format, "ewf");
	holds(image, media, 512 * 10);
	image_close(image);
	write_file("fake.E01", media, 1000);
	image = opened(temp_at("fake.E01"));
	cr_assert_str_eq(image_info(image)->format, "raw");
	image_close(image);
}

/* The image opens, its damage contains `piece`, and its bytes are those of media except the `lost`
 * bytes at `from`. */
static void holds_but(const char *piece, size_t from, size_t lost)
{
	struct image *image = opened(temp_at("disk.E01"));
	const char *damage = image_info(image)->damage;

	cr_assert_not_null(damage);
	cr_assert_not_null(strstr(damage, piece), "no '%s' in: %s", piece, damage);
	cr_assert_eq(image_info(image)->size, MEDIA_LEN);
	cr_assert_eq(image_read_around(image, 0, got, MEDIA_LEN), lost);
	cr_assert_arr_eq(got, media, from);
	cr_assert_arr_eq(got + from + lost, media + from + lost, MEDIA_LEN - from - lost);
	for (size_t i = from; i < from + lost; i++)
		cr_assert_eq(got[i], 0);
	image_close(image);
}

#define SEGMENT_CHUNKS 31 /* stored, in 1 MiB */
#define CHUNK 32768

Test(e01_set, not_whole)
{
	size_t segment_len = SEGMENT_CHUNKS * CHUNK;

	write_set("disk");
	refused_set("disk.E02", "later segment", "disk.E01");
	move("disk.E04", "4");
	holds_but("segment 4 and all later ones are missing", 3 * segment_len,
		MEDIA_LEN - 3 * segment_len);
	move("disk.E03", "3");
	holds_but("segment 3 and all later ones are missing", 2 * segment_len,
		MEDIA_LEN - 2 * segment_len);
	move("3", "disk.E03");
	move("4", "disk.E04");
	move("disk.E02", "2");
	holds_but("segment 2 is missing", segment_len, segment_len);
	move("disk.E03", "3");
	holds_but("segments 2 to 3 are missing", segment_len, 2 * segment_len);
	move("disk.E04", "4");
	holds_but("segment 2 and all later ones are missing", segment_len, MEDIA_LEN - segment_len);
	move("2", "disk.E02");
	move("3", "disk.E03");
	move("4", "disk.E04");
	move("disk.E01", "1");
	move("disk.E02", "disk.E01");
	refused_set("disk.E01", "disk.E01 is segment 2", "first");
}

/* Between two gaps, the chunks of a segment have no known numbers. */
Test(e01_set, a_segment_between_two_gaps)
{
	size_t segment_len = SEGMENT_CHUNKS * CHUNK;

	write_set("disk");
	move("disk.E02", "2");
	move("disk.E04", "4");
	holds_but("segment 2 is missing; segment 4 and all later ones are missing", segment_len,
		MEDIA_LEN - segment_len);
}

Test(e01_set, names_in_disorder)
{
	struct image *image;

	write_set("disk");
	move("disk.E02", "2");
	move("disk.E03", "disk.E02");
	move("2", "disk.E03");
	holds_but("disk.E03 is segment 2", 0, 0);
	image = opened(temp_at("disk.E01"));
	cr_assert_str_eq(image_info(image)->paths[1], temp_at("disk.E03"));
	cr_assert_str_eq(image_info(image)->paths[2], temp_at("disk.E02"));
	image_close(image);
	write_file("disk.E02", "no segment at all", 17);
	refused_set("disk.E01", "disk.E02 is not an EWF segment", "");
}

/* Files with such names after a gap are segments only if their heads say so. */
Test(e01_set, with_neighbours)
{
	struct image *image;

	write_set("disk");
	write_file("disk.EXE", "MZ, and no segment", 18);
	write_file("disk.E09", "neither", 7);
	write_file("disk.E0", "nor", 3);
	write_file("disk.E4", "that", 4);
	write_file("disk.e05", "as it begins with another letter", 32);
	image = opened(temp_at("disk.E01"));
	cr_assert_eq(image_info(image)->path_count, 4);
	cr_assert_null(image_info(image)->damage);
	holds(image, media, MEDIA_LEN);
	image_close(image);
}

Test(e01_set, segments_of_another_image)
{
	write_set("disk");
	write_set("other"); /* same size, same bytes, another acquisition */
	move("disk.E03", "3");
	move("other.E03", "disk.E03");
	refused_set("disk.E01", "disk.E03 is a segment of another image", "");
	move("3", "disk.E03");
	move("other.E04", "disk.E05");
	refused_set("disk.E01", "disk.E05 both claim to be segment 4", "another image");
}

static void overwrite(const char *name, off_t offset, uint8_t byte)
{
	int fd = open(temp_at(name), O_RDWR);

	cr_assert_eq(pwrite(fd, &byte, 1, offset), 1);
	close(fd);
}

/* Where the byte sequence of media at `at` is stored in the segment. */
static off_t find_stored(const char *name, size_t at)
{
	uint8_t *bytes = malloc(2 * MIB), *found;
	FILE *file = fopen(temp_at(name), "rb");
	size_t len = fread(bytes, 1, 2 * MIB, file);
	off_t offset;

	fclose(file);
	found = memmem(bytes, len, media + at, 64);
	cr_assert_not_null(found);
	offset = found - bytes;
	free(bytes);
	return offset;
}

Test(e01_set, with_a_bad_chunk)
{
	struct image *image;
	off_t at;

	write_set("disk");
	at = find_stored("disk.E01", 5 * 32768 + 1000);
	overwrite("disk.E01", at, (uint8_t)~media[5 * 32768 + 1000]);
	image = opened(temp_at("disk.E01"));
	cr_assert_eq(image_read_at(image, 0, got, 5 * 32768), 0);
	cr_assert_eq(image_read_at(image, 0, got, 5 * 32768 + 1), -EIO);
	cr_assert_eq(image_read_at(image, 5 * 32768 + 5000, got, 1), -EIO);
	memset(media + 5 * 32768, 0, 32768);
	for (int again = 0; again < 2; again++) {
		cr_assert_eq(image_read_around(image, 0, got, MEDIA_LEN), 32768);
		cr_assert_arr_eq(got, media, MEDIA_LEN);
	}
	cr_assert_eq(image_read_around(image, 6 * 32768 - 100, got, 200), 100);
	image_close(image);
}

Test(e01_set, with_a_bad_compressed_chunk)
{
	static uint8_t part[20 * 32768];
	struct image *image;

	memset(media, 'a', sizeof(part));
	fill(media + 3 * 32768, 20000, 1);
	write_e01("disk", media, sizeof(part), true);
	overwrite("disk.E01", find_stored("disk.E01", 3 * 32768 + 9000) + 5, 0);
	overwrite("disk.E01", find_stored("disk.E01", 3 * 32768 + 12000) + 5, 0);
	image = opened(temp_at("disk.E01"));
	memset(media + 3 * 32768, 0, 32768);
	cr_assert_eq(image_read_around(image, 0, part, sizeof(part)), 32768);
	cr_assert_arr_eq(part, media, sizeof(part));
	image_close(image);
}

Test(e01_set, cut_off)
{
	struct error error = { 0 };
	struct image *image;
	struct stat st;

	write_set("disk");
	cr_assert_eq(stat(temp_at("disk.E04"), &st), 0);
	for (off_t cut = st.st_size - 1; cut > 0; cut -= 1 + st.st_size / 23) {
		cr_assert_eq(truncate(temp_at("disk.E04"), cut), 0);
		if (image_open(&image, temp_at("disk.E01"), &error)) {
			cr_assert_eq(error.code, EXIT_IO);
			cr_assert_not_null(strstr(error.text, "disk.E0"), "%s", error.text);
			continue;
		}
		for (size_t at = 0; at < MEDIA_LEN; at += 512) {
			int rc = image_read_at(image, at, got, 512);

			if (rc)
				cr_assert_eq(rc, -EIO);
			else
				cr_assert_arr_eq(got, media + at, 512);
		}
		image_close(image);
	}
}

/* Reads of the same pages fail in each segment. */
Test(e01_set, on_a_failing_disk)
{
	struct image *image;
	uint64_t why_len;
	size_t lost;
	char *why;

	write_set("disk");
	image = opened(temp_at("disk.E01"));
	bad_from = find_stored("disk.E01", 5 * CHUNK + 1000);
	bad_to = bad_from + 1;
	lost = image_read_around(image, 0, got, MEDIA_LEN);
	cr_assert_geq(lost, 3 * CHUNK);
	cr_assert_leq(lost, 6 * CHUNK); /* a page may be of two chunks */
	for (size_t at = 0; at < MEDIA_LEN; at += CHUNK) {
		size_t len = MEDIA_LEN - at < CHUNK ? MEDIA_LEN - at : CHUNK;

		if (image_read_at(image, at, got + at, len))
			lost -= len;
		else
			cr_assert_arr_eq(got + at, media + at, len);
	}
	cr_assert_eq(lost, 0);
	why = image_why(image, 5 * CHUNK + 1, &why_len);
	cr_assert_eq(why_len, CHUNK - 1);
	cr_assert_not_null(strstr(why, "chunk 5, in segment 1 ("), "%s", why);
	cr_assert_not_null(strstr(why, "the file can't be read there"), "%s", why);
	free(why);
	bad_to = 0;
	cr_assert_eq(image_read_at(image, 0, got, MEDIA_LEN), 0);
	cr_assert_arr_eq(got, media, MEDIA_LEN);
	cr_assert_null(image_why(image, 5 * CHUNK, &why_len));
	image_close(image);
}

/* No length or offset in the file may crash us or be trusted: whatever opens reads the right bytes
 * or reports that it can't. */
Test(e01_set, with_random_damage)
{
	static uint8_t part[64 * 512], file_bytes[MIB];
	unsigned seed = (unsigned)test_seed();
	size_t file_len;
	FILE *file;

	memset(media, 'b', sizeof(part));
	fill(media, 9000, 2);
	write_e01("disk", media, sizeof(part), true);
	file = fopen(temp_at("disk.E01"), "rb");
	file_len = fread(file_bytes, 1, sizeof(file_bytes), file);
	fclose(file);
	srand(seed);
	printf("seed %u\n", seed);
	for (int round = 0; round < (int)test_tier(30, 80, 1500); round++) {
		struct image *image;
		size_t at = (unsigned)rand() % file_len;
		uint8_t kept = file_bytes[at];

		file_bytes[at] ^= (uint8_t)(1u << (rand() & 7));
		write_file("damaged.E01", file_bytes, file_len);
		file_bytes[at] = kept;
		if (image_open(&image, temp_at("damaged.E01"), NULL))
			continue;
		if (image_info(image)->size == sizeof(part) &&
			!image_read_at(image, 0, part, sizeof(part)))
			cr_assert_arr_eq(part, media, sizeof(part), "byte %zu, seed %u", at, seed);
		image_close(image);
	}
}
