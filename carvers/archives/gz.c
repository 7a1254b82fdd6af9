/*
 * gzip (RFC 1952).
 *
 *	file:   one member or more
 *	member: 1F 8B 08, flags, time (4 bytes, little-endian), extra flags, system, [extra fields],
 *		[name], [comment], [CRC-16 of the header], deflate stream, CRC-32, length
 *
 * The stream shows its own end, and the CRC and length after it prove all of it. Another member
 * directly after it belongs to the same file: programs that append, or compress in parallel, write
 * many, and each is reported as a part. Only at a sector boundary it may be another file: there it is one
 * if it has a name of its own, or is damaged. Name and time come from the first member's header; the
 * decompressed data determines the extension: tar, cpio, SVG, or macOS's records of what changed in a file system (FSEvents).
 *
 * Damage. The stream becomes invalid within some tens of foreign bytes. Random bytes decode no
 * longer than that either, so a stream that becomes invalid that early is not accepted, unless the
 * header has a name. Later, in a block with codes of its own, foreign bytes may decode for kilobytes: where a file
 * in pieces is put together the codes are walked first (deflate_codes.h), which show it sooner.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "compressed.h"
#include "deflate_codes.h"
#include "title.h"
#include "walk.h"

enum {
	HEADER_LEN = 10,
	NAME_MAX_LEN = 4096,
	/* Of 20,000 streams of random bytes two decoded for longer than 64. With a name, fewer
	 * suffice. */
	SURE_LEN = 80,
	SURE_NAME_LEN = 60,
	TRAILER_LEN = 8,
	JOINT_LEN = 4096,         /* bytes after a joint that are looked at */
	FSEVENTS_HEADER_LEN = 12, /* of a page in macOS's .fseventsd: magic, 4 bytes, length */
};

enum gz_flag { HEADER_CRC = 1 << 1, EXTRA = 1 << 2, NAME = 1 << 3, COMMENT = 1 << 4 };

struct gz_member {
	uint64_t at, data;
	uint64_t name_at;
	size_t name_len;
	uint32_t time;
};

/* The length of the text at *at, without its zero; *at moves past it. False when it is not text or
 * does not end. */
static bool read_text(struct view *view, uint64_t *at, size_t *len)
{
	const uint8_t *p = walk_ended_text(view, *at, NAME_MAX_LEN, len);

	if (!p)
		return false;
	for (size_t i = 0; i < *len; i++)
		if (p[i] < ' ' && p[i] != '\n' && p[i] != '\t' && p[i] != '\r')
			return false;
	*at += *len + 1;
	return true;
}

/* Reads the optional fields: what is wrong with them, or NULL; member->data is after them. */
static const char *read_options(struct view *view, struct gz_member *member, uint8_t flags)
{
	const uint8_t *p;
	uint32_t crc = 0;
	size_t len;

	if (flags & EXTRA) {
		p = view_peek(view, member->data, 2);
		if (!p || le16(p) > view_size(view) - member->data - 2)
			return "the extra fields are cut off";
		member->data += 2 + le16(p);
	}
	member->name_at = member->data;
	if (flags & NAME && !read_text(view, &member->data, &member->name_len))
		return "an impossible name";
	if (flags & COMMENT && !read_text(view, &member->data, &len))
		return "an impossible comment";
	if (!(flags & HEADER_CRC))
		return NULL;
	p = walk_crc32(view, member->at, member->data - member->at, &crc)
		    ? view_peek(view, member->data, 2)
		    : NULL;
	if (!p || le16(p) != (crc & 0xffff))
		return "the header's CRC is wrong";
	member->data += 2;
	return NULL;
}

/* What is wrong with the header at `at`, or NULL. */
static const char *read_header(struct view *view, uint64_t at, struct gz_member *member)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);

	*member = (struct gz_member){ .at = at, .data = at + HEADER_LEN };
	if (!p || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8)
		return "no header of a gzip member";
	/* Extra flags are 0, 2 or 4; the system is one of 14, or unknown. OmniGraffle has the system's number one byte too
	 * early. */
	if (p[3] & 0xe0 || (p[8] & ~6 && memcmp(p + 3, "\0\0\0\0\0\3\0", 7) != 0) || p[8] == 6 ||
		(p[9] > 19 && p[9] != 255))
		return "impossible flags or system";
	member->time = le32(p + 4);
	return read_options(view, member, p[3]);
}

