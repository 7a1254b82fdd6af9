/*
 * The comparison as one page: a table without scripts, in a file that loads nothing. All text from
 * reports goes through strbuf_xml, which cleans and escapes it; none goes into an attribute.
 */
#include <errno.h>
#include <inttypes.h>

#include "compare/compare.h"
#include "base/strbuf.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<title>Two runs compared</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px/1.45 system-ui,sans-serif;margin:1.5rem auto;max-width:80rem;padding:0 "
	"1rem}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{border-bottom:1px solid #8886;padding:.3rem "
	".5rem;text-align:left;vertical-align:top}\n"
	"td{overflow-wrap:break-word}td:nth-child(2),td:nth-child(3){min-width:15rem}\nth{position:"
	"sticky;top:0;background:Canvas}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
	".a>td:first-child{border-left:4px solid #c60}.b>td:first-child{border-left:4px solid "
	"#06c}\n"
	".d>td:first-child{border-left:4px solid #a3a}\n"
	"@media print{th{position:static}body{max-width:none}}\n"
	"</style></head><body>\n<h1>Two runs compared</h1>\n";

static void text(struct strbuf *line, const char *before, const char *value, const char *after)
{
	strbuf_text(line, before);
	strbuf_xml(line, value);
	strbuf_text(line, after);
}

static void number(struct strbuf *line, const char *before, uint64_t value, const char *after)
{
	strbuf_text(line, before);
	strbuf_number(line, value);
	strbuf_text(line, after);
}

static void add_side(struct strbuf *line, const char *name, const struct listing *listing)
{
	text(line, "<tr><th scope=\"row\">", name, "</th><td>");
	text(line, "", listing_tool_name(listing->tool), " ");
	text(line, "", listing->version, "</td><td>");
	text(line, "", listing->path, "</td><td>");
	text(line, "", listing->image_path, "</td><td>");
	text(line, "", listing->rules_path, "</td>");
	number(line, "<td class=\"n\">", listing->count, "</td></tr>\n");
}

static void add_sums(struct strbuf *line, const struct comparison *comparison)
{
	number(line, "<p><b>", comparison->same, "</b> the same, ");
	number(line, "<b>", comparison->different, "</b> different, ");
	number(line, "<b>", comparison->only_a, "</b> in A alone, ");
	number(line, "<b>", comparison->only_b, "</b> in B alone.</p>\n<ul>");
	for (int why = COMPARE_SAME + 1; why < COMPARE_WHY_COUNT; why++)
		if (comparison->whys[why]) {
			text(line, "<li>", compare_why_name((enum compare_why)why), ": ");
			number(line, "", comparison->whys[why], "</li>");
		}
	strbuf_text(line, "</ul>\n");
}

static void add_file(struct strbuf *line, const struct listed *file)
{
	if (!file) {
		strbuf_text(line, "<td>\xe2\x80\x93</td>");
		return;
	}
	text(line, "<td>", file->path, "<br>");
	number(line, file->length_off ? "about " : "", file->length, " bytes");
	if (*file->status)
		text(line, ", ", file->status, "");
	strbuf_text(line, "</td>");
}

static void add_row(struct strbuf *line, const struct compared *row)
{
	const struct listed *any = row->a ? row->a : row->b;
	const char *class = !row->b ? "a" : !row->a ? "b" : "d";

	text(line, "<tr class=\"", class, "\">");
	number(line, "<td class=\"n\">", any->offset, "</td>");
	add_file(line, row->a);
	add_file(line, row->b);
	strbuf_text(line, "<td>");
	strbuf_text(line, !row->b ? "only in A" : !row->a ? "only in B" : "");
	for (unsigned bit = 0, some = 0; bit < DIFFERENCES; bit++)
		if (row->differences & 1u << bit)
			text(line, some++ ? ", " : "",
				compare_difference_name((enum compare_difference)(1u << bit)), "");
	text(line, "</td><td>", compare_why_name(row->why), "</td>");
	text(line, "<td>", row->text, "</td></tr>\n");
}

int compare_page(const struct comparison *comparison, FILE *stream)
{
	struct strbuf line = { 0 };

	strbuf_text(&line, head);
	strbuf_text(&line, "<table><tr><td></td><th>Tool</th><th>Report</th><th>Image</th>"
			   "<th>Rules</th><th>Files</th></tr>\n");
	add_side(&line, "A", comparison->a.listing);
	add_side(&line, "B", comparison->b.listing);
	strbuf_text(&line, "</table>\n");
	add_sums(&line, comparison);
	strbuf_text(&line,
		"<table><thead><tr><th class=\"n\">Offset</th><th>A</th><th>B</th>"
		"<th>Difference</th><th>Why</th><th>In words</th></tr></thead><tbody>\n");
	strbuf_write(&line, stream);
	for (size_t i = 0; i < comparison->count; i++)
		if (comparison->rows[i].why != COMPARE_SAME) {
			add_row(&line, &comparison->rows[i]);
			strbuf_write(&line, stream);
		}
	strbuf_text(&line, "</tbody></table>\n</body></html>\n");
	strbuf_write(&line, stream);
	strbuf_free(&line);
	return ferror(stream) || fflush(stream) ? -EIO : 0;
}
