/*
 * Where a member's data ends.
 *
 * Mostly its local header has the length. A program that writes to a pipe does not know it in
 * advance, and puts sizes and CRC into a descriptor after the data, with a signature or without,
 * with 4 or 8 bytes a size. Deflated data shows its own end, and becomes invalid where it is
 * damaged; the end of other data is found by searching for a descriptor whose size is the distance
 * to it.
 */
#include "zip.h"

#include <string.h>

#include "bytes.h"
#include "deflate_codes.h"
#include "inflated.h"
#include "noise.h"
#include "walk.h"
#include "xml_scan.h"

/* Bytes that are inflated at a time where it matters at which the content becomes invalid. */
#define THOROUGH_STEP 256
/* How far after unreadable bytes the next record is looked for. */
#define RECORD_FAR ((uint64_t)4 << 20)
/* A decoder may fail this long after bytes that are wrong. */
#define DECODER_LATE 4096

/* Whether a signature that may follow a member is at `at`. */
static bool record_follows(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t signature = p ? le32(p) : 0;

	return signature == ZIP_LOCAL || signature == ZIP_CENTRAL || signature == ZIP_EXTRA_DATA;
}

/* If the bytes at `at` can be a descriptor with this head and this width, its length; else 0. */
static size_t match_descriptor(struct view *view, uint64_t at, size_t head, size_t width,
	uint64_t data_len, const uint32_t *crc)
{
	size_t len = head + 4 + 2 * width;
	const uint8_t *p = view_peek(view, at, len);

	if (!p || (head && le32(p) != ZIP_DESCRIPTOR) || (crc && le32(p + head) != *crc))
		return 0;
	return (width == 8 ? le64(p + head + 4) : le32(p + head + 4)) == data_len ? len : 0;
}

/* Reads the descriptor of data that is data_len long and, unless crc is NULL, has this CRC, into
 * member. Returns its length; 0: there is none. Where two forms fit, it is the one that a record
 * follows. */
static size_t read_descriptor(
	struct view *view, struct zip_member *member, uint64_t data_len, const uint32_t *crc)
{
	uint64_t at = member->data + data_len;
	size_t best = 0, best_head = 0;
	const uint8_t *p;

	for (int form = 0; form < 4; form++) {
		size_t head = form < 2 ? 4 : 0;
		size_t len = match_descriptor(view, at, head, form & 1 ? 8 : 4, data_len, crc);

		if (!len || (best && !record_follows(view, at + len)))
			continue;
		best = len;
		best_head = head;
		if (record_follows(view, at + len))
			break;
	}
	p = best ? view_peek(view, at, best) : NULL;
	if (!p)
		return 0;
	member->crc = le32(p + best_head);
	member->data_len = data_len;
	member->content_len = best - best_head == 20 ? le64(p + best - 8) : le32(p + best - 4);
	return best;
}

static bool sizes_unknown(const struct zip_member *member)
{
	return member->flags & ZIP_STREAMED && !member->data_len;
}

/* Inflates data from member->data up to limit, to at most output_max bytes, with an open stream,
 * which it closes; *end is where it ended or became invalid. */
static enum inflated_state inflate_with(struct view *view, const struct zip_member *member,
	uint64_t limit, uint64_t output_max, struct inflated *inflated, uint64_t *end)
{
	enum inflated_state state = INFLATED_MORE;
	uint64_t most = inflated->inspect ? THOROUGH_STEP : VIEW_MAX_PEEK;
	const uint8_t *window;
	size_t len, used;

	*end = member->data;
	while (state == INFLATED_MORE && inflated->output_len < output_max &&
		(window = walk_stream(view, *end, limit - *end < most ? limit : *end + most,
			 *end - member->data, &len))) {
		state = inflated_feed(inflated, window, len, &used);
		*end += used;
		if (!sizes_unknown(member) && inflated->output_len > member->content_len)
			state = INFLATED_BAD;
	}
	inflated_close(inflated);
	return state;
}