static uint64_t sure_end(const struct gz_member *member)
{
	size_t name_len = member->name_len < SURE_NAME_LEN ? member->name_len : SURE_NAME_LEN;

	return member->data + SURE_LEN - name_len;
}

static const char *extension_of(const struct compressed *stream)
{
	static const char *const extensions[COMPRESSED_CONTENTS] = { "gz", "tgz", "cpio.gz",
		"svgz" };
	enum compressed_content content = compressed_content(stream);

	/* The names are hexadecimal numbers without an extension; versions 1 to 3. */
	if (content == COMPRESSED_OTHER && stream->head_len >= FSEVENTS_HEADER_LEN &&
		stream->head[0] >= '1' && stream->head[0] <= '3' &&
		memcmp(stream->head + 1, "SLD", 3) == 0)
		return "fsevents";
	return extensions[content];
}

static void describe(struct view *view, struct finding *finding, const struct gz_member *member,
	const char *extension)
{
	const uint8_t *name = view_peek(view, member->name_at, member->name_len);

	finding->extension = extension;
	finding->time = member->time;
	if (name && member->name_len)
		finding_set_title(finding, name, member->name_len);
}

/* The verdict on a member that did not end with its CRC. */
static enum verdict judge_damage(struct view *view, struct finding *finding,
	const struct gz_member *member, enum compressed_state state, uint64_t end)
{
	if (state == COMPRESSED_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			walk_before_fill(view, member->data, end));
	if (state == COMPRESSED_REFUSED) {
		finding->length = end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"decompresses to more than burin checks, at %" PRIu64, end);
	}
	finding->length = walk_before_fill(view, member->data, end);
	return verdict_because(CARVE_TRUNCATED, finding,
		"the deflate stream at %" PRIu64 " is invalid, or its CRC wrong, at %" PRIu64,
		member->data, end);
}

/* Whether the member's codes end with its length, after its CRC. */
static bool has_length(struct view *view, const struct deflate_codes *codes)
{
	const uint8_t *p = view_peek(view, (codes->bit + 7) / 8, TRAILER_LEN);

	return p && le32(p + 4) == (uint32_t)codes->past.output_len;
}

/* Walks the codes of a member. DONE: up to its end; else *end is where they are no longer valid, or the file's own. */
static enum compressed_state walk_codes(
	struct view *view, struct deflate_codes *codes, uint64_t *end)
{
	enum codes_state state = deflate_codes_walk(view, codes);

	*end = deflate_codes_valid(codes);
	if (state == CODES_END && !has_length(view, codes))
		return COMPRESSED_BAD;
	return state == CODES_END   ? COMPRESSED_DONE
	       : state == CODES_CUT ? COMPRESSED_CUT
				    : COMPRESSED_BAD;
}

/* Whether a member whose codes do not follow its habits has its CRC all the same. If not, the stream's end stays. */
static bool is_whole(struct view *view, const struct gz_member *member, struct deflate_codes *codes,
	struct compressed *stream)
{
	struct compressed again;

	/* Decompressing all of it takes much longer. */
	codes->is_own = true;
	if (deflate_codes_walk(view, codes) != CODES_END || !has_length(view, codes) ||
		compressed_walk(view, COMPRESSED_GZIP, member->at, view_size(view), &again) !=
			COMPRESSED_DONE)
		return false;
	*stream = again;
	return true;
}

