/* The protocol of a selftest, as text and as a page: what was tested, on which machine, and with
 * what result. Both are made from the same rows. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "selftest/selftest.h"

/* Collects the rows. The text of cells is cleaned; numbers are aligned to the right. */
struct protocol_writer {
	struct strbuf line;
	bool page;
};

/* ---- the machine --------------------------------------------------------------------------- */

/* "model name : ..." of /proc/cpuinfo. The caller frees it. */
static char *processor_name(void)
{
	FILE *stream = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *name = NULL;
	size_t capacity = 0;

	while (stream && !name && getline(&line, &capacity, stream) > 0) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		name = xstrdup(colon[1] == ' ' ? colon + 2 : colon + 1);
	}
	if (stream)
		fclose(stream);
	free(line);
	return name ? name : xstrdup("processor of an unknown kind");
}

/* ---- both forms ---------------------------------------------------------------------------- */

static void add_heading(struct protocol_writer *writer, const char *text)
{
	strbuf_text(&writer->line, writer->page ? "<h2>" : "\n");
	strbuf_text(&writer->line, text);
	strbuf_text(&writer->line, writer->page ? "</h2>\n" : "\n");
}

/* A row of a name and a value. Frees the value. */
static void add_fact(struct protocol_writer *writer, const char *name, char *value)
{
	struct strbuf *line = &writer->line;
	char padded[32];

	snprintf(padded, sizeof(padded), writer->page ? "%s" : "%-12s", name);
	strbuf_text(line, writer->page ? "<tr><th scope=\"row\">" : "");
	strbuf_text(line, padded);
	strbuf_text(line, writer->page ? "</th><td>" : "");
	(writer->page ? strbuf_xml : strbuf_clean)(line, value);
	strbuf_text(line, writer->page ? "</td></tr>\n" : "\n");
	free(value);
}

/* width: of the column in text; negative: aligned to the left. */
static void add_cell(struct protocol_writer *writer, int width, const char *text)
{
	struct strbuf *line = &writer->line;
	char padded[160];

	if (writer->page) {
		strbuf_text(line, width > 0 ? "<td class=\"n\">" : "<td>");
		strbuf_xml(line, text);
		strbuf_text(line, "</td>");
		return;
	}
	snprintf(padded, sizeof(padded), "%*s  ", width, text);
	strbuf_clean(line, padded);
}

static void add_number(struct protocol_writer *writer, int width, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	add_cell(writer, width, text);
}

/* "-" where there is nothing to divide by. */
static void add_share(struct protocol_writer *writer, int width, uint64_t part, uint64_t whole)
{
	char text[16] = "-";

	if (whole)
		snprintf(text, sizeof(text), "%.1f %%", 100.0 * (double)part / (double)whole);
	add_cell(writer, width, text);
}

static void add_row_tag(struct protocol_writer *writer, bool end)
{
	strbuf_text(&writer->line, writer->page ? (end ? "</tr>\n" : "<tr>") : end ? "\n" : "");
}

static void add_table_tag(struct protocol_writer *writer, bool end)
{
	if (writer->page)
		strbuf_text(&writer->line, end ? "</table>\n" : "<table>\n");
}

static void add_heads(
	struct protocol_writer *writer, const char *const *names, const int *widths, int count)
{
	add_row_tag(writer, false);
	for (int i = 0; i < count; i++)
		add_cell(writer, widths[i], names[i]);
	add_row_tag(writer, true);
}

/* ---- the parts ----------------------------------------------------------------------------- */

static void add_facts(struct protocol_writer *writer, const struct selftest *selftest)
{
	struct utsname system = { 0 };
	char *processor = processor_name(), started[TEXT_TIME_LEN] = "";

	uname(&system);
	text_time(selftest->started, started);
	add_table_tag(writer, false);
	add_fact(writer, "Result",
		xstrdup(selftest->signal            ? "INTERRUPTED"
			: selftest_passed(selftest) ? "passed"
						    : "FAILED"));
	add_fact(writer, "Date", xstrdup(started));
	add_fact(writer, "Program",
		xasprintf("burin %s, SHA-256 %s", burin_version, selftest->program_hash));
	add_fact(writer, "Machine",
		xasprintf("%s: %s %s, %s, %ld processors, %s", system.nodename, system.sysname,
			system.release, system.machine, sysconf(_SC_NPROCESSORS_ONLN), processor));
	add_fact(writer, "Rules",
		xasprintf("%s, %" PRIu32 " rules, SHA-256 %s", selftest->rules->path,
			selftest->rules->count, selftest->rules->sha256));
	add_fact(writer, "Image",
		xasprintf("%zu bytes, %zu places of known content, SHA-256 %s",
			selftest->layout.image.len, selftest->layout.count,
			selftest->layout.hashes.sha256));
	add_table_tag(writer, true);
	free(processor);
}

/* The lowest score in the class of all runs that count. */
static struct selftest_score worst(const struct selftest *selftest, int class)
{
	struct selftest_score least = { 0 };
	bool some = false;

	for (size_t i = 0; i < selftest->count; i++) {
		const struct selftest_score *score = &selftest->runs[i].scores[class];

		if (selftest->runs[i].unsuited || (some && score->right >= least.right))
			continue;
		least = *score;
		some = true;
	}
	return least;
}