static bool can_be_content(void *context, const uint8_t *bytes, size_t len)
{
	return xml_scan_feed(context, bytes, len);
}

static enum inflated_state inflate_data(struct view *view, const struct zip_member *member,
	uint64_t limit, uint64_t output_max, struct inflated *inflated, uint64_t *end)
{
	struct xml_scan scan = { 0 };

	if ((member->assembled || view_thorough(view)) && !inflated->inspect) {
		inflated->inspect = can_be_content;
		inflated->context = &scan;
	}
	*end = member->data;
	if (!inflated_open(inflated, view, INFLATED_RAW))
		return INFLATED_MORE;
	return inflate_with(view, member, limit, output_max, inflated, end);
}

/* Whether data ends at or just before a "PK" at `at`: it is that of a descriptor, or of the next
 * record after a descriptor without signature. */
static bool ends_at(struct view *view, struct zip_member *member, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 4);
	size_t len;

	if (!p)
		return false;
	if (le32(p) == ZIP_DESCRIPTOR) {
		len = read_descriptor(view, member, at - member->data, NULL);
		member->end = at + len;
		return len > 0;
	}
	if (!record_follows(view, at))
		return false;
	for (size_t width = 4; width <= 8; width += 4) {
		uint64_t back = 4 + 2 * width;

		len = at - member->data < back
			      ? 0
			      : read_descriptor(view, member, at - member->data - back, NULL);
		member->end = at;
		if (len == back)
			return true;
	}
	return false;
}

bool zip_find_record(struct view *view, uint64_t from, uint64_t to, uint64_t *at)
{
	return walk_unread(view, from, to, at) &&
	       walk_find_word(view, at, *at + RECORD_FAR, "PK\1\2PK\3\4PK\6\6PK\5\6");
}

static enum zip_found search_end(struct view *view, struct zip_member *member, uint64_t from)
{
	uint64_t at = from;

	while (walk_find_word(view, &at, view_size(view), "PK\1\2PK\3\4PK\7\10PK\6\10")) {
		if (ends_at(view, member, at))
			return ZIP_FOUND;
		at++;
	}
	return ZIP_BROKEN;
}

/* Whether the data is intact, up to a descriptor with its CRC after it. */
static bool find_intact_end(struct view *view, struct zip_member *member, struct inflated *inflated,
	uint64_t output_max)
{
	uint64_t end;
	size_t len;

	if (!inflated_open_quick(inflated, view) ||
		inflate_with(view, member, view_size(view), output_max, inflated, &end) !=
			INFLATED_DONE)
		return false;
	len = read_descriptor(view, member, end - member->data, &inflated->crc);
	member->end = end + len;
	member->proved = len > 0;
	return member->proved;
}

/* A trial of a file in pieces ends there. */
static void note_bad(struct zip_member *member, uint64_t at)
{
	if (member->assembled)
		member->bad_at = at;
}

/* ---- codes --------------------------------------------------------------------------------- */

bool zip_walk_codes(struct view *view, const struct zip_member *member, uint64_t limit,
	struct deflate_codes *codes, uint64_t *valid)
{
	enum codes_state state;

	codes->member = member->at;
	codes->stop = limit * 8;
	state = deflate_codes_walk(view, codes);
	*valid = deflate_codes_valid(codes);
	return state != CODES_END;
}

uint64_t zip_data_limit(const struct zip_member *member)
{
	return sizes_unknown(member) ? 0 : member->data + member->data_len;
}

