/* The summary may be hostile: its text goes through strbuf_xml, and of a folder only the name counts, every
 * byte of which that is not plain is written as a number in the link. */
#include "page/batch_page.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "page/page_data.h"
#include "report/report.h"

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>A batch - burin</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px/1.45 system-ui,sans-serif;margin:1.5rem auto;max-width:80rem;padding:0 "
	"1rem}\n"
	"div{overflow-x:auto}table{border-collapse:collapse;width:100%}\n"
	"th,td{border-bottom:1px solid #8886;padding:.3rem "
	".5rem;text-align:left;vertical-align:top}\n"
	"td{overflow-wrap:anywhere;min-width:4rem}td:first-child{min-width:12rem}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
	".bad>td:first-child{border-left:4px solid #c33}\n"
	"@media print{body{max-width:none;font-size:10pt}}\n"
	"</style></head><body>\n<h1>A batch</h1>\n";

static void text(struct strbuf *page, const char *before, const char *value, const char *after)
{
	strbuf_text(page, before);
	strbuf_xml(page, value ? value : "");
	strbuf_text(page, after);
}

static const char *field(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

static void add_size(struct strbuf *page, uint64_t bytes)
{
	char size[16];

	strbuf_print(page, "<td class=\"n\">%s</td>", size_print(bytes, size));
}

/* The image's name, as a link where its folder has a page. */
static void add_name(struct strbuf *page, int dir_fd, const json_t *image)
{
	const char *name = text_file_name(field(image, "folder"));
	char *path = xasprintf("%s/" PAGE_NAME, name);
	bool linked = *name && strcmp(name, "..") != 0 && faccessat(dir_fd, path, F_OK, 0) == 0;

	strbuf_text(page, linked ? "<td><a href=\"" : "<td>");
	for (const char *c = name; linked && *c; c++)
		strbuf_print(page, "%%%02x", (unsigned char)*c);
	text(page, linked ? "/" PAGE_NAME "\">" : "", field(image, "image"),
		linked ? "</a></td>" : "</td>");
	free(path);
}

static void add_image(struct strbuf *page, int dir_fd, const json_t *image)
{
	const json_t *exit = json_object_get(image, "exit");
	const char *evidence = field(image, "evidence");
	bool begun = json_is_integer(exit);

	strbuf_text(page, begun && !json_integer_value(exit) ? "<tr>" : "<tr class=\"bad\">");
	add_name(page, dir_fd, image);
	strbuf_print(page, "<td class=\"n\">%" PRIu64 "</td>", number(image, "files"));
	add_size(page, number(image, "bytes"));
	add_size(page, number(image, "size"));
	text(page, "<td>", strcmp(evidence, "none") == 0 ? "not hashed" : evidence, "</td>");
	if (begun)
		strbuf_print(page, "<td class=\"n\">%d</td>", (int)json_integer_value(exit));
	else
		strbuf_text(page, "<td class=\"n\">-</td>");
	text(page, "<td>", begun ? field(image, "problem") : "not started", "</td></tr>\n");
}

static void add_images(struct strbuf *page, int dir_fd, const json_t *images)
{
	uint64_t files = 0, bytes = 0;
	const json_t *image;
	size_t i;

	strbuf_text(page, "<div><table><thead><tr><th>Image</th><th class=\"n\">Files</th><th "
			  "class=\"n\">Bytes</th>"
			  "<th class=\"n\">Of</th><th>Evidence</th><th "
			  "class=\"n\">Exit</th><th>Problem</th></tr></thead><tbody>\n");
	json_array_foreach(images, i, image)
	{
		add_image(page, dir_fd, image);
		files += number(image, "files");
		bytes += number(image, "bytes");
	}
	strbuf_print(page, "</tbody><tfoot><tr><th>%zu in all</th><th class=\"n\">%" PRIu64 "</th>",
		json_array_size(images), files);
	add_size(page, bytes);
	strbuf_text(page, "<th colspan=\"4\"></th></tr></tfoot></table></div>\n");
}

static void add_not_taken(struct strbuf *page, const json_t *list)
{
	const json_t *one;
	size_t i;

	if (!json_array_size(list))
		return;
	strbuf_text(page, "<h2>Not carved</h2>\n<ul>\n");
	json_array_foreach(list, i, one)
	{
		text(page, "<li>", field(one, "path"), ": ");
		text(page, "", field(one, "reason"), "</li>\n");
	}
	strbuf_text(page, "</ul>\n");
}

static int write_page(int dir_fd, const json_t *batch, struct error *error)
{
	struct strbuf page = { 0 };
	FILE *file;
	int status;

	strbuf_text(&page, head);
	text(&page, "<p>burin ", field(batch, "burin"), ", ");
	text(&page, "", field(batch, "started"), " to ");
	text(&page, "", field(batch, "finished"), " (UTC).</p>\n");
	add_images(&page, dir_fd, json_object_get(batch, "images"));
	add_not_taken(&page, json_object_get(batch, "not_taken"));
	strbuf_text(&page, "</body></html>\n");
	status = page_data_create(dir_fd, PAGE_NAME, &file, error);
	if (!status) {
		strbuf_write(&page, file);
		status = page_data_close(file, PAGE_NAME, error);
	}
	strbuf_free(&page);
	return status;
}

int batch_page_write(const char *folder, struct error *error)
{
	char *path = xasprintf("%s/batch.json", folder);
	json_t *batch = json_load_file(path, 0, NULL);
	int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;

	if (dir_fd < 0 || !batch)
		status =
			error_set(error, EXIT_IO, EIO, "cannot read the batch's summary, %s", path);
	else
		status = write_page(dir_fd, batch, error);
	if (dir_fd >= 0)
		close(dir_fd);
	json_decref(batch);
	free(path);
	return status;
}
