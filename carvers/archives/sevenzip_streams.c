/*
 * The header may give a CRC for a packed stream (few programs write it), and gives one for what most
 * folders, or the files in them, unpack to. So folders are unpacked: stored ones, LZMA and LZMA2, also with
 * filters for programs (liblzma's, BCJ2), deflate and bzip2. Together they unpack to at most OUTPUT_MAX bytes, as
 * in ZIP archives; larger folders, encrypted ones and those of other methods stay unverified. So does all
 * that is between streams.
 */
#include "sevenzip_streams.h"

#include <isa-l/crc.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "bcj2.h"
#include "compressed.h"
#include "inflated.h"
#include "sevenzip_info.h"
#include "stretches.h"
#include "walk.h"

#define CRC_BITS 32 /* see view_proved */
#define HEADER_MAX ((uint64_t)4 << 20)
#define HEADER_WORK 4 /* units (view_work) to read a byte of it */
#define HEADERS_MAX 4 /* each packed in the next */
#define OUTPUT_MAX ((uint64_t)128 << 20)
#define PIECE 65536
#define MEMORY_SMALL ((uint64_t)16 << 20)
/* What a decoder may leave of a stream that it unpacked to its end. */
#define LEFT_MAX 16
#define GUESSED_WINDOW (UINT32_C(4) << 20) /* where nothing tells a decoder its window */

enum method {
	METHOD_COPY = 0x00,
	METHOD_LZMA2 = 0x21,
	METHOD_LZMA = 0x030101,
	METHOD_DEFLATE = 0x040108,
	METHOD_BZIP2 = 0x040202,
};

enum check { CHECK_VERIFIED, CHECK_UNKNOWN, CHECK_DAMAGED };

/* What a folder unpacks to, piece by piece. */
struct content {
	const struct sevenzip_info *info;
	const struct sevenzip_folder *folder;
	uint64_t len, part_len; /* so far: of all, and of the part */
	size_t part;
	uint32_t crc, part_crc; /* of the same */
	bool wrong, unchecked;  /* a part with another CRC; one without */
	uint64_t noticed; /* where it can't be unpacked; 0: a CRC differs, or nothing is wrong */
	uint8_t *kept;    /* or NULL: where all of it goes */
};

struct streams {
	struct view *view;
	uint64_t end; /* of the streams: where the header starts */
	uint64_t output_left;
	uint64_t damaged; /* 0: none */
	uint64_t noticed; /* before there all can be right */
	struct stretches verified;
};

static void end_parts(struct content *content)
{
	const struct sevenzip_folder *folder = content->folder;

	while (content->part < folder->part_count) {
		const struct sevenzip_stream *part =
			&content->info->parts[folder->parts + content->part];

		if (content->part_len < part->len)
			return;
		if (part->has_crc)
			content->wrong |= part->crc != content->part_crc;
		else
			content->unchecked |= part->len != 0;
		content->part++;
		content->part_len = 0;
		content->part_crc = 0;
	}
}

static bool take_content(void *context, const uint8_t *bytes, size_t len)
{
	struct content *content = context;

	if (len > content->folder->content_len - content->len)
		return false;
	if (content->kept)
		memcpy(content->kept + content->len, bytes, len);
	content->crc = crc32_gzip_refl(content->crc, bytes, len);
	content->len += len;
	while (len && content->part < content->folder->part_count) {
		const struct sevenzip_stream *part =
			&content->info->parts[content->folder->parts + content->part];
		uint64_t left = part->len - content->part_len;
		size_t piece = left < len ? (size_t)left : len;

		content->part_crc = crc32_gzip_refl(content->part_crc, bytes, piece);
		content->part_len += piece;
		bytes += piece;
		len -= piece;
		end_parts(content);
	}
	return true;
}

static enum check judge_content(const struct content *content)
{
	const struct sevenzip_folder *folder = content->folder;

	if (content->len != folder->content_len || content->wrong ||
		(folder->has_crc && folder->crc != content->crc))
		return CHECK_DAMAGED;
	return folder->has_crc || (!content->unchecked && folder->part_count &&
					  content->part == folder->part_count)
		       ? CHECK_VERIFIED
		       : CHECK_UNKNOWN;
}

