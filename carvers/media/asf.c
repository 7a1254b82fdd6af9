/*
 * Advanced Systems Format (Microsoft, ASF specification 01.20.05): WMV and WMA.
 *
 *	object: GUID (16 bytes), length (8 bytes, little-endian, itself included), data
 *	file:   the header object (with objects in it: file properties, content description, a
 *	        stream's properties, ...), the data object, indexes
 *
 * Each object leads to the next; the first that is not a known one ends the file, and that has to
 * be where the file properties say. The data may be later than the header says. They are packets of one length, which begin alike
 * (error correction data: 82 00 00), and end at the first one that does not. Pictures are
 * embedded in the header's objects. The last packet is confirmed by an index after it, or by the
 * zeros at its end that it announces as padding; else the verdict is unverified.
 *
 * Where a file in pieces is put together the payloads in the packets are followed (asf_payloads.c).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "asf_payloads.h"
#include "bytes.h"
#include "carver.h"
#include "dates.h"
#include "embedded.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 24
#define DATA_HEAD_LEN 50
#define FLAG_LIVE 1
#define TAIL_PART 16
#define PADDING_MIN 16     /* fewer bytes may be zeros by chance */
#define PACKET_HEAD_MAX 23 /* of what read_packet reads */
#define INDEX_HEAD_LEN 56
#define INDEX_ENTRY_LEN 6

#define TAIL_OF "\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c"
static const uint8_t header_id[] = "\x30\x26\xb2\x75" TAIL_OF;
static const uint8_t data_id[] = "\x36\x26\xb2\x75" TAIL_OF;
static const uint8_t description_id[] = "\x33\x26\xb2\x75" TAIL_OF;
static const uint8_t properties_id[] =
	"\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0\x0c\x20\x53\x65";
static const uint8_t stream_id[] =
	"\x91\x07\xdc\xb7\xb7\xa9\xcf\x11\x8e\xe6\x00\xc0\x0c\x20\x53\x65";
static const uint8_t video_id[] =
	"\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b";
/* Simple index, index, media object index, timecode index. */
static const uint8_t index_ids[][17] = {
	"\x90\x08\x00\x33\xb1\xe5\xcf\x11\x89\xf4\x00\xa0\xc9\x03\x49\xcb",
	"\xd3\x29\xe2\xd6\xda\x35\xd1\x11\x90\x34\x00\xa0\xc9\x03\x49\xbe",
	"\xf8\x03\xb1\xfe\xad\x12\x64\x4c\x84\x0f\x2a\x1d\x2f\x7a\xd4\x8c",
	"\xd0\x3f\xb7\x3c\x4a\x0c\x03\x48\x95\x3d\xed\xf7\xb6\x22\x8f\x0c",
};

struct asf {
	struct view *view;
	struct finding *finding;
	uint64_t stated_size; /* the file's size according to its properties */
	uint32_t packet_len;  /* 0: varies */
	uint64_t displaced;   /* the header's end, if the data object is after it; else 0 */
	bool odd;             /* the objects in the header do not fill it */
	bool live, video, broken_index;
	uint64_t valid_end, unverified_len; /* unverified_len: of the last packet or index */
	uint64_t packets_end;
	uint32_t padding;               /* of the last packet */
	const struct carve_state *from; /* NULL: from the start */
	struct asf_payloads payloads;
};

/* What is known before a packet. */
struct saved {
	struct asf_packet first;
	struct asf_payloads payloads;
};

static bool is_guid(const uint8_t *p, const uint8_t *id)
{
	return memcmp(p, id, 16) == 0;
}

static void read_properties(struct asf *asf, uint64_t at)
{
	const uint8_t *p = view_peek(asf->view, at + HEAD_LEN, 80);

	if (!p)
		return;
	asf->stated_size = le64(p + 16);
	asf->finding->time = filetime_seconds(le64(p + 24));
	asf->live = le32(p + 64) & FLAG_LIVE;
	asf->packet_len = le32(p + 68) == le32(p + 72) ? le32(p + 68) : 0;
}

