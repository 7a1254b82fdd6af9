/*
 * Registry hives of Windows NT and later (libyal's documentation of the REGF format; M. Suhanov's
 * specification), and their transaction logs.
 *
 *	hive: header of 4,096 bytes, bins
 *	bin:  'hbin', its offset from the first one, its length (both multiples of 4,096), ...,
 *	      cells
 *	cell: its length (a multiple of 8; negative: in use), data
 *
 * The header has the length of all bins and a checksum (its words XORed). The walk goes from bin to
 * bin and cell to cell; the cells have to fill each bin. In cells in use that start with known
 * letters (keys, values, lists) the first fields are checked. If the two sequence numbers differ,
 * the hive was not closed, which only adds a note. Free cells may contain anything, which nothing
 * verifies (view_unverified); random bytes in a free last cell show that the file was overwritten, and other bytes in a
 * cluster that begins in it leave the hive unverified.
 *
 * Windows enlarges the files of hives in steps of 64 KiB before it needs the room, and the header does not
 * say so: of ten real hives three end with zeros after their bins. Zeros up to exactly such a step belong to
 * the file; nothing verifies them. Where more zeros follow nothing shows which are the file's. Most Windows' versions take
 * steps of 256 KiB: zeros that reach the next of these are carved, too, unverified; else the file ends with its bins. Each
 * adds a note.
 *
 * A log starts with a copy of the header's first 512 bytes (regf_log.c). Logs are reused, and
 * longer than their contents: the end is unverified, unless an entry is invalid.
 *
 * The title is the end of the hive's path; the time is when it was last written.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "regf.h"
#include "dates.h"
#include "slack.h"
#include "title.h"
#include "walk.h"

#define HEADER_ZEROS_END 4040
#define SECTOR_LEN 512
#define FREE_MIN SECTOR_LEN /* bytes of free cells that are reported: files start with sectors */
#define NAME_AT 48
#define NAME_LEN 64

struct regf_hive {
	struct view *view;
	struct finding *finding;
	uint64_t end;       /* of the bins */
	uint64_t valid_end; /* after the last valid cell */
	uint64_t last_cell; /* where the last cell starts */
	uint32_t type;
	bool open, wrong_sum, last_free;
};

static const char *read_header(struct regf_hive *hive)
{
	const uint8_t *p = view_peek(hive->view, 0, REGF_LOG_HEADER_LEN);
	uint32_t sum = 0;

	if (!p || memcmp(p, "regf", 4) != 0)
		return "no header";
	hive->type = le32(p + 28);
	if (le32(p + 20) != 1 || le32(p + 24) > 6 || hive->type > 6 || le32(p + 32) > 1)
		return "an impossible version or type";
	hive->end = (uint64_t)le32(p + 40) + REGF_HEADER_LEN;
	if (hive->end % 4096 || hive->end == REGF_HEADER_LEN || hive->end > INT32_MAX)
		return "an impossible length";
	for (int i = 0; i < 508; i += 4)
		sum ^= le32(p + i);
	sum += sum == 0 ? 1 : sum == UINT32_MAX ? UINT32_MAX : 0;
	hive->wrong_sum = sum != le32(p + 508);
	hive->open = le32(p + 4) != le32(p + 8);
	hive->finding->time = filetime_seconds(le64(p + 12));
	finding_set_title_utf16(hive->finding, p + NAME_AT, NAME_LEN, false);
	return NULL;
}

/* Whether the first fields of a cell in use are possible, if its letters are known. */
static bool possible_cell(const uint8_t *p, uint32_t len)
{
	if (p[0] == 'n' && p[1] == 'k')
		return len >= 80 && le16(p + 72) <= len - 80;
	if (p[0] == 'v' && p[1] == 'k')
		return len >= 24 && (le16(p + 2) <= len - 24 || le16(p + 2) == 0);
	if (p[0] == 'l' && (p[1] == 'f' || p[1] == 'h'))
		return 8u + 8u * le16(p + 2) <= len;
	if ((p[0] == 'l' || p[0] == 'r') && p[1] == 'i')
		return 8u + 4u * le16(p + 2) <= len;
	return true;
}

