/*
 * A set is assembled from what the files contain, not from their names: each has its number in its
 * head, and the facts that make segments one set, geometry and identifier, are in the first one's
 * section "volume" (or "disk") and in the "data" sections of the rest. An examiner must learn
 * before the run what is missing, not from a hole in the report, so everything that is wrong with
 * the set is collected in one sentence.
 */
#include "evidence/e01_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/backend.h"
#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"
#include "evidence/e01_tables.h"

#define NUMBER_AT 9
/* The payload of a volume or data section: chunk count, sectors per chunk, bytes per sector and
 * sector count at 4, the identifier at 64, a checksum at the end. SMART's volume is shorter, and
 * its other segments have none. */
#define VOLUME_LEN 1052
#define SMART_VOLUME_LEN 94
#define SUM_LEN 4
#define GEOMETRY_AT 4
#define GEOMETRY_LEN 20
#define SECTORS_EACH_AT 8
#define SECTOR_LEN_AT 12
#define SECTORS_AT 16
#define IDENTIFIER_AT 64
#define IDENTIFIER_LEN 16
#define CHUNK_MIN 512
#define CHUNK_MAX (32u << 20)
#define NOTES_MAX 6

/* What a walk through the segments collects. */
struct assembly {
	struct e01_set *set;
	struct e01_collector tables;
	struct e01_segment *segment; /* being walked */
	uint8_t volume[VOLUME_LEN];
	size_t volume_len;                 /* 0: none was found yet */
	const struct e01_segment *foreign; /* whose volume differs */
	bool bad_volume;                   /* its checksum is wrong */
	size_t note_count;
};

/* ---- what is wrong ------------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
note(struct assembly *assembly, const char *format, ...)
{
	struct e01_set *set = assembly->set;
	char text[1024], *longer;
	va_list list;

	if (assembly->note_count++ >= NOTES_MAX)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	longer = xasprintf("%s%s%s", set->damage ? set->damage : "", set->damage ? "; " : "", text);
	free(set->damage);
	set->damage = longer;
}

/* lacks: chunks of the medium may be missing. */
static void end_notes(struct assembly *assembly, bool lacks)
{
	bool more = assembly->note_count > NOTES_MAX;

	if (!assembly->note_count)
		return;
	assembly->note_count = 0;
	if (more)
		note(assembly, "and more");
	note(assembly, lacks ? "missing data is read as zeros and reported as unreadable"
			     : "but no chunk is missing");
}

/* ---- the files ----------------------------------------------------------------------------- */

static int open_segment(struct e01_segment *segment, const char *path, struct error *error)
{
	uint8_t head[E01_FILE_HEAD_LEN];
	struct stat st;

	segment->path = path;
	segment->fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (segment->fd < 0 || fstat(segment->fd, &st))
		return error_set(error, EXIT_IO, errno, "can't open %s: %s%s", path,
			strerror(errno),
			errno == EMFILE ? "; raise the limit with `ulimit -n`" : "");
	if (!S_ISREG(st.st_mode) || file_read_all_at(segment->fd, head, sizeof(head), 0) ||
		!e01_probe(head, sizeof(head)))
		return error_set(error, EXIT_IO, EINVAL,
			"%s is not an EWF segment, though its name makes it one of the set: move "
			"it "
			"away, or copy the set again",
			path);
	segment->size = (uint64_t)st.st_size;
	segment->number = head[NUMBER_AT] | (unsigned)head[NUMBER_AT + 1] << 8;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct e01_segment *first = a, *second = b;

	return (first->number > second->number) - (first->number < second->number);
}

/* Puts the segments in order and checks their numbers. */
static int order_segments(struct assembly *assembly, struct error *error)
{
	struct e01_set *set = assembly->set;
	struct e01_segment *segments = set->segments;

	for (size_t i = 1; i < set->segment_count; i++)
		if (segments[i].number < segments[i - 1].number) {
			note(assembly,
				"the segments' names are not in the order of their numbers: "
				"%s is segment %u",
				segments[i].path, segments[i].number);
			break;
		}
	qsort(segments, set->segment_count, sizeof(*segments), by_number);
	if (segments[0].number != 1)
		return error_set(error, EXIT_IO, EINVAL,
			"%s is segment %u of its set: give the first segment", segments[0].path,
			segments[0].number);
	for (size_t i = 1; i < set->segment_count; i++) {
		unsigned before = segments[i - 1].number, number = segments[i].number;

		if (number == before)
			return error_set(error, EXIT_IO, EINVAL,
				"%s and %s both claim to be segment %u: one of them is of "
				"another image, or was renamed",
				segments[i - 1].path, segments[i].path, number);
		segments[i].after_gap = number != before + 1;
		if (number == before + 2)
			note(assembly, "segment %u is missing", before + 1);
		else if (number > before + 2)
			note(assembly, "segments %u to %u are missing", before + 1, number - 1);
	}
	return 0;
}