static void read_title(struct asf *asf, uint64_t at, uint64_t len)
{
	const uint8_t *p = view_peek(asf->view, at + HEAD_LEN, 10);
	size_t title_len = p ? le16(p) : 0;

	if (title_len > len - HEAD_LEN - 10)
		return;
	p = view_peek(asf->view, at + HEAD_LEN + 10, title_len);
	if (p && title_len)
		finding_set_title_utf16(asf->finding, p, title_len, false);
}

/* Whether the objects in the header fill it. */
static bool read_header(struct asf *asf, uint64_t end)
{
	uint64_t at = HEAD_LEN + 6, len;

	for (; at < end; at += len) {
		const uint8_t *p = end - at >= HEAD_LEN ? view_peek(asf->view, at, HEAD_LEN) : NULL;

		asf->valid_end = at;
		len = p ? le64(p + 16) : 0;
		if (len < HEAD_LEN || len > end - at)
			return false;
		if (is_guid(p, properties_id) && len >= HEAD_LEN + 80) {
			read_properties(asf, at);
		} else if (is_guid(p, description_id) && len >= HEAD_LEN + 10) {
			read_title(asf, at, len);
		} else if (is_guid(p, stream_id) && len >= HEAD_LEN + 16) {
			p = view_peek(asf->view, at + HEAD_LEN, 16);
			asf->video |= p && is_guid(p, video_id);
		} else {
			embedded_find(asf->view, at + HEAD_LEN, at + len, VIEW_MAX_PEEK);
		}
	}
	asf->valid_end = end;
	return true;
}

/* Where the data object is, at head_end or soon after it: programs that write tags have left the end of a longer header
 * there. Otherwise head_end. */
static uint64_t find_data(const struct asf *asf, uint64_t head_end)
{
	enum { FIRST_LEN = 4 }; /* in which the identifiers of these objects differ */
	uint64_t left = view_size(asf->view) - head_end;
	size_t len = left < VIEW_MAX_PEEK ? (size_t)left : VIEW_MAX_PEEK;
	const uint8_t *p = view_peek(asf->view, head_end, HEAD_LEN), *found;

	if (asf->odd || (p && is_guid(p, data_id)))
		return head_end;
	p = view_peek(asf->view, head_end, len);
	for (size_t at = FIRST_LEN; p && at < len; at = (size_t)(found - p) + 1) {
		found = memmem(p + at, len - at, TAIL_OF, sizeof(TAIL_OF) - 1);
		/* Another file's header is before its data. */
		if (!found || is_guid(found - FIRST_LEN, header_id))
			break;
		if (is_guid(found - FIRST_LEN, data_id))
			return head_end + (uint64_t)(found - p) - FIRST_LEN;
	}
	return head_end;
}

/* Reads a field whose length the two bits `kind` give: 0, 1, 2 or 4 bytes. */
static uint32_t read_field(const uint8_t *p, size_t *at, unsigned kind)
{
	static const uint8_t lens[] = { 0, 1, 2, 4 };
	const uint8_t *field = p + *at;

	*at += lens[kind & 3];
	return (kind & 3) == 0   ? 0
	       : (kind & 3) == 1 ? field[0]
	       : (kind & 3) == 2 ? le16(field)
				 : le32(field);
}

/* Error correction data, if any, is a byte with its length and two zeros. */
static bool read_packet(struct asf *asf, uint64_t at, struct asf_packet *packet)
{
	const uint8_t *p = view_peek(asf->view, at, PACKET_HEAD_MAX);
	uint8_t lengths;
	size_t in;

	if (!p)
		return false;
	in = p[0] & 0x80 ? 3 : 0;
	if (in && ((p[0] & 0x9f) != 0x82 || p[1] || p[2]))
		return false;
	packet->corrected = in;
	lengths = p[in++];
	if (lengths & 0x80)
		return false;
	packet->lengths = lengths;
	packet->flags = p[in++];
	packet->len = read_field(p, &in, lengths >> 5);
	read_field(p, &in, lengths >> 1);
	packet->padding = read_field(p, &in, lengths >> 3);
	packet->time = le32(p + in);
	packet->head_len = in + 6; /* with a time and how long it is played */
	return (!packet->len || packet->len <= asf->packet_len) &&
	       packet->padding < asf->packet_len;
}