/* Walks the cells of a bin at [at, end): false when they do not fill it. */
static bool walk_cells(struct regf_hive *hive, uint64_t at, uint64_t end)
{
	while (at < end) {
		size_t look = end - at < 84 ? (size_t)(end - at) : 84;
		const uint8_t *p = end - at >= 8 ? view_peek(hive->view, at, look) : NULL;
		int64_t len = p ? (int32_t)le32(p) : 0;
		bool free = len > 0;

		if (len < 0)
			len = -len;
		if (len < 8 || len % 8 || len > (int64_t)(end - at))
			return false;
		if (!free && look == 84 && !possible_cell(p + 4, (uint32_t)len))
			return false;
		if (view_size(hive->view) - at < (uint64_t)len)
			return false;
		hive->last_cell = at;
		hive->last_free = free;
		if (free && len >= FREE_MIN)
			view_unverified(hive->view, at + 4, at + (uint64_t)len);
		at += (uint64_t)len;
		hive->valid_end = at;
	}
	return true;
}

/* Walks the bins; *at: the first invalid one. */
static bool walk_bins(struct regf_hive *hive, uint64_t *at)
{
	while (*at < hive->end) {
		const uint8_t *p = view_peek(hive->view, *at, REGF_BIN_HEADER_LEN);
		uint32_t len;

		if (!p || memcmp(p, "hbin", 4) != 0 || le32(p + 4) != *at - REGF_HEADER_LEN)
			return false;
		len = le32(p + 8);
		if (len == 0 || len % 4096 || len > hive->end - *at)
			return false;
		hive->valid_end = *at + REGF_BIN_HEADER_LEN;
		if (!walk_cells(hive, *at + REGF_BIN_HEADER_LEN, *at + len))
			return false;
		*at += len;
	}
	return true;
}

#define FILE_STEP 65536
#define LARGE_STEP (4 * FILE_STEP)
#define PADDING_MAX LARGE_STEP

/* Where the zeros at `from` end, but not past `limit`. */
static uint64_t zeros_end(const struct regf_hive *hive, uint64_t from, uint64_t limit)
{
	uint64_t at = from;
	const uint8_t *p;
	size_t len, zeros;

	for (; (p = walk_stream(hive->view, at, limit, at - from, &len)); at += len) {
		for (zeros = 0; zeros < len && p[zeros] == 0; zeros++)
			;
		if (zeros < len)
			return at + zeros;
	}
	return at;
}

/* Files of hives and logs grow in steps of 64 KiB. Zeros up to exactly one of the next steps belong to
 * the file. */
static uint64_t file_end(const struct regf_hive *hive, uint64_t from)
{
	uint64_t limit = from + PADDING_MAX, at = zeros_end(hive, from, limit);

	return at % FILE_STEP == 0 && at < limit ? at : from;
}

/* Where the zeros at the hive's end reach the next step of most Windows' versions; the hive's end if they do not. */
static uint64_t large_step_end(const struct regf_hive *hive)
{
	uint64_t end = (hive->end + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP;

	return walk_zeros(hive->view, hive->end, end) ? end : hive->end;
}

/* The verdict on a valid hive, with the zeros that fill its file. */
static enum verdict judge_whole(struct regf_hive *hive)
{
	struct finding *finding = hive->finding;
	uint64_t step = (hive->end + FILE_STEP - 1) / FILE_STEP * FILE_STEP;

	view_holds(hive->view, REGF_PAGE_LEN, hive->end);
	finding->length = file_end(hive, hive->end);
	view_unverified(hive->view, hive->end, finding->length);
	if (hive->open)
		return verdict_because(CARVE_COMPLETE, finding,
			"the hive was not closed: its sequence numbers differ");
	if (finding->length > hive->end)
		return verdict_because(CARVE_COMPLETE, finding,
			"with the zeros from %" PRIu64
			" on: hives are padded to 64 KiB, but do not record how far",
			hive->end);
	finding->length = large_step_end(hive);
	if (finding->length > hive->end) {
		view_agrees(hive->view);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"with the zeros from %" PRIu64
			" on: hives are padded, mostly to 256 KiB, but do not record how far",
			hive->end);
	}
	if (finding->length < step && walk_zeros(hive->view, hive->end, step))
		return verdict_because(CARVE_COMPLETE, finding,
			"without the zeros from %" PRIu64
			" on: hives are padded to 64 KiB, but do not record how far",
			hive->end);
	return CARVE_COMPLETE;
}