static void add_classes(struct protocol_writer *writer, const struct selftest *selftest)
{
	static const char *const names[] = { "CLASS", "PLANTED", "RIGHT", "RECALL", "REPORTED",
		"FITTING", "PRECISION" };
	static const int widths[] = { -13, 8, 8, 8, 8, 8, 9 };

	add_heading(writer, "By class, in the worst run");
	add_table_tag(writer, false);
	add_heads(writer, names, widths, 7);
	for (int class = 0; class < CLASSES; class ++) {
		struct selftest_score score = worst(selftest, class);

		add_row_tag(writer, false);
		add_cell(writer, -13, layout_class_name((enum layout_class) class));
		add_number(writer, 8, score.planted);
		add_number(writer, 8, score.right);
		add_share(writer, 8, score.right, score.planted);
		add_number(writer, 8, score.reported);
		add_number(writer, 8, score.fitting);
		add_share(writer, 9, score.fitting, score.reported);
		add_row_tag(writer, true);
	}
	add_table_tag(writer, true);
}

static void add_run(struct protocol_writer *writer, const struct selftest_run *run)
{
	char text[64];

	add_row_tag(writer, false);
	add_cell(writer, -10, run->engine);
	add_cell(writer, -12, run->kernel ? run->kernel : "-");
	add_cell(writer, -8, run->nested ? "nested" : "plain");
	snprintf(text, sizeof(text), "%" PRIu64 " KiB", run->chunk_size >> 10);
	add_cell(writer, 8, run->chunk_size ? text : "default");
	snprintf(text, sizeof(text), "%u", run->threads);
	add_cell(writer, 7, run->threads ? text : "all");
	add_number(writer, 6, run->files);
	add_cell(writer, -4, run->unsuited ? "-" : run->same ? "yes" : "NO");
	snprintf(text, sizeof(text), "%.2f", run->seconds);
	add_cell(writer, 7, text);
	add_cell(writer, -7,
		run->unsuited   ? "not for these rules"
		: *run->problem ? "FAILED"
				: "passed");
	add_row_tag(writer, true);
}

static void add_runs(struct protocol_writer *writer, const struct selftest *selftest)
{
	static const char *const names[] = { "ENGINE", "KERNEL", "MODE", "CHUNKS", "THREADS",
		"FILES", "SAME", "SECONDS", "RESULT" };
	static const int widths[] = { -10, -12, -8, 8, 7, 6, -4, 7, -7 };

	add_heading(writer, "Runs (same: the files of the first run of that mode, byte for byte)");
	add_table_tag(writer, false);
	add_heads(writer, names, widths, 9);
	for (size_t i = 0; i < selftest->count; i++)
		add_run(writer, &selftest->runs[i]);
	add_table_tag(writer, true);
}

static void add_sentence(struct protocol_writer *writer, char *text)
{
	strbuf_text(&writer->line, writer->page ? "<p>" : "");
	(writer->page ? strbuf_xml : strbuf_clean)(&writer->line, text);
	strbuf_text(&writer->line, writer->page ? "</p>\n" : "\n");
	free(text);
}

static void add_problems(struct protocol_writer *writer, const struct selftest *selftest)
{
	char *absent = xcalloc(selftest->absent.len + 1, 1), *rest = absent, *line;

	if (selftest->absent.len) {
		memcpy(absent, selftest->absent.data, selftest->absent.len);
		add_heading(writer, "Not available on this machine");
	}
	while ((line = strsep(&rest, "\n")))
		if (*line)
			add_sentence(writer, xstrdup(line));
	free(absent);
	if (selftest_passed(selftest))
		return;
	add_heading(writer, "What failed");
	if (selftest->signal)
		add_sentence(writer, xasprintf("interrupted by signal %d", selftest->signal));
	for (size_t i = 0; i < selftest->count; i++) {
		const struct selftest_run *run = &selftest->runs[i];

		if (*run->problem)
			add_sentence(
				writer, xasprintf("%s%s%s: %s", run->engine, run->kernel ? " " : "",
						run->kernel ? run->kernel : "", run->problem));
	}
}

static int finish(struct protocol_writer *writer, FILE *stream)
{
	strbuf_write(&writer->line, stream);
	strbuf_free(&writer->line);
	return ferror(stream) || fflush(stream) ? -EIO : 0;
}

static void add_all(struct protocol_writer *writer, const struct selftest *selftest)
{
	add_facts(writer, selftest);
	add_classes(writer, selftest);
	add_runs(writer, selftest);
	add_problems(writer, selftest);
}

int selftest_text(const struct selftest *selftest, FILE *stream)
{
	struct protocol_writer writer = { .page = false };

	strbuf_text(&writer.line, "Protocol of burin's selftest\n\n");
	add_all(&writer, selftest);
	return finish(&writer, stream);
}

int selftest_page(const struct selftest *selftest, FILE *stream)
{
	struct protocol_writer writer = { .page = true };

	strbuf_text(&writer.line,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<title>Protocol of burin's selftest</title>\n<style>\n"
		":root{color-scheme:light dark}\n"
		"body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem "
		"auto;max-width:60rem;padding:0 1rem}\n"
		"table{border-collapse:collapse}th,td{border-bottom:1px solid #8886;padding:.15rem "
		".6rem;text-align:left;overflow-wrap:anywhere}\nth{white-space:nowrap}\n"
		".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
		"h1{font-size:1.4rem}h2{font-size:1.1rem}\n@media "
		"print{body{margin:0;font-size:11px}}\n"
		"</style></head><body>\n<h1>Protocol of burin's selftest</h1>\n");
	add_all(&writer, selftest);
	strbuf_text(&writer.line, "</body></html>\n");
	return finish(&writer, stream);
}