static enum check check_stored(
	struct view *view, struct content *content, uint64_t at, uint64_t end)
{
	const uint8_t *window;
	size_t len;

	for (; at < end; at += len) {
		window = walk_window(view, at, end, &len);
		if (!window)
			return CHECK_UNKNOWN;
		if (!take_content(content, window, len))
			return CHECK_DAMAGED;
	}
	return judge_content(content);
}

static enum check check_deflated(
	struct view *view, struct content *content, uint64_t at, uint64_t end)
{
	struct inflated inflated = { .inspect = take_content, .context = content };
	enum inflated_state state = inflated_walk(&inflated, view, INFLATED_RAW, &at, end);

	if (state == INFLATED_MORE && at < end)
		return CHECK_UNKNOWN;
	if (end - at <= LEFT_MAX)
		return judge_content(content);
	content->noticed = at;
	return CHECK_DAMAGED;
}

/* bzip2 has CRCs of its own. */
static enum check check_bzip2(struct view *view, struct content *content, uint64_t at, uint64_t end)
{
	struct compressed stream;
	enum compressed_state state = compressed_walk(view, COMPRESSED_BZIP2, at, end, &stream);

	if (state == COMPRESSED_REFUSED)
		return CHECK_UNKNOWN;
	if (state == COMPRESSED_DONE && stream.end == end &&
		stream.output_len == content->folder->content_len)
		return CHECK_VERIFIED;
	content->noticed = stream.end > at ? stream.end : at;
	return CHECK_DAMAGED;
}

/* liblzma's filter for a method, or LZMA_VLI_UNKNOWN. */
static lzma_vli filter_of(uint64_t method, bool last)
{
	static const struct {
		uint64_t method;
		lzma_vli filter;
	} filters[] = {
		{ 0x03, LZMA_FILTER_DELTA },
		{ 0x04, LZMA_FILTER_X86 },
		{ 0x05, LZMA_FILTER_POWERPC },
		{ 0x06, LZMA_FILTER_IA64 },
		{ 0x07, LZMA_FILTER_ARM },
		{ 0x08, LZMA_FILTER_ARMTHUMB },
		{ 0x09, LZMA_FILTER_SPARC },
		{ 0x03030103, LZMA_FILTER_X86 },
		{ 0x03030205, LZMA_FILTER_POWERPC },
		{ 0x03030401, LZMA_FILTER_IA64 },
		{ 0x03030501, LZMA_FILTER_ARM },
		{ 0x03030701, LZMA_FILTER_ARMTHUMB },
		{ 0x03030805, LZMA_FILTER_SPARC },
	};

	if (last)
		return method == METHOD_LZMA    ? LZMA_FILTER_LZMA1EXT
		       : method == METHOD_LZMA2 ? LZMA_FILTER_LZMA2
						: LZMA_VLI_UNKNOWN;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (filters[i].method == method)
			return filters[i].filter;
	return LZMA_VLI_UNKNOWN;
}

/* Sets the filters of a folder, whose options the caller frees. False: liblzma has none, or they need more
 * memory than there is. */
static bool set_filters(
	struct view *view, const struct sevenzip_folder *folder, lzma_filter *filters)
{
	uint64_t memory;

	for (unsigned i = 0; i < folder->coder_count; i++) {
		const struct sevenzip_coder *coder = &folder->coders[i];
		bool last = i + 1 == folder->coder_count;
		lzma_ret code;

		filters[i + 1].id = LZMA_VLI_UNKNOWN;
		filters[i] = (lzma_filter){ .id = filter_of(coder->method, last) };
		if (filters[i].id == LZMA_VLI_UNKNOWN)
			return false;
		code = lzma_properties_decode(
			&filters[i], NULL, coder->properties, coder->properties_len);
		if (code == LZMA_MEM_ERROR)
			view_no_memory(view);
		if (code != LZMA_OK) {
			filters[i].id = LZMA_VLI_UNKNOWN;
			return false;
		}
		if (last) {
			lzma_options_lzma *options = filters[i].options;

			/* No window is larger than what it serves. */
			if (options->dict_size > coder->unpacked_len)
				options->dict_size = coder->unpacked_len < LZMA_DICT_SIZE_MIN
							     ? LZMA_DICT_SIZE_MIN
							     : (uint32_t)coder->unpacked_len;
			options->ext_flags = LZMA_LZMA1EXT_ALLOW_EOPM;
			lzma_set_ext_size(*options, coder->unpacked_len);
		}
	}
	memory = lzma_raw_decoder_memusage(filters);
	return memory != UINT64_MAX && (memory <= MEMORY_SMALL || view_reserve(view, memory));
}