/* The first cluster inside a free last cell, if it and those after it are not zeros, or zeros directly after other bytes: no
 * cell in use follows that shows them to be the hive's. The bins' end if there is none. */
static uint64_t unproved_cluster(const struct regf_hive *hive)
{
	uint64_t start = hive->last_cell + 4, cluster = (start / USUAL_CLUSTER + 1) * USUAL_CLUSTER;

	if (!hive->last_free || cluster >= hive->end)
		return hive->end;
	if (!walk_zeros(hive->view, cluster, hive->end))
		return cluster;
	return slack_wiped(hive->view, start, hive->end) < hive->end ? cluster : hive->end;
}

/* Where the rest of the header, which is zeros, goes on with something else: Windows 10's part ends it. The header's end if it
 * does not, or is none. */
static uint64_t header_break(const struct regf_hive *hive)
{
	for (uint64_t at = 2 * REGF_LOG_HEADER_LEN; at < HEADER_ZEROS_END;
		at += REGF_LOG_HEADER_LEN) {
		uint64_t end = at + REGF_LOG_HEADER_LEN;

		if (!walk_zeros(hive->view, REGF_LOG_HEADER_LEN, at))
			break;
		if (!walk_zeros(hive->view, at, end < HEADER_ZEROS_END ? end : HEADER_ZEROS_END))
			return at;
	}
	return REGF_HEADER_LEN;
}

static bool is_in_pieces(const struct regf_hive *hive)
{
	return view_thorough(hive->view) || view_is_trial(hive->view);
}

/* Old content is mostly before zeros, and what comes from elsewhere is not. */
static bool ends_in_zeros(const struct regf_hive *hive)
{
	return walk_zeros(hive->view, hive->end - SECTOR_LEN, hive->end);
}

/* What is found only where a hive in pieces is put together. False: *at does not fit. */
static bool pieces_fit(struct regf_hive *hive, uint64_t *at)
{
	if (!is_in_pieces(hive))
		return true;
	*at = header_break(hive);
	return *at == REGF_HEADER_LEN &&
	       (hive->valid_end <= REGF_HEADER_LEN + REGF_BIN_HEADER_LEN ||
		       regf_cells_fit(hive->view, hive->valid_end, hive->end, at));
}

static enum verdict check_hive(struct regf_hive *hive)
{
	uint64_t at = REGF_HEADER_LEN, place, noise;
	struct finding *finding = hive->finding;
	bool is_whole = walk_bins(hive, &at);

	if (!pieces_fit(hive, &place)) {
		finding->length = place;
		return verdict_because(CARVE_TRUNCATED, finding,
			"what is at %" PRIu64 " does not belong to what is before it", place);
	}
	if (!is_whole) {
		if (hive->valid_end <= REGF_HEADER_LEN + REGF_BIN_HEADER_LEN && hive->wrong_sum)
			return verdict_because(CARVE_REJECT, finding, "no bin after the header");
		/* The header proves itself by its checksum. */
		if (hive->valid_end < REGF_HEADER_LEN)
			hive->valid_end = REGF_HEADER_LEN < view_size(hive->view)
						  ? REGF_HEADER_LEN
						  : view_size(hive->view);
		if (at + 4096 > view_size(hive->view) ||
			hive->valid_end + 8 > view_size(hive->view))
			return walk_cut(hive->view, finding, hive->end,
				view_ends_with_image(hive->view) ? view_size(hive->view)
								 : hive->valid_end);
		finding->length = hive->valid_end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the bin at %" PRIu64 " is damaged after %" PRIu64, at, hive->valid_end);
	}
	noise = hive->end;
	if (hive->last_free)
		noise = slack_noise(hive->view, hive->last_cell + 4, hive->end);
	finding->length = noise;
	if (noise < hive->end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes in the last cell, at %" PRIu64, noise);
	if (hive->wrong_sum)
		return verdict_because(CARVE_UNVERIFIED, finding, "the header's checksum is wrong");
	at = unproved_cluster(hive);
	if (at < hive->end && is_in_pieces(hive) && !ends_in_zeros(hive)) {
		finding->length = at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the last cell, which is free, does not end in zeros, from %" PRIu64 " on",
			at);
	}
	if (at < hive->end) {
		view_agrees(hive->view);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the bytes of the last cell, which is free, from %" PRIu64
			" on",
			at);
	}
	return judge_whole(hive);
}