/* ---- the sections -------------------------------------------------------------------------- */

static bool is_one_of(const char *type, const char *const *types)
{
	for (; *types; types++)
		if (!strcmp(type, *types))
			return true;
	return false;
}

/* 0 when it is invalid. */
static uint32_t chunk_len_of(const uint8_t *volume)
{
	uint64_t len =
		(uint64_t)endian_u32(volume + SECTORS_EACH_AT) * endian_u32(volume + SECTOR_LEN_AT);

	return len < CHUNK_MIN || len > CHUNK_MAX ? 0 : (uint32_t)len;
}

/* The first valid one is the set's; the rest must agree with it. */
static void read_volume(struct assembly *assembly, const struct e01_section *section)
{
	uint8_t volume[VOLUME_LEN];
	uint64_t len = section->len - E01_SECTION_HEAD_LEN;
	size_t volume_len = len < VOLUME_LEN ? SMART_VOLUME_LEN : VOLUME_LEN;

	if (len < volume_len ||
		file_read_all_at(assembly->segment->fd, volume, volume_len,
			section->offset + E01_SECTION_HEAD_LEN) ||
		!e01_sum_holds(volume, volume_len - SUM_LEN)) {
		assembly->bad_volume = true;
	} else if (!assembly->volume_len) {
		memcpy(assembly->volume, volume, volume_len);
		assembly->volume_len = volume_len;
		assembly->tables.smart = volume_len == SMART_VOLUME_LEN;
		assembly->tables.chunk_len = chunk_len_of(volume);
	} else if (assembly->volume_len == VOLUME_LEN && volume_len == VOLUME_LEN &&
		   (memcmp(assembly->volume + GEOMETRY_AT, volume + GEOMETRY_AT, GEOMETRY_LEN) ||
			   memcmp(assembly->volume + IDENTIFIER_AT, volume + IDENTIFIER_AT,
				   IDENTIFIER_LEN)) &&
		   !assembly->foreign) {
		assembly->foreign = assembly->segment;
	}
}

static void add_metadata(struct e01_set *set, struct e01_metadata part)
{
	set->metadata[set->metadata_count++] = part;
}

/* One entry is reserved for the volume. */
static void read_metadata(struct assembly *assembly, const struct e01_section *section)
{
	struct e01_metadata part;

	if (assembly->set->metadata_count + 1 == E01_METADATA_MAX)
		return;
	if (e01_metadata_read(assembly->segment->fd, section, &part))
		add_metadata(assembly->set, part);
	else
		note(assembly, "the section \"%s\" of %s is damaged", section->type,
			assembly->segment->path);
}

static void visit(void *arg, const struct e01_section *section)
{
	static const char *const volumes[] = { "volume", "disk", "data", NULL };
	struct assembly *assembly = arg;

	if (is_one_of(section->type, volumes))
		read_volume(assembly, section);
	else if (e01_is_metadata(section))
		read_metadata(assembly, section);
	e01_collect(&assembly->tables, section);
}

static void walk_segment(struct assembly *assembly, uint32_t index)
{
	struct e01_segment *segment = &assembly->set->segments[index];
	struct e01_walk walk;

	assembly->segment = segment;
	assembly->tables.segment = index;
	assembly->tables.gap |= segment->after_gap;
	walk = e01_walk_sections(segment->fd, segment->size, visit, assembly);
	e01_collect_end(&assembly->tables);
	segment->ending = walk.ending;
	segment->damaged = walk.damaged;
	assembly->tables.gap |= walk.ending == E01_ENDS_BROKEN;
	if (walk.damaged)
		note(assembly, "%s is cut off or damaged", segment->path);
}

static int walk_segments(struct assembly *assembly, struct error *error)
{
	struct e01_set *set = assembly->set;

	for (size_t i = 0; i < set->segment_count; i++) {
		struct e01_segment *segment = &set->segments[i];

		walk_segment(assembly, (uint32_t)i);
		if (assembly->foreign)
			return error_set(error, EXIT_IO, EINVAL,
				"%s is a segment of another image: its size or identifier is not "
				"that of the first segment",
				segment->path);
		if (i + 1 < set->segment_count && segment->ending == E01_ENDS_DONE)
			return error_set(error, EXIT_IO, EINVAL,
				"%s claims to be the last segment, but there are files with "
				"later numbers: they are of another image; move them away",
				segment->path);
		if (i + 1 == set->segment_count && segment->ending == E01_ENDS_NEXT) {
			note(assembly, "segment %u and all later ones are missing",
				segment->number + 1);
			assembly->tables.gap = true;
		}
	}
	return 0;
}