/* Whether the codes of deflated data show that it is not all the file's own: from member->bad_at on. XML shows it sooner. */
static bool are_codes_wrong(struct view *view, struct zip_member *member, uint64_t limit)
{
	struct deflate_codes codes = { .bit = member->data * 8 };
	uint8_t start[5];
	uint64_t valid;

	if (!member->assembled ||
		(zip_content(view, member, start, sizeof(start)) == sizeof(start) &&
			memcmp(start, "<?xml", sizeof(start)) == 0) ||
		!zip_walk_codes(view, member, limit, &codes, &valid))
		return false;
	note_bad(member, valid);
	return true;
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* The same, step by step: for damaged data, where it becomes invalid. */
static enum zip_found find_deflated_end(struct view *view, struct zip_member *member,
	struct inflated *inflated, uint64_t output_max)
{
	enum inflated_state state;
	uint64_t end, from, to;
	size_t len;

	state = inflate_data(view, member, view_size(view), output_max, inflated, &end);
	member->end = end;
	if (state == INFLATED_MORE)
		return end < view_size(view) ? search_end(view, member, end) : ZIP_CUT;
	len = state == INFLATED_BAD
		      ? 0
		      : read_descriptor(view, member, end - member->data, &inflated->crc);
	member->end = end + len;
	member->proved = len > 0;
	if (len)
		return ZIP_FOUND;
	if (view_unreadable(view, member->data, end + DECODER_LATE - member->data, &from, &to)) {
		member->unread = true;
		return search_end(view, member, to);
	}
	note_bad(member, end);
	return state == INFLATED_BAD || view_size(view) - end >= 12 ? ZIP_BROKEN : ZIP_CUT;
}

static enum zip_found find_streamed_end(
	struct view *view, struct zip_member *member, uint64_t *output_left)
{
	struct inflated inflated = { 0 };
	enum zip_found found = ZIP_FOUND;

	/* Some programs write no descriptor for folders. */
	if (member->folder && record_follows(view, member->data)) {
		member->end = member->data;
		return ZIP_FOUND;
	}
	if (member->method != ZIP_DEFLATED || member->flags & ZIP_ENCRYPTED)
		return search_end(view, member, member->data);
	if (!find_intact_end(view, member, &inflated, *output_left)) {
		if (are_codes_wrong(view, member, 0)) {
			member->end = member->bad_at;
			return ZIP_BROKEN;
		}
		inflated = (struct inflated){ 0 };
		found = find_deflated_end(view, member, &inflated, *output_left);
	}
	*output_left -= inflated.output_len < *output_left ? inflated.output_len : *output_left;
	return found;
}

/* Whether deflated data whose lengths are known fails to inflate to content of that length and CRC.
 * False, too, for content beyond *output_left, which is lowered. */
static bool is_deflated_wrong(struct view *view, struct zip_member *member, uint64_t *output_left)
{
	struct inflated inflated = { 0 };
	uint64_t limit = member->data + member->data_len, end;
	enum inflated_state state;

	if (member->content_len > *output_left)
		return false;
	*output_left -= member->content_len;
	if (inflated_open_quick(&inflated, view) &&
		inflate_with(view, member, limit, member->content_len + 1, &inflated, &end) ==
			INFLATED_DONE &&
		end == limit && inflated.crc == member->crc) {
		member->proved = true;
		return false;
	}
	if (are_codes_wrong(view, member, limit))
		return true;
	inflated = (struct inflated){ 0 };
	state = inflate_data(view, member, limit, member->content_len + 1, &inflated, &end);
	if (state == INFLATED_MORE) /* or the work is spent */
		return end == limit;
	member->proved = state == INFLATED_DONE && end == limit && inflated.crc == member->crc;
	if (!member->proved)
		note_bad(member, end);
	return !member->proved;
}

/* Whether stored data has a wrong CRC. Data that cannot be read has none. */
static bool is_stored_wrong(struct view *view, struct zip_member *member)
{
	uint32_t crc = 0;

	if (!walk_crc32(view, member->data, member->data_len, &crc))
		return false;
	member->proved = crc == member->crc;
	return !member->proved;
}

static enum zip_found find_end(struct view *view, struct zip_member *member, uint64_t *output_left)
{
	if (sizes_unknown(member))
		return find_streamed_end(view, member, output_left);
	if (member->data_len > view_size(view) - member->data)
		return ZIP_CUT;
	member->end = member->data + member->data_len;
	/* Some programs write sizes into both header and descriptor. */
	if (member->flags & ZIP_STREAMED && !record_follows(view, member->end))
		member->end += read_descriptor(view, member, member->data_len, NULL);
	return ZIP_FOUND;
}

enum zip_found zip_find_end(struct view *view, struct zip_member *member, uint64_t *output_left)
{
	bool streamed = sizes_unknown(member);
	enum zip_found found = find_end(view, member, output_left);
	uint64_t from, to;

	if (found != ZIP_FOUND || member->flags & ZIP_ENCRYPTED)
		return found;
	if (member->method == ZIP_STORED)
		member->wrong_crc = is_stored_wrong(view, member);
	else if (member->method == ZIP_DEFLATED && !streamed)
		member->wrong_crc = is_deflated_wrong(view, member, output_left);
	if (member->proved)
		view_proved(view, member->data, member->end, ZIP_CRC_BITS);
	if (member->wrong_crc &&
		view_unreadable(view, member->data, member->data_len, &from, &to)) {
		member->wrong_crc = false;
		member->unread = true;
	}
	if (member->unread)
		view_unverified(view, member->data, member->end);
	return found;
}

/* Where stored data turns into bytes of another character, if it does; else start. */
static uint64_t before_change(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t change = noise_start(view, start, end);

	if (change == end)
		change = plain_start(view, start, end);
	return change == end ? start : walk_before_fill(view, start, change);
}

uint64_t zip_valid_end(struct view *view, const struct zip_member *member, uint64_t limit)
{
	struct inflated inflated = { 0 };
	struct zip_member copy = *member;
	uint64_t data_end = limit, end;
	uint32_t crc = 0;

	if (!member->bad_at && member->method == ZIP_DEFLATED && !(member->flags & ZIP_ENCRYPTED) &&
		are_codes_wrong(view, &copy, zip_data_limit(member)))
		return walk_before_fill(view, member->data, copy.bad_at);
	if (member->bad_at)
		return walk_before_fill(view, member->data, member->bad_at);
	if (!sizes_unknown(member) && member->data_len < limit - member->data)
		data_end = member->data + member->data_len;
	if (member->method == ZIP_DEFLATED && !(member->flags & ZIP_ENCRYPTED)) {
		if (inflate_data(view, member, data_end, ZIP_OUTPUT_MAX, &inflated, &end) ==
				INFLATED_DONE &&
			inflated.crc == member->crc)
			return limit;
		return walk_before_fill(view, member->data, end);
	}
	/* Other data has nothing that shows where it becomes invalid, only a CRC over all of it. */
	if (sizes_unknown(member))
		return member->data;
	if (member->method == ZIP_STORED &&
		walk_crc32(view, member->data, member->data_len, &crc) && crc == member->crc)
		return limit;
	if (limit == view_size(view) && view_ends_with_image(view))
		return member->assembled ? data_end : limit;
	return member->method == ZIP_STORED ? before_change(view, member->data, data_end)
					    : member->data;
}

struct zip_output {
	uint8_t *bytes;
	size_t len, size;
};

static bool collect_content(void *context, const uint8_t *bytes, size_t len)
{
	struct zip_output *content = context;
	size_t room = content->size - content->len;

	memcpy(content->bytes + content->len, bytes, len < room ? len : room);
	content->len += len < room ? len : room;
	return content->len < content->size;
}

size_t zip_content(struct view *view, const struct zip_member *member, uint8_t *bytes, size_t size)
{
	struct zip_output content = { .bytes = bytes, .size = size };
	struct inflated inflated = { .inspect = collect_content, .context = &content };
	uint64_t end = view_size(view), ignored;
	const uint8_t *window;
	size_t len;

	if (member->data_len && member->data_len < end - member->data)
		end = member->data + member->data_len;
	window = walk_window(view, member->data, end, &len);
	if (!window || member->flags & ZIP_ENCRYPTED)
		return 0;
	if (member->method == ZIP_STORED)
		collect_content(&content, window, len);
	else if (member->method == ZIP_DEFLATED)
		inflate_data(view, member, member->data + len, size, &inflated, &ignored);
	return content.len;
}