/* Unpacks [at, end) with an open decoder. */
static enum check unpack_lzma(
	struct view *view, lzma_stream *stream, struct content *content, uint64_t at, uint64_t end)
{
	uint8_t *output = malloc(PIECE);
	enum check check = CHECK_UNKNOWN;
	lzma_ret code = LZMA_OK;
	size_t len = 0;

	if (!output)
		view_no_memory(view);
	while (output && code == LZMA_OK) {
		const uint8_t *window = at < end ? walk_window(view, at, end, &len) : NULL;
		size_t given;

		if (at < end && !window)
			break;
		stream->next_in = window;
		stream->avail_in = window ? len : 0;
		stream->next_out = output;
		stream->avail_out = PIECE;
		code = lzma_code(stream, LZMA_RUN);
		given = PIECE - stream->avail_out;
		len = window ? len - stream->avail_in : 0;
		at += len;
		if (!view_work(view, 7 * len + given / 4))
			break;
		if (!take_content(content, output, given))
			code = LZMA_DATA_ERROR;
		else if (code == LZMA_OK && !len && !given)
			code = LZMA_BUF_ERROR;
	}
	free(output);
	if (code == LZMA_MEM_ERROR)
		view_no_memory(view);
	else if (code == LZMA_STREAM_END)
		check = end - at <= LEFT_MAX ? judge_content(content) : CHECK_DAMAGED;
	else if (code == LZMA_BUF_ERROR && content->len == content->folder->content_len)
		check = judge_content(content);
	else if (code == LZMA_DATA_ERROR || code == LZMA_BUF_ERROR)
		check = CHECK_DAMAGED;
	if (code == LZMA_DATA_ERROR)
		content->noticed = at;
	return check;
}

static enum check check_lzma(struct view *view, struct content *content, uint64_t at, uint64_t end)
{
	lzma_filter filters[SEVENZIP_CODERS + 1] = { { .id = LZMA_VLI_UNKNOWN } };
	lzma_stream stream = LZMA_STREAM_INIT;
	enum check check = CHECK_UNKNOWN;

	if (set_filters(view, content->folder, filters)) {
		lzma_ret code = lzma_raw_decoder(&stream, filters);

		if (code == LZMA_OK)
			check = unpack_lzma(view, &stream, content, at, end);
		else if (code == LZMA_MEM_ERROR)
			view_no_memory(view);
		lzma_end(&stream);
	}
	for (unsigned i = 0; filters[i].id != LZMA_VLI_UNKNOWN; i++)
		free(filters[i].options);
	return check;
}

/* Unpacks the folder, whose one packed stream is [at, end). */
static enum check check_folder(
	struct streams *streams, struct content *content, uint64_t at, uint64_t end)
{
	const struct sevenzip_folder *folder = content->folder;

	if (!folder->coder_count || folder->content_len > streams->output_left)
		return CHECK_UNKNOWN;
	for (unsigned i = 0; i < folder->coder_count; i++)
		if (folder->coders[i].unpacked_len > streams->output_left)
			return CHECK_UNKNOWN;
	streams->output_left -= folder->content_len;
	end_parts(content);
	if (folder->coder_count > 1)
		return check_lzma(streams->view, content, at, end);
	switch (folder->coders[0].method) {
	case METHOD_COPY:
		return check_stored(streams->view, content, at, end);
	case METHOD_DEFLATE:
		return check_deflated(streams->view, content, at, end);
	case METHOD_BZIP2:
		return content->kept ? CHECK_UNKNOWN : check_bzip2(streams->view, content, at, end);
	default:
		return check_lzma(streams->view, content, at, end);
	}
}