/* ---- the medium ---------------------------------------------------------------------------- */

/* Leaves set->common false where the medium's description is lost or invalid. */
static void set_geometry(struct assembly *assembly)
{
	struct e01_set *set = assembly->set;
	uint64_t sector_count = endian_u64(assembly->volume + SECTORS_AT);
	const uint8_t *volume = assembly->volume;
	struct e01_metadata part = { .type = "volume", .len = assembly->volume_len };

	if (!assembly->volume_len)
		return;
	if (assembly->volume_len == SMART_VOLUME_LEN)
		sector_count = endian_u32(assembly->volume + SECTORS_AT);
	part.bytes = xmalloc(part.len);
	memcpy(part.bytes, volume, part.len);
	add_metadata(set, part);
	set->sector_size = endian_u32(volume + SECTOR_LEN_AT);
	set->chunk_len = chunk_len_of(volume);
	if (!set->chunk_len || !sector_count || sector_count > INT64_MAX / set->sector_size)
		return;
	set->size = sector_count * set->sector_size;
	set->common = true;
}

/* Notes what the tables lack. */
static void set_chunks(struct assembly *assembly)
{
	struct e01_set *set = assembly->set;
	uint64_t chunks = (set->size - 1) / set->chunk_len + 1;
	uint64_t counted = endian_u32(assembly->volume + GEOMETRY_AT);
	uint64_t listed = e01_number_tables(&assembly->tables, chunks);

	if (assembly->bad_volume)
		note(assembly, "a description of the medium is damaged; another copy was used");
	if (assembly->tables.spare)
		note(assembly,
			"%zu of its tables of chunks %s a damaged copy; the intact one is used",
			assembly->tables.spare, assembly->tables.spare == 1 ? "has" : "have");
	if (assembly->tables.suspects)
		note(assembly, "%zu of its tables of chunks %s damaged, as is the copy",
			assembly->tables.suspects, assembly->tables.suspects == 1 ? "is" : "are");
	if (assembly->tables.rebuilt)
		note(assembly, "chunks found without their table, which is lost: %zu",
			assembly->tables.rebuilt);
	if (chunks > counted && chunks > listed) {
		/* The larger of the two counts is an upper bound on what exists. */
		chunks = counted > listed ? counted : listed;
		note(assembly, "it claims to hold %llu bytes, but has chunks for only %llu",
			(unsigned long long)set->size, (unsigned long long)chunks * set->chunk_len);
		set->size = chunks * set->chunk_len;
	}
	if (listed < chunks)
		note(assembly, "%llu of %llu chunks are missing",
			(unsigned long long)(chunks - listed), (unsigned long long)chunks);
	end_notes(assembly, listed < chunks || assembly->tables.suspects);
}

int e01_set_open(struct e01_set *set, char *const *paths, size_t count, struct error *error)
{
	struct assembly assembly = { .set = set, .tables.set = set };
	int rc = 0;

	*set = (struct e01_set){ 0 };
	set->segments = xcalloc(count, sizeof(*set->segments));
	for (size_t i = 0; i < count && !rc; i++) {
		set->segment_count++;
		rc = open_segment(&set->segments[i], paths[i], error);
	}
	if (!rc)
		rc = order_segments(&assembly, error);
	if (!rc)
		rc = walk_segments(&assembly, error);
	if (rc)
		return rc;
	set_geometry(&assembly);
	if (set->common)
		set_chunks(&assembly);
	else
		end_notes(&assembly, true);
	set->common = set->common && set->size;
	return 0;
}

void e01_set_close(struct e01_set *set)
{
	for (size_t i = 0; i < set->segment_count; i++)
		if (set->segments[i].fd >= 0)
			close(set->segments[i].fd);
	for (size_t i = 0; i < set->metadata_count; i++)
		free(set->metadata[i].bytes);
	for (size_t i = 0; i < set->table_count; i++)
		free(set->tables[i].entries);
	free(set->segments);
	free(set->tables);
	free(set->damage);
	*set = (struct e01_set){ 0 };
}

const struct e01_table *e01_set_table(const struct e01_set *set, uint64_t chunk)
{
	size_t low = 0, high = set->table_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (set->tables[middle].first <= chunk)
			low = middle;
		else
			high = middle;
	}
	if (!high || chunk < set->tables[low].first ||
		chunk - set->tables[low].first >= set->tables[low].count)
		return NULL;
	return &set->tables[low];
}