static bool is_assembled(const struct asf *asf)
{
	return asf->from || walk_assembles(asf->view);
}

static void save(struct asf *asf, const struct asf_packet *first, uint64_t at)
{
	const struct saved saved = { *first, asf->payloads };
	const struct carve_state state = { .offset = at, .len = sizeof(saved), .data = &saved };

	if (view_wants_states(asf->view))
		view_save(asf->view, &state);
}

/* Goes on at a packet after `at`, if there is a state. */
static void load(struct asf *asf, struct asf_packet *first, uint64_t *at)
{
	struct saved saved;

	if (!asf->from || asf->from->len != sizeof(saved) || asf->from->offset < *at)
		return;
	memcpy(&saved, asf->from->data, sizeof(saved));
	*first = saved.first;
	asf->payloads = saved.payloads;
	*at = asf->from->offset;
}

/* Where a file is put together: whether the payloads of a packet that the view has follow those before. */
static bool follow_payloads(struct asf *asf, const struct asf_packet *first,
	const struct asf_packet *packet, uint64_t at)
{
	uint64_t wrong;

	if (!is_assembled(asf) || at + asf->packet_len > view_size(asf->view))
		return true;
	if (packet->corrected != first->corrected)
		return false;
	if (asf_follow_packet(asf->view, &asf->payloads, packet, at, asf->packet_len, &wrong))
		return true;
	asf->valid_end = wrong;
	return false;
}

/* False: no packet at asf->valid_end. All have the first one's lengths of fields. */
static bool skip_packets(struct asf *asf, uint64_t at, uint64_t end)
{
	uint64_t size = view_size(asf->view), limit = end < size ? end : size;
	struct asf_packet first, packet;

	asf->valid_end = limit;
	asf->unverified_len = limit - at;
	if (asf->packet_len < 16 || !read_packet(asf, at, &first))
		return true;
	load(asf, &first, &at);
	for (; at < limit; at += asf->packet_len) {
		if (limit - at < PACKET_HEAD_MAX)
			break;
		save(asf, &first, at);
		asf->valid_end = at;
		if (!read_packet(asf, at, &packet) || packet.flags != first.flags ||
			!follow_payloads(asf, &first, &packet, at))
			return false;
		asf->unverified_len = limit - at - packet.head_len;
		asf->padding = packet.padding;
	}
	asf->packets_end = limit;
	asf->valid_end = limit;
	return true;
}

/* Whether the last packet ends with the zeros that it announces, and not with others before them, which a lost end may have
 * left there. */
static bool ends_with_padding(const struct asf *asf)
{
	uint64_t from = asf->packets_end - asf->padding;

	return asf->padding >= PADDING_MIN && asf->padding < asf->unverified_len &&
	       walk_zeros(asf->view, from, asf->packets_end) &&
	       !walk_zeros(asf->view, from - PADDING_MIN, from);
}

static bool is_index(const uint8_t *p)
{
	for (size_t i = 0; i < sizeof(index_ids) / sizeof(index_ids[0]); i++)
		if (is_guid(p, index_ids[i]))
			return true;
	return false;
}

/* The entry of a simple index at which packet numbers begin to fall: those are of points in time that follow each other; `end`
 * if they never do. */
static uint64_t index_valid_end(struct asf *asf, uint64_t at, uint64_t end)
{
	uint32_t last = 0;

	for (at += INDEX_HEAD_LEN; at + INDEX_ENTRY_LEN <= end; at += INDEX_ENTRY_LEN) {
		const uint8_t *p = view_peek(asf->view, at, INDEX_ENTRY_LEN);

		if (!p || le32(p) < last)
			return at;
		if (le32(p) != UINT32_MAX)
			last = le32(p);
	}
	if (last)
		asf->unverified_len = INDEX_ENTRY_LEN;
	return end;
}

