/*
 * Windows' event trace logs (the Windows Driver Kit's and SDK's evntrace.h; published layouts of
 * WMI_BUFFER_HEADER).
 *
 *	buffer: 72 bytes: its length, end of its events, time, number, ...; events; FF to its end
 *	first event: SYSTEM_TRACE_HEADER, TRACE_LOGFILE_HEADER: length of each buffer, number of
 *		buffers written, times, the session's name
 *
 * The number of buffers gives the length; each has to start with a valid head. The padding of the
 * last one confirms it; if that one is full, or the log was not closed, nothing does, and the file
 * is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"
#include "walk.h"

#define BUFFER_HEAD 72
#define LOG_AT 104
#define PADDING_MIN 16
#define COMPRESSED_MODE 0x04000000

struct etl {
	struct view *view;
	uint32_t buffer_len, written, mode, pointer_len;
	uint64_t end; /* after the last valid buffer */
};

static bool read_log(struct etl *etl)
{
	const uint8_t *p = view_peek(etl->view, 0, LOG_AT + 56);

	if (!p || le16(p + 72) != 2 || p[74] - 1 > 1 || p[75] != 0xc0 || le16(p + 78) != 0)
		return false;
	etl->buffer_len = le32(p);
	etl->mode = le32(p + LOG_AT + 32);
	etl->written = le32(p + LOG_AT + 36);
	etl->pointer_len = le32(p + LOG_AT + 44);
	return etl->buffer_len % 1024 == 0 && etl->buffer_len && etl->buffer_len <= 1 << 24 &&
	       le32(p + LOG_AT) == etl->buffer_len &&
	       (etl->pointer_len == 4 || etl->pointer_len == 8) && le32(p + LOG_AT + 12) - 1 < 4096;
}

static void read_names(const struct etl *etl, struct finding *finding)
{
	uint64_t start = LOG_AT + (etl->pointer_len == 8 ? 264 : 256);
	const uint8_t *p = view_peek(etl->view, start, 8);

	if (p)
		finding->time = filetime_seconds(le64(p));
	p = view_peek(etl->view, start + 16, 256);
	if (p)
		finding_set_title_utf16(finding, p, 256, false);
}

/* Whether a buffer starts at `at`; *used is where its events end. */
static bool read_buffer(const struct etl *etl, uint64_t at, uint32_t *used)
{
	const uint8_t *p = view_peek(etl->view, at, BUFFER_HEAD);

	if (!p || le32(p) != etl->buffer_len || le32(p + 4) > etl->buffer_len ||
		le32(p + 8) > etl->buffer_len || le32(p + 48) > etl->buffer_len ||
		le16(p + 54) > 64)
		return false;
	*used = le32(p + 48);
	return *used >= BUFFER_HEAD;
}

/* Whether the buffer at `at` is padded with FF after its events, by at least a few bytes. */
static bool is_padded(const struct etl *etl, uint64_t at, uint32_t used)
{
	uint64_t end = at + etl->buffer_len;
	size_t len;

	if (etl->buffer_len - used < PADDING_MIN)
		return false;
	for (at += used; at < end; at += len) {
		const uint8_t *p = walk_window(etl->view, at, end, &len);

		for (size_t i = 0; p && i < len; i++)
			if (p[i] != 0xff)
				return false;
		if (!p)
			return false;
	}
	return true;
}

static enum verdict judge_end(
	struct etl *etl, struct finding *finding, uint64_t count, uint32_t used)
{
	finding->length = etl->end;
	if (etl->mode & COMPRESSED_MODE || etl->written == 0)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%s: ends where no buffer follows, at %" PRIu64,
			etl->written ? "compressed buffers" : "was not closed", etl->end);
	if (count < etl->written)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no buffer at %" PRIu64 ", but the header counts %" PRIu32, etl->end,
			etl->written);
	if (is_padded(etl, etl->end - etl->buffer_len, used))
		return CARVE_COMPLETE;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last buffer, before %" PRIu64 ", cannot be verified", etl->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct etl etl = { .view = view };
	uint64_t size = view_size(view), count = 0;
	uint32_t used = 0, next;

	if (!read_log(&etl) || !read_buffer(&etl, 0, &used))
		return verdict_because(CARVE_REJECT, finding, "no header of a log at 72");
	read_names(&etl, finding);
	while ((etl.written == 0 || count < etl.written) && read_buffer(&etl, etl.end, &next)) {
		if (etl.buffer_len > size - etl.end)
			return walk_cut(view, finding, etl.end + etl.buffer_len,
				view_ends_with_image(view) ? size : etl.end);
		used = next;
		etl.end += etl.buffer_len;
		count++;
	}
	if (count < etl.written && size - etl.end < BUFFER_HEAD)
		return walk_cut(view, finding, (uint64_t)etl.written * etl.buffer_len, etl.end);
	return judge_end(&etl, finding, count, used);
}

const struct carver etl_carver = {
	.name = "etl",
	.summary = "Windows' event trace logs, by their buffers",
	.check = check,
};