static void note(
	struct streams *streams, enum check check, uint64_t at, uint64_t len, uint64_t noticed)
{
	if (check == CHECK_VERIFIED) {
		stretches_add(streams->view, &streams->verified, SIZE_MAX, at, at + len);
		view_proved(streams->view, at, at + len, CRC_BITS);
	}
	if (check == CHECK_DAMAGED && (!streams->damaged || at < streams->damaged)) {
		streams->damaged = at;
		streams->noticed = noticed > at ? noticed : at;
	}
}

/* Unpacks one of a joined folder's inputs, which is [at, end) packed: NULL: it is damaged, or not unpacked here. What proves or
 * refutes it alone is noted. The caller frees. */
static uint8_t *unpack_input(struct streams *streams, const struct sevenzip_input *input,
	uint64_t at, uint64_t end, size_t *len)
{
	struct sevenzip_folder folder = { .coders = { input->coder }, .coder_count = 1 };
	struct content content = { .folder = &folder };
	enum check check = CHECK_UNKNOWN;

	if (!input->is_coded)
		folder.coders[0] =
			(struct sevenzip_coder){ .method = METHOD_COPY, .unpacked_len = end - at };
	folder.content_len = folder.coders[0].unpacked_len;
	if (folder.content_len > streams->output_left)
		return NULL;
	if (folder.coders[0].method != METHOD_BZIP2) {
		content.kept = malloc((size_t)folder.content_len + 1);
		if (!content.kept) {
			view_no_memory(streams->view);
			return NULL;
		}
	}
	*len = (size_t)folder.content_len;
	check = check_folder(streams, &content, at, end);
	note(streams, check, at, end - at, content.noticed);
	if (check == CHECK_DAMAGED || content.len != folder.content_len) {
		free(content.kept);
		return NULL;
	}
	return content.kept;
}

/* Unpacks a folder that is joined from streams, of which the first is at `at`. */
static void check_joined(struct streams *streams, const struct sevenzip_info *info,
	struct content *content, uint64_t at)
{
	const struct sevenzip_folder *folder = content->folder;
	uint64_t places[SEVENZIP_INPUTS + 1] = { at };
	struct bcj2_input inputs[SEVENZIP_INPUTS] = { 0 };
	uint8_t *unpacked[SEVENZIP_INPUTS] = { NULL };
	enum check check = CHECK_UNKNOWN;
	bool all = folder->content_len <= streams->output_left;

	if (folder->packed_count != SEVENZIP_INPUTS)
		return;
	for (size_t i = 0; i < SEVENZIP_INPUTS; i++) {
		uint64_t len = info->packed[folder->packed + i].len;

		if (len > streams->end - places[i])
			return;
		places[i + 1] = places[i] + len;
	}
	for (size_t i = 0; i < SEVENZIP_INPUTS; i++) {
		size_t packed = folder->inputs[i].packed, len = 0;

		unpacked[i] = unpack_input(
			streams, &folder->inputs[i], places[packed], places[packed + 1], &len);
		inputs[i] = (struct bcj2_input){ unpacked[i], len };
		all &= unpacked[i] != NULL;
	}
	if (all && view_work(streams->view, folder->content_len)) {
		streams->output_left -= folder->content_len;
		end_parts(content);
		check = bcj2_join(inputs, folder->content_len, take_content, content)
				? judge_content(content)
				: CHECK_DAMAGED;
	}
	note(streams, check, at, places[SEVENZIP_INPUTS] - at, 0);
	for (size_t i = 0; i < SEVENZIP_INPUTS; i++)
		free(unpacked[i]);
}

/* Checks each packed stream's own CRC, and each folder of one packed stream; kept (or NULL) is where the
 * content of the first goes. Returns what the check of that gave. */
static enum check check_all(
	struct streams *streams, const struct sevenzip_info *info, uint8_t *kept)
{
	uint64_t left = streams->end - SEVENZIP_START_LEN, at;
	enum check first = CHECK_UNKNOWN;
	size_t folder = 0;

