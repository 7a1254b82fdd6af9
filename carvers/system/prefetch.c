/*
 * Prefetch files of Windows XP to 11 (libyal's documentation of SCCA), plain or compressed.
 *
 *	plain: header (version 17, 23, 26, 30 or 31, 'SCCA', length at 12, name, hash), information
 *		with offsets and counts, metrics, trace chains, names, volumes
 *	compressed: 'MAM', 4 (0x84: a checksum follows), decompressed length, an LZXPRESS Huffman
 *		stream
 *
 * The sections follow each other, and the volumes end the file. burin checks their offsets, each
 * metric's offset in the names, trace chains, the names (UTF-16, each ended by 0), and the volumes'
 * own paths and folders. A compressed file ends where its stream does; decompressed it has to be a
 * prefetch file of that length ('SCCA'), or it is another of Windows' compressed files, with the
 * extension "mam".
 *
 * The title is the program's name, the time is when it ran last.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "prefetch.h"
#include "bytes.h"
#include "dates.h"
#include "lzxpress.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEN PREFETCH_HEADER_LEN
#define INFO_LEN PREFETCH_INFO_LEN
#define OUTPUT_MAX (64u << 20)
#define PROOF_MAX (4u << 20)
/* See view_proved: a name that begins and ends where a metric says, and all of them. */
enum { NAME_BITS = 8, NAMES_BITS_MAX = 64 };

struct prefetch {
	struct view *view;
	struct finding *finding;
	uint64_t valid_end;
	struct prefetch_sections in;
};

static bool known_version(uint32_t version)
{
	return version == 17 || version == 23 || version == 26 || version == 30 || version == 31;
}

uint32_t prefetch_metric_len(const struct prefetch_sections *sections)
{
	return sections->version == 17 ? 20 : 32;
}

uint32_t prefetch_name_at(const struct prefetch_sections *sections)
{
	return sections->version == 17 ? 8 : 12;
}

const char *prefetch_read_sections(const uint8_t *p, struct prefetch_sections *in)
{
	in->version = le32(p);
	in->len = le32(p + 12);
	if (!known_version(in->version) || memcmp(p + 4, "SCCA", 4) != 0)
		return "no header";
	in->metrics = le32(p + 84);
	in->metric_count = le32(p + 88);
	in->traces = le32(p + 92);
	in->trace_count = le32(p + 96);
	in->names = le32(p + 100);
	in->names_len = le32(p + 104);
	in->volumes = le32(p + 108);
	in->volume_count = le32(p + 112);
	in->volumes_len = le32(p + 116);
	if (in->metrics < HEADER_LEN + INFO_LEN || in->traces < in->metrics ||
		in->names < in->traces || in->volumes < in->names || in->volumes > in->len ||
		in->volumes_len > in->len - in->volumes || in->names_len > in->volumes - in->names)
		return "sections out of order";
	if (in->metric_count > (in->traces - in->metrics) / 20 ||
		in->trace_count > (in->names - in->traces) / 8 || in->volume_count > 64)
		return "more entries than there is room for";
	return NULL;
}

/* The same, with title and time. */
static const char *read_fields(struct prefetch *file, const uint8_t *p)
{
	const char *problem = prefetch_read_sections(p, &file->in);

	finding_set_title_utf16(file->finding, p + 16, 60, false);
	file->finding->time = filetime_seconds(le64(p + (file->in.version == 17 ? 120 : 128)));
	return problem;
}

/* Whether this is a check of a file in pieces. */
static bool is_in_pieces(const struct prefetch *file)
{
	return view_thorough(file->view) || view_is_trial(file->view);
}

/* Each metric's name has to lie in the names' section with its whole length. */
static bool check_metrics(struct prefetch *file)
{
	uint32_t len = prefetch_metric_len(&file->in), at = prefetch_name_at(&file->in);

	for (uint32_t i = 0; i < file->in.metric_count; i++) {
		const uint8_t *p = view_peek(file->view, file->in.metrics + (uint64_t)i * len, len);

		if (!p || le32(p + at) > file->in.names_len ||
			le32(p + at + 4) > (file->in.names_len - le32(p + at)) / 2)
			return false;
		file->valid_end = file->in.metrics + (uint64_t)(i + 1) * len;
	}
	return true;
}