/* Decompresses a member, if its codes do not show before that it is damaged. */
static enum compressed_state walk_member(
	struct view *view, const struct gz_member *member, struct compressed *stream)
{
	if (view_thorough(view) || view_wants_states(view)) {
		struct deflate_codes codes = { .member = member->at, .bit = member->data * 8 };
		enum compressed_state state;

		*stream = (struct compressed){ 0 };
		state = walk_codes(view, &codes, &stream->end);
		if (state != COMPRESSED_DONE)
			return is_whole(view, member, &codes, stream) ? COMPRESSED_DONE : state;
	}
	return compressed_walk(view, COMPRESSED_GZIP, member->at, view_size(view), stream);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct gz_member first, member;
	struct compressed stream;
	enum compressed_state state;
	const char *problem = read_header(view, 0, &first), *extension = "gz";
	uint64_t at = 0;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	for (member = first;; at = stream.end) {
		if (at && read_header(view, at, &member))
			break;
		if (at && at % SECTOR == 0 && member.name_len) {
			finding->length = at;
			return verdict_because(CARVE_COMPLETE, finding,
				"the named member at the sector boundary at %" PRIu64
				" is another file",
				at);
		}
		state = walk_member(view, &member, &stream);
		if (state != COMPRESSED_DONE && stream.end < sure_end(&member)) {
			if (at)
				break;
			return verdict_because(CARVE_REJECT, finding,
				"no deflate stream at %" PRIu64, member.data);
		}
		if (at && at % SECTOR == 0 && state != COMPRESSED_DONE) {
			finding->length = at;
			return verdict_because(CARVE_COMPLETE, finding,
				"the damaged member at the sector boundary at %" PRIu64
				" is taken for another file",
				at);
		}
		if (at)
			view_part(view, at);
		else
			extension = extension_of(&stream);
		describe(view, finding, &first, extension);
		if (state != COMPRESSED_DONE)
			return judge_damage(view, finding, &member, state, stream.end);
	}
	finding->length = at;
	return CARVE_COMPLETE;
}

/* Whether the codes after a joint follow the habits of those before it. */
static unsigned look_at_joint(struct view *view, uint64_t at, uint64_t end)
{
	struct deflate_codes codes = { 0 };
	struct gz_member member;
	int64_t gain;

	if (read_header(view, 0, &member) || at <= member.data)
		return 0;
	codes.bit = member.data * 8;
	codes.stop = at * 8;
	if (deflate_codes_walk(view, &codes) != CODES_CUT || codes.bit < codes.stop)
		return 0;
	gain = codes.habits.gain;
	codes.stop = (end - at < JOINT_LEN ? end : at + JOINT_LEN) * 8;
	deflate_codes_walk(view, &codes);
	return habits_gain(&codes.habits, gain);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	enum compressed_state end_state;
	struct gz_member first, member;
	struct compressed stream;
	struct deflate_codes codes;
	uint64_t end;

	if (!deflate_codes_load(&codes, state) || (codes.member && codes.member % SECTOR == 0) ||
		read_header(view, 0, &first) || read_header(view, codes.member, &member))
		return check(view, finding);
	end_state = walk_codes(view, &codes, &end);
	if (end_state == COMPRESSED_DONE || end < sure_end(&member) ||
		((!view_is_trial(view) || !deflate_codes_are_sure(&codes, state->offset)) &&
			is_whole(view, &member, &codes, &stream)))
		return check(view, finding);
	describe(view, finding, &first, NULL);
	return judge_damage(view, finding, &member, end_state, end);
}

static void *begin_break(struct view *view, const struct carve_state *state)
{
	struct deflate_codes codes = { 0 };
	struct gz_member member;

	if (!state || !deflate_codes_load(&codes, state)) {
		if (read_header(view, 0, &member))
			return NULL;
		codes.bit = member.data * 8;
	}
	return deflate_break_new(view, &codes);
}

static const struct carve_codes break_codes = {
	.begin = begin_break,
	.ask = deflate_break_ask,
	.end = deflate_break_free,
	.goes_on = true,
};

const struct carver gz_carver = {
	.name = "gz",
	.summary = "gzip files, by decompressing all members up to their CRCs",
	.check = check,
	.resume = resume,
	.joint = look_at_joint,
	.codes = &break_codes,
};