	if (info->packed_at > left)
		return CHECK_UNKNOWN;
	at = SEVENZIP_START_LEN + info->packed_at;
	for (size_t i = 0; i < info->packed_count; i++) {
		const struct sevenzip_stream *packed = &info->packed[i];
		uint32_t crc = 0;

		if (packed->len > streams->end - at)
			return CHECK_UNKNOWN;
		if (packed->has_crc && walk_crc32(streams->view, at, packed->len, &crc))
			note(streams, crc == packed->crc ? CHECK_VERIFIED : CHECK_DAMAGED, at,
				packed->len, 0);
		while (folder < info->folder_count && info->folders[folder].packed < i)
			folder++;
		for (; folder < info->folder_count && info->folders[folder].packed == i; folder++) {
			struct content content = { .info = info,
				.folder = &info->folders[folder],
				.kept = folder ? NULL : kept };
			enum check check;

			if (content.folder->is_joined) {
				check_joined(streams, info, &content, at);
				continue;
			}
			if (content.folder->packed_count != 1)
				continue;
			check = check_folder(streams, &content, at, at + packed->len);
			note(streams, check, at, packed->len, content.noticed);
			first = folder ? first : check;
		}
		at += packed->len;
	}
	return first;
}

static void name_unverified(struct streams *streams)
{
	uint64_t at = SEVENZIP_START_LEN;

	view_holds(streams->view, at, streams->end);
	at = stretches_name_gaps(streams->view, &streams->verified, at);
	view_unverified(streams->view, at, streams->end);
}

static uint8_t *read_header(struct view *view, const struct sevenzip *head)
{
	uint8_t *header = malloc(head->len ? (size_t)head->len : 1);
	const uint8_t *window;
	size_t len;

	if (!header)
		view_no_memory(view);
	for (uint64_t at = head->at; header && at < head->end; at += len) {
		window = walk_window(view, at, head->end, &len);
		if (!window) {
			free(header);
			return NULL;
		}
		memcpy(header + (at - head->at), window, len);
	}
	return header;
}

/* Reads the header and, if it is packed, those that it leads to. Sets *info to what the last says, and
 * returns it, for *info points into it; NULL: one is damaged, or has what this does not know. */
static uint8_t *unpack_headers(
	struct streams *streams, const struct sevenzip *head, struct sevenzip_info *info)
{
	uint8_t *header = read_header(streams->view, head), *unpacked;
	uint64_t len = head->len;
	bool encoded, no_memory = false;

	for (int i = 0; header && i < HEADERS_MAX; i++) {
		bool read = view_work(streams->view, HEADER_WORK * len) &&
			    sevenzip_info_read(info, header, (size_t)len, &encoded, &no_memory);

		if (no_memory)
			view_no_memory(streams->view);
		if (read && !encoded)
			return header;
		unpacked = NULL;
		len = read && info->folder_count == 1 ? info->folders[0].content_len : 0;
		if (len && len <= HEADER_MAX) {
			unpacked = malloc((size_t)len);
			if (!unpacked)
				view_no_memory(streams->view);
			else if (check_all(streams, info, unpacked) != CHECK_VERIFIED) {
				free(unpacked);
				unpacked = NULL;
			}
		}
		sevenzip_info_free(info);
		free(header);
		header = unpacked;
	}
	free(header);
	return NULL;
}

uint64_t sevenzip_streams_check(struct view *view, const struct sevenzip *head, uint64_t *noticed)
{
	struct streams streams = { .view = view, .end = head->at, .output_left = OUTPUT_MAX };
	struct sevenzip_info info = { 0 };
	uint8_t *header = head->len <= HEADER_MAX ? unpack_headers(&streams, head, &info) : NULL;

	if (header)
		check_all(&streams, &info, NULL);
	sevenzip_info_free(&info);
	free(header);
	name_unverified(&streams);
	free(streams.verified.list);
	*noticed = streams.noticed;
	return streams.damaged;
}

uint64_t sevenzip_lzma_end(struct view *view, uint64_t end)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA1, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	struct sevenzip_folder folder = { .content_len = OUTPUT_MAX };
	struct content content = { .folder = &folder };
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret code;

	if (lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT))
		return SEVENZIP_START_LEN;
	options.dict_size = GUESSED_WINDOW;
	code = lzma_raw_decoder(&stream, filters);
	if (code == LZMA_OK)
		unpack_lzma(view, &stream, &content, SEVENZIP_START_LEN, end);
	else if (code == LZMA_MEM_ERROR)
		view_no_memory(view);
	lzma_end(&stream);
	return content.noticed ? content.noticed : end;
}
