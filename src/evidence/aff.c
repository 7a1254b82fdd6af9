/*
 * After its first eight bytes an AFF file is a row of segments: "AFF" and a zero, the lengths of
 * name and data, a number, name, data, and eight bytes that end it. All numbers are big-endian.
 */
#include "evidence/aff.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "evidence/backend.h"

#define FIRST_AT 8
#define HEAD_LEN 16
#define TAIL_LEN 8
#define NAME_MAX_LEN 64
/* 16 TB in pages of 16 MiB, or as many of anything. */
#define SEGMENTS_MAX 1100000
#define PAGE_MAX ((uint64_t)1 << 30)

struct segment {
	uint32_t name_len, data_len, number;
	char name[NAME_MAX_LEN + 1];
	uint64_t data_at;
};

static bool read_segment(int fd, uint64_t at, struct segment *segment)
{
	uint8_t head[HEAD_LEN];

	if (pread(fd, head, sizeof(head), (off_t)at) != sizeof(head) || memcmp(head, "AFF", 4))
		return false;
	segment->name_len = endian_be32(head + 4);
	segment->data_len = endian_be32(head + 8);
	segment->number = endian_be32(head + 12);
	if (segment->name_len > NAME_MAX_LEN)
		return false;
	memset(segment->name, 0, sizeof(segment->name));
	if (pread(fd, segment->name, segment->name_len, (off_t)(at + HEAD_LEN)) !=
		(ssize_t)segment->name_len)
		return false;
	segment->data_at = at + HEAD_LEN + segment->name_len;
	return true;
}

/* hex: room for twice len characters and a zero. */
static void read_hash(int fd, const struct segment *segment, size_t len, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[20];

	if (segment->data_len != len ||
		pread(fd, bytes, len, (off_t)segment->data_at) != (ssize_t)len)
		return;
	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * len] = 0;
}

void aff_describe(const char *path, struct image_info *info, uint64_t *page_len)
{
	int fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint64_t at = FIRST_AT;
	struct segment segment;

	*page_len = 0;
	for (unsigned i = 0; fd >= 0 && i < SEGMENTS_MAX && read_segment(fd, at, &segment); i++) {
		if (!strcmp(segment.name, "pagesize") && segment.number <= PAGE_MAX)
			*page_len = segment.number;
		else if (!strcmp(segment.name, "md5"))
			read_hash(fd, &segment, 16, info->stored_md5);
		else if (!strcmp(segment.name, "sha1"))
			read_hash(fd, &segment, 20, info->stored_sha1);
		at = segment.data_at + segment.data_len + TAIL_LEN;
	}
	if (fd >= 0)
		close(fd);
}
