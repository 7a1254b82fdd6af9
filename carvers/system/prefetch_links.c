/*
 * Which pages of a plain prefetch file belong together, where it was put together of pieces. In all files that were looked at
 * (tests/bench/RESULTS.md) each metric has a chain of traces and a name, which follow on those of the metric before:
 *
 *	the chain's traces have the numbers of the next ones, and -1 in the last one: where the metric says
 *	the name is a text that ends with 0 where the metric says
 *
 * Others' chains and names end there seldom. An older file of the same program may have the same ones: so nothing is proved
 * where a page elsewhere would do in the place of one of its pages.
 */
#include "prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "logarithm.h"

#define PAGE_LEN 512
#define LEN_MAX ((uint32_t)1 << 20)
#define LINK_BITS (5 * LOG_BIT) /* of a chain of some 30 traces, or a name as long */
#define TOLD_MIN 128            /* bytes of a page of which the file's beginning says something */

struct prefetch_file {
	struct prefetch_sections sections;
	uint32_t page_count;
	uint8_t *bytes; /* all of its pages; zeros after its end */
};

static uint64_t metric_at(const struct prefetch_sections *sections, uint32_t number)
{
	return sections->metrics + (uint64_t)number * prefetch_metric_len(sections);
}

/* Whether all metrics' chains and names are where they say, one after another. */
static bool is_regular(const struct prefetch_file *file)
{
	const struct prefetch_sections *sections = &file->sections;
	uint64_t traces = 0, name = 0;

	for (uint32_t i = 0; i < sections->metric_count; i++) {
		const uint8_t *metric = file->bytes + metric_at(sections, i);
		const uint8_t *p = metric + prefetch_name_at(sections);
		uint64_t count = le32(metric + 4), end = name + 2 * (uint64_t)le32(p + 4);

		if (le32(metric) != traces || count > sections->trace_count - traces ||
			le32(p) != name || end + 2 > sections->names_len)
			return false;
		for (uint64_t k = traces; k < traces + count; k++)
			if (le32(file->bytes + sections->traces + k * PREFETCH_TRACE_LEN) !=
				(k + 1 < traces + count ? (uint32_t)k + 1 : UINT32_MAX))
				return false;
		for (; name < end; name += 2)
			if (!le16(file->bytes + sections->names + name))
				return false;
		if (le16(file->bytes + sections->names + end))
			return false;
		traces += count;
		name = end + 2;
	}
	return sections->metric_count && traces == sections->trace_count;
}

static void end(void *pages)
{
	struct prefetch_file *file = pages;

	free(file->bytes);
	free(file);
}

/* Copies the file, of which a page was checked already. */
static bool read_file(struct view *view, struct prefetch_file *file)
{
	for (uint32_t at = 0; at < file->sections.len; at += PAGE_LEN) {
		size_t len =
			file->sections.len - at < PAGE_LEN ? file->sections.len - at : PAGE_LEN;
		const uint8_t *p = view_peek(view, at, len);

		if (!p)
			return false;
		memcpy(file->bytes + at, p, len);
	}
	return view_work(view, file->sections.len);
}

static void *begin(struct view *view, uint32_t *page_len, uint32_t *count)
{
	const uint8_t *p = view_peek(view, 0, PREFETCH_HEADER_LEN + PREFETCH_INFO_LEN);
	struct prefetch_sections sections;
	struct prefetch_file *file;

	if (!p || prefetch_read_sections(p, &sections) || sections.version >= 30 ||
		sections.len > LEN_MAX || sections.len > view_size(view) ||
		(sections.traces - sections.metrics) / prefetch_metric_len(&sections) <
			sections.metric_count ||
		(sections.names - sections.traces) / PREFETCH_TRACE_LEN < sections.trace_count)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file) {
		view_no_memory(view);
		return NULL;
	}
	file->sections = sections;
	*page_len = PAGE_LEN;
	*count = file->page_count = (sections.len + PAGE_LEN - 1) / PAGE_LEN;
	file->bytes = calloc(file->page_count, PAGE_LEN);
	if (!file->bytes)
		view_no_memory(view);
	else if (read_file(view, file) && is_regular(file))
		return file;
	end(file);
	return NULL;
}