/* Moves *end past the indexes after the data. False: the view ends within one. */
static bool skip_indexes(struct asf *asf, uint64_t *end)
{
	const uint8_t *p;

	while ((p = view_peek(asf->view, *end, HEAD_LEN)) && is_index(p)) {
		uint64_t len = le64(p + 16);

		if (len < HEAD_LEN || len > INT64_MAX)
			return true;
		asf->valid_end = *end;
		asf->unverified_len = len - HEAD_LEN;
		if (len > view_size(asf->view) - *end)
			return false;
		if (is_guid(p, index_ids[0]))
			asf->valid_end = index_valid_end(asf, *end, *end + len);
		*end += len;
		if (asf->valid_end > *end - len && asf->valid_end < *end) {
			asf->broken_index = true;
			return true;
		}
	}
	return true;
}

static enum verdict judge_end(struct asf *asf, uint64_t end)
{
	struct finding *finding = asf->finding;

	finding->length = end;
	if (asf->odd)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "the objects in the header do not fill it");
	if (asf->displaced) {
		if (is_assembled(asf))
			view_agrees(asf->view);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the header ends at %" PRIu64 ", long before the data", asf->displaced);
	}
	if (asf->live)
		return verdict_because(CARVE_UNVERIFIED, finding, "written live, without a size");
	if (asf->stated_size > end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"objects end at %" PRIu64 ", but the stated size is %" PRIu64, end,
			asf->stated_size);
	if (asf->stated_size != end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the stated size is %" PRIu64 ", but objects continue to %" PRIu64,
			asf->stated_size, end);
	if (asf->broken_index) {
		finding->length = asf->valid_end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"an index goes back in time at %" PRIu64, asf->valid_end);
	}
	if (asf->packets_end == end ? !ends_with_padding(asf)
				    : asf->unverified_len > end / TAIL_PART) {
		if (asf->packets_end == end && is_assembled(asf))
			view_agrees(asf->view);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last %" PRIu64 " bytes cannot be verified", asf->unverified_len);
	}
	return CARVE_COMPLETE;
}

static enum verdict check_from(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct asf asf = { .view = view, .finding = finding, .from = from };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + 6);
	uint64_t size = view_size(view), head_end, data_at, end, len;
	bool is_valid;

	if (!p || !is_guid(p, header_id) || p[28] != 1 || p[29] != 2)
		return verdict_because(CARVE_REJECT, finding, "no ASF header at 0");
	head_end = le64(p + 16);
	if (head_end < HEAD_LEN + 6 || head_end > (UINT64_C(1) << 30))
		return verdict_because(CARVE_REJECT, finding, "an impossible length at 16");
	asf.odd = !read_header(&asf, head_end < size ? head_end : size);
	if (asf.valid_end == HEAD_LEN + 6) {
		*finding = (struct finding){ 0 };
		return verdict_because(
			CARVE_REJECT, finding, "no object at %" PRIu64, asf.valid_end);
	}
	finding->extension = asf.video ? "wmv" : "wma";
	finding->length = asf.valid_end;
	if (head_end > size)
		return walk_cut(view, finding, head_end, asf.valid_end);
	data_at = find_data(&asf, head_end);
	asf.displaced = data_at > head_end ? head_end : 0;
	p = view_peek(view, data_at, HEAD_LEN);
	if (!p || !is_guid(p, data_id))
		return verdict_because(
			CARVE_TRUNCATED, finding, "no data object at %" PRIu64, head_end);
	len = le64(p + 16);
	if (len < DATA_HEAD_LEN || len > INT64_MAX / 2)
		return verdict_because(CARVE_TRUNCATED, finding,
			"a data object without length at %" PRIu64, data_at);
	end = data_at + len;
	is_valid =
		data_at + DATA_HEAD_LEN > size || skip_packets(&asf, data_at + DATA_HEAD_LEN, end);
	asf_payloads_prove(view, &asf.payloads);
	if (!is_valid) {
		finding->length = asf.valid_end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no packet at %" PRIu64, asf.valid_end);
	}
	if (end > size)
		return walk_cut(view, finding, end, size);
	if (!skip_indexes(&asf, &end))
		return walk_cut(view, finding, size + 1, size);
	return judge_end(&asf, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_from(view, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_from(view, state, finding);
}

const struct carver asf_carver = {
	.name = "asf",
	.summary = "WMV and WMA, by their objects, packets and indexes",
	.check = check,
	.resume = resume,
};
