/*
 * An EWF segment file is a 13-byte head, with the segment's number at 9, and a chain of sections. A
 * section starts with 76 bytes: a type (16 bytes), the offset of the next section (u64), its own
 * size (u64), padding and a checksum. The last section's type is "next" when another segment
 * follows and "done" when none does.
 *
 * libewf opens a set without its end, or with a foreign file in it, and fills with zeros what it
 * lacks. An examiner must hear of that before the run, not from a hole in the report; so the chains
 * are walked here, and the few facts that make segments one set are compared: the geometry and the
 * set's identifier, which the first segment has in its "volume" (or "disk") section and the others
 * in "data".
 */
#include "evidence/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_LEN 13
#define SECTION_LEN 76
/* The part of a volume or data section that is compared: chunk count, sectors per chunk, bytes per
 * sector and sector count at 4, the identifier at 64. SMART's volume is shorter and its other
 * segments have none. */
#define VOLUME_LEN 80
#define GEOMETRY_AT 4
#define GEOMETRY_LEN 20
#define IDENTIFIER_AT 64
#define IDENTIFIER_LEN 16
/* A segment of 2 GiB has some two tables a 2 GiB; more sections than this are made up. */
#define SECTIONS_MAX 1000000

enum ending { ENDS_BROKEN, ENDS_NEXT, ENDS_DONE };

struct segment {
	unsigned number;
	enum ending ending;
	bool has_volume;
	uint8_t volume[VOLUME_LEN];
};

static const uint8_t signature[8] = { 'E', 'V', 'F', '\t', '\r', '\n', 0xff, 0 };

bool segments_probe(const uint8_t *head, size_t len)
{
	return len >= sizeof(signature) && !memcmp(head, signature, sizeof(signature));
}

static uint64_t u64le(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

static bool has_type(const uint8_t *section, const char *type)
{
	return !strncmp((const char *)section, type, 16);
}

static bool read_exactly(int fd, void *buffer, size_t len, uint64_t offset)
{
	return pread(fd, buffer, len, (off_t)offset) == (ssize_t)len;
}

static void note_volume(int fd, const uint8_t *section, uint64_t offset, struct segment *segment)
{
	bool wanted = has_type(section, "volume") || has_type(section, "disk") ||
		      has_type(section, "data");

	if (wanted && !segment->has_volume && u64le(section + 24) >= SECTION_LEN + VOLUME_LEN)
		segment->has_volume =
			read_exactly(fd, segment->volume, VOLUME_LEN, offset + SECTION_LEN);
}

/* Follows the chain, which can only lead on to the end of the file. */
static enum ending walk(int fd, uint64_t size, struct segment *segment)
{
	uint64_t offset = HEAD_LEN;

	for (int i = 0; i < SECTIONS_MAX; i++) {
		uint8_t section[SECTION_LEN];
		uint64_t next;

		if (size < SECTION_LEN || offset > size - SECTION_LEN ||
			!read_exactly(fd, section, SECTION_LEN, offset))
			return ENDS_BROKEN;
		if (has_type(section, "next"))
			return ENDS_NEXT;
		if (has_type(section, "done"))
			return ENDS_DONE;
		note_volume(fd, section, offset, segment);
		next = u64le(section + 16);
		if (next <= offset)
			return ENDS_BROKEN;
		offset = next;
	}
	return ENDS_BROKEN;
}

static int read_segment(const char *path, struct segment *segment, struct error *error)
{
	uint8_t head[HEAD_LEN];
	struct stat st;
	int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	*segment = (struct segment){ 0 };
	if (fd < 0 || fstat(fd, &st)) {
		rc = error_set(error, EXIT_IO, errno, "can't open %s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || !read_exactly(fd, head, HEAD_LEN, 0) ||
		   !segments_probe(head, HEAD_LEN)) {
		rc = error_set(error, EXIT_IO, EINVAL,
			"%s is no EWF segment, though its name makes it one of the set: move it "
			"away, or copy the "
			"set again",
			path);
	} else {
		segment->number = head[9] | (unsigned)head[10] << 8;
		segment->ending = walk(fd, (uint64_t)st.st_size, segment);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static int check_number(const char *path, size_t index, unsigned number, struct error *error)
{
	if (number == index + 1)
		return 0;
	if (index == 0)
		return error_set(error, EXIT_IO, EINVAL,
			"%s is segment %u of its set: give the first segment", path, number);
	return error_set(error, EXIT_IO, EINVAL,
		"%s stands where segment %zu should be, but says that it is segment %u: it is of "
		"another image, "
		"or was renamed",
		path, index + 1, number);
}

static int check_ending(const char *path, enum ending ending, bool last, struct error *error)
{
	if (last && ending == ENDS_NEXT)
		return error_set(error, EXIT_IO, ENOENT,
			"the segment behind %s is missing: it says that it is not the last one",
			path);
	if (!last && ending == ENDS_DONE)
		return error_set(error, EXIT_IO, EINVAL,
			"%s says that it is the last segment, but there are files with later "
			"numbers: they are of "
			"another image; move them away",
			path);
	return 0;
}

static int check_set(const char *path, const struct segment *first, const struct segment *segment,
	struct error *error)
{
	if (!first->has_volume || !segment->has_volume)
		return 0;
	if (!memcmp(first->volume + GEOMETRY_AT, segment->volume + GEOMETRY_AT, GEOMETRY_LEN) &&
		!memcmp(first->volume + IDENTIFIER_AT, segment->volume + IDENTIFIER_AT,
			IDENTIFIER_LEN))
		return 0;
	return error_set(error, EXIT_IO, EINVAL,
		"%s is a segment of another image: its size or identifier is not that of the first "
		"segment",
		path);
}

int segments_check(char *const *paths, size_t count, size_t *damaged, struct error *error)
{
	struct segment first, segment;

	*damaged = count;
	for (size_t i = 0; i < count; i++) {
		int rc = read_segment(paths[i], &segment, error);

		if (!rc)
			rc = check_number(paths[i], i, segment.number, error);
		if (i == 0)
			first = segment;
		if (!rc)
			rc = check_set(paths[i], &first, &segment, error);
		if (!rc)
			rc = check_ending(paths[i], segment.ending, i + 1 == count, error);
		if (rc)
			return rc;
		if (segment.ending == ENDS_BROKEN && *damaged == count)
			*damaged = i;
	}
	return 0;
}