static void links(const void *pages, void (*add)(void *context, const struct carve_page_link *link),
	void *context)
{
	const struct prefetch_file *file = pages;
	const struct prefetch_sections *sections = &file->sections;
	uint64_t trace = sections->traces, name = sections->names;

	for (uint32_t i = 0; i < sections->metric_count; i++) {
		uint64_t at = metric_at(sections, i);
		uint32_t count = le32(file->bytes + at + 4);
		struct carve_page_link link = { .other = (uint32_t)(at / PAGE_LEN),
			.bits = LINK_BITS };

		trace += (uint64_t)count * PREFETCH_TRACE_LEN;
		link.page = (uint32_t)((trace - 1) / PAGE_LEN);
		if (count)
			add(context, &link);
		name += 2 * (uint64_t)le32(file->bytes + at + prefetch_name_at(sections) + 4) + 2;
		link.page = (uint32_t)((name - 1) / PAGE_LEN);
		add(context, &link);
	}
}

/* Bytes of [from, to) in a page that begins at `start`. */
static uint64_t part_of(uint64_t start, uint64_t from, uint64_t to)
{
	from = from > start ? from : start;
	to = to < start + PAGE_LEN ? to : start + PAGE_LEN;
	return to > from ? to - from : 0;
}

/* Bytes of the page's that are of metrics, traces or names. */
static uint64_t told(const struct prefetch_file *file, uint64_t start)
{
	const struct prefetch_sections *sections = &file->sections;

	return part_of(start, 0, sections->names + (uint64_t)sections->names_len);
}

/* Whether the bytes at `at` say nothing else than the file's, where their kind is known. */
static bool is_alike(
	const struct prefetch_file *file, uint64_t at, const uint8_t *bytes, const uint8_t *own)
{
	const struct prefetch_sections *sections = &file->sections;
	uint64_t in_metrics = at - sections->metrics, in_traces = at - sections->traces;

	if (at < sections->metrics)
		return !memcmp(bytes, own, 2);
	if (at < sections->traces) {
		uint64_t field = in_metrics % prefetch_metric_len(sections);

		return field >= prefetch_name_at(sections) + 8 ||
		       (field >= 8 && field < prefetch_name_at(sections)) || !memcmp(bytes, own, 2);
	}
	if (at < sections->names)
		return in_traces % PREFETCH_TRACE_LEN >= 4 || !memcmp(bytes, own, 2);
	/* Texts, each with an end. */
	return !le16(bytes) == !le16(own);
}

static bool may_be(const void *pages, uint32_t page, const uint8_t *bytes)
{
	const struct prefetch_file *file = pages;
	uint64_t start = (uint64_t)page * PAGE_LEN;
	const uint8_t *own = file->bytes + start;

	if (page >= file->page_count)
		return true;
	if (!bytes)
		return told(file, start) < TOLD_MIN;
	for (uint64_t i = 0; i < PAGE_LEN && start + i + 2 <= file->sections.len; i += 2)
		if (!is_alike(file, start + i, bytes + i, own + i))
			return false;
	return true;
}

/* Joints are where pages begin. */
static unsigned inner_bits(
	const void *pages, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to)
{
	(void)pages;
	(void)bytes;
	(void)page;
	(void)from;
	(void)to;
	return 0;
}

static enum carve_kin kin(const void *pages, const uint8_t *bytes)
{
	const struct prefetch_file *file = pages;
	enum carve_kin kin = CARVE_NO_KIN;

	for (uint32_t page = 0; page < file->page_count; page++) {
		uint64_t start = (uint64_t)page * PAGE_LEN;

		if (told(file, start) < TOLD_MIN || !may_be(pages, page, bytes))
			continue;
		if (memcmp(bytes, file->bytes + start, PAGE_LEN) != 0)
			return CARVE_VERSION;
		kin = CARVE_COPY;
	}
	return kin;
}

const struct carve_pages prefetch_pages = { begin, links, may_be, inner_bits, kin, end };