static enum verdict check_log(struct regf_hive *hive)
{
	bool broken, is_hashed;
	uint64_t end = regf_log_end(hive->view, hive->end - REGF_HEADER_LEN, &is_hashed, &broken);
	struct finding *finding = hive->finding;

	if (hive->wrong_sum || (end == REGF_LOG_HEADER_LEN && !broken))
		return verdict_because(
			CARVE_REJECT, finding, "the header of a log without a valid entry");
	finding->extension = "log";
	finding->length = broken ? end : file_end(hive, end);
	if (broken)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the hashes of the entry at %" PRIu64 " are wrong", end);
	if (is_hashed)
		view_agrees(hive->view);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"a transaction log may be longer than its contents, %" PRIu64 " bytes", end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct regf_hive hive = { .view = view, .finding = finding };
	const char *problem = read_header(&hive);
	enum verdict verdict;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	if (hive.type)
		return check_log(&hive);
	verdict = check_hive(&hive);
	if (!view_met_unreadable(view))
		return verdict;
	return walk_past_unread(view, finding, verdict, file_end(&hive, hive.end));
}

/* ---- files in pieces ------------------------------------------------------------------------ */

/* Where the bin after the one at `at` is, whose header is valid. */
static uint64_t next_bin(const struct regf_hive *hive, uint64_t at)
{
	const uint8_t *p = view_peek(hive->view, at, REGF_BIN_HEADER_LEN);

	return p ? at + le32(p + 8) : hive->end;
}

/* The first bin that is not where the one before it is, if the hive is right up to `broken`, and has valid bins further on. */
static uint64_t bin_after(const struct regf_hive *hive, uint64_t broken)
{
	uint64_t at = REGF_HEADER_LEN;

	while (at < broken && at < hive->valid_end)
		at = next_bin(hive, at);
	return at;
}

/* Each bin has its own offset, and other hives have the same ones: only the next one is certain, as each has its length. */
static bool read_bins(struct view *view, struct carve_table *table)
{
	struct finding finding = { 0 };
	struct regf_hive hive = { .view = view, .finding = &finding };
	struct carve_anchor anchor = { .len = 8, .bytes = "hbin" };
	uint64_t at = REGF_HEADER_LEN, broken;

	if (read_header(&hive) || hive.type || hive.wrong_sum)
		return false;
	walk_bins(&hive, &at);
	if (hive.valid_end > REGF_HEADER_LEN + REGF_BIN_HEADER_LEN &&
		!regf_cells_fit(view, hive.valid_end, hive.end, &broken))
		at = bin_after(&hive, broken);
	else if (hive.valid_end > at)
		at = next_bin(&hive, at);
	if (at >= hive.end)
		return true;
	anchor.offset = at;
	put_le(anchor.bytes + 4, at - REGF_HEADER_LEN, 4);
	table->add(table, &anchor);
	return true;
}

static const struct carve_map regf_map = {
	.words = { { 4, false, "hbin" } },
	.common = true,
	.head = read_bins,
};

const struct carver regf_carver = {
	.name = "regf",
	.summary = "Windows registry hives and their logs, by bins and cells",
	.check = check,
	.map = &regf_map,
	.pages = &regf_pages,
};