/* Trace chains of 12 bytes start with the number of the next one, or -1. */
static bool check_traces(struct prefetch *file)
{
	uint64_t at = file->in.traces;

	file->valid_end = at;
	if (file->in.version >= 30 ||
		(file->in.names - file->in.traces) / 12 < file->in.trace_count)
		return true;
	for (uint32_t i = 0; i < file->in.trace_count; i++, at += 12) {
		const uint8_t *p = view_peek(file->view, at, 12);

		if (!p || (le32(p) >= file->in.trace_count && le32(p) != UINT32_MAX))
			return false;
		/* Chains have their traces one after another. */
		if (is_in_pieces(file) && le32(p) != i + 1 && le32(p) != UINT32_MAX)
			return false;
		file->valid_end = at + 12;
	}
	return true;
}

/* The names' section: one text per metric, or more, without control characters. */
static bool check_names(struct prefetch *file)
{
	uint64_t at = file->in.names, end = at + file->in.names_len;
	uint32_t count = 0;
	bool in_name = false;

	while (end - at >= 2) {
		size_t len;
		const uint8_t *p = walk_window(file->view, at, end, &len);

		if (!p || len < 2)
			return false;
		for (size_t i = 0; i + 2 <= len; i += 2) {
			uint16_t character = le16(p + i);

			if (character == 0) {
				count += in_name;
				file->valid_end = at + i + 2;
				/* Texts are never empty. */
				if (!in_name && count < file->in.metric_count)
					return false;
			} else if (character < ' ' || character >= 0xfffe) {
				return false;
			}
			in_name = character != 0;
		}
		at += len & ~(size_t)1;
	}
	return count >= file->in.metric_count;
}

/* The names of a volume's folders: a length, characters, 0. Moves *at past them. */
static bool check_folders(struct prefetch *file, uint64_t *at, uint32_t count, uint64_t end)
{
	while (count--) {
		const uint8_t *p = end - *at >= 4 ? view_peek(file->view, *at, 2) : NULL;
		uint64_t len = p ? 2u + 2u * le16(p) + 2u : 0;

		if (!p || len > end - *at)
			return false;
		p = view_peek(file->view, *at + len - 4, 4);
		if (!p || le16(p) == 0 || le16(p + 2) != 0)
			return false;
		*at += len;
		file->valid_end = *at;
	}
	return true;
}

static bool check_volumes(struct prefetch *file)
{
	uint32_t len = file->in.version == 17 ? 40 : file->in.version < 30 ? 104 : 96;
	uint64_t end = (uint64_t)file->in.volumes + file->in.volumes_len;

	file->valid_end = file->in.volumes;
	for (uint32_t i = 0; i < file->in.volume_count; i++) {
		const uint8_t *p = view_peek(file->view, file->in.volumes + (uint64_t)i * len, len);
		uint32_t path, path_len, folders, folder_count;
		uint64_t at;

		if (!p)
			return false;
		path = le32(p);
		path_len = le32(p + 4);
		folders = le32(p + 28);
		folder_count = le32(p + 32);
		if (path > file->in.volumes_len || path_len > (file->in.volumes_len - path) / 2 ||
			folders > file->in.volumes_len)
			return false;
		p = view_peek(file->view, (uint64_t)file->in.volumes + path, 2);
		if (!p || le16(p) != '\\')
			return false;
		at = (uint64_t)file->in.volumes + folders;
		if (!check_folders(file, &at, folder_count, end))
			return false;
	}
	return true;
}

static enum verdict check_plain(struct view *view, struct finding *finding)
{
	struct prefetch file = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, HEADER_LEN + INFO_LEN);
	const char *problem = p ? read_fields(&file, p) : "no header";

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	file.valid_end = HEADER_LEN + INFO_LEN;
	if (check_metrics(&file) && check_traces(&file) && check_names(&file) &&
		check_volumes(&file) && file.in.len <= view_size(view)) {
		finding->length = file.in.len;
		if (file.in.volumes + file.in.volumes_len == file.in.len)
			return CARVE_COMPLETE;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%" PRIu32 " unknown bytes after the volumes",
			file.in.len - file.in.volumes - file.in.volumes_len);
	}
	if (file.valid_end < file.in.metrics + 20)
		return verdict_because(CARVE_REJECT, finding, "no metrics after the header");
	if (file.in.len > view_size(view))
		return walk_cut(view, finding, file.in.len,
			view_ends_with_image(view) ? view_size(view) : file.valid_end);
	finding->length = file.valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "a section is damaged after %" PRIu64, file.valid_end);
}

/* What it is worth that all names in the decompressed file begin and end where the metrics say; 0: they
 * do not. */
static uint32_t name_bits(const struct prefetch *file, const uint8_t *plain)
{
	uint32_t len = prefetch_metric_len(&file->in), at = prefetch_name_at(&file->in), bits = 0;

	if (file->in.metric_count > (file->in.traces - file->in.metrics) / len)
		return 0;
	for (uint32_t i = 0; i < file->in.metric_count; i++) {
		const uint8_t *p = plain + file->in.metrics + (uint64_t)i * len + at;
		uint64_t name = le32(p), end = name + 2 * (uint64_t)le32(p + 4);

		if (end + 2 > file->in.names_len)
			return 0;
		if (le16(plain + file->in.names + name) != '\\' ||
			le16(plain + file->in.names + end))
			return 0;
		bits += bits < NAMES_BITS_MAX ? NAME_BITS : 0;
	}
	return bits;
}

/* Decompresses the file once more, to see whether what is in it fits together: foreign bytes in it change
 * all that follows, and the names are near its end. */
static void prove(const struct prefetch *file, uint64_t start, uint64_t *end)
{
	uint8_t *plain;

	if (file->in.len > PROOF_MAX)
		return;
	plain = malloc(file->in.len);
	if (!plain)
		view_no_memory(file->view);
	else if (lzxpress_walk(file->view, start, file->in.len, plain, file->in.len, end) ==
		 LZXPRESS_DONE)
		view_proved(file->view, 0, *end, name_bits(file, plain));
	free(plain);
}

static enum verdict check_compressed(struct view *view, struct finding *finding)
{
	struct prefetch file = { .view = view, .finding = finding };
	uint8_t head[HEADER_LEN + INFO_LEN] = { 0 };
	const uint8_t *p = view_peek(view, 0, 12);
	bool has_sum = p && p[3] & 0x80;
	uint64_t end, start = has_sum ? 12 : 8;
	uint32_t len = p ? le32(p + 4) : 0;
	enum lzxpress_state state;

	if (!p || (p[3] & 0x7f) != 4 || len < sizeof(head) || len > OUTPUT_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header of a compressed file");
	state = lzxpress_walk(view, start, len, head, sizeof(head), &end);
	if (le32(head + 4) != 0x41434353 && (state != LZXPRESS_DONE || len < 256))
		return verdict_because(
			CARVE_REJECT, finding, "compressed, but not a prefetch file");
	if (le32(head + 4) != 0x41434353)
		finding->extension = "mam";
	else if (read_fields(&file, head) || file.in.len != len)
		return verdict_because(
			CARVE_REJECT, finding, "the header of the compressed file is damaged");
	if (state == LZXPRESS_DONE && file.in.len && view_thorough(view))
		prove(&file, start, &end);
	finding->length = end;
	if (state == LZXPRESS_DONE)
		return CARVE_COMPLETE;
	if (state == LZXPRESS_UNMARKED)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the compressed data has no end mark before %" PRIu64, end);
	if (state == LZXPRESS_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : end);
	return verdict_because(
		CARVE_TRUNCATED, finding, "the compressed data is invalid after %" PRIu64, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 4);

	return p && memcmp(p, "MAM", 3) == 0 ? check_compressed(view, finding)
					     : check_plain(view, finding);
}

const struct carver prefetch_carver = {
	.name = "prefetch",
	.summary = "Windows prefetch files, plain and compressed",
	.check = check,
	.pages = &prefetch_pages,
};
