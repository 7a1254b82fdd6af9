/*
 * page.html is written with its @WORDS@ replaced: @NONCE@ by a number of this page alone, which its
 * content security policy requires of every script and style, so that nothing that might slip into
 * the page from the evidence could run; @STYLE@, @PROGRAM@ and @DATA@ by elements.
 */
#include "page/page_text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "page/page.h"
#include "report/report.h"

/* The assembler includes the file as it is, and adds a zero. */
#define EMBED(name, path) \
	__asm__(".pushsection .rodata\n" \
		".global page_" #name "\n" \
		"page_" #name ":\n" \
		".incbin \"src/page/assets/" path "\"\n" \
		".byte 0\n" \
		".popsection\n"); \
	extern const char page_##name[]

EMBED(html, "page.html");
EMBED(style, "page.css");
EMBED(base, "base.js");
EMBED(data, "data.js");
EMBED(filter, "filter.js");
EMBED(list, "list.js");
EMBED(preview, "preview.js");
EMBED(details, "details.js");
EMBED(summary, "summary.js");
EMBED(table, "table.js");
EMBED(map, "map.js");
EMBED(content, "content.js");
EMBED(map_input, "map_input.js");
EMBED(gallery, "gallery.js");
EMBED(alike, "alike.js");
EMBED(groups, "groups.js");
EMBED(timeline, "timeline.js");
EMBED(outline, "outline.js");
EMBED(places, "places.js");
EMBED(export, "export.js");
EMBED(app, "app.js");

/* Each needs those before it. */
static const char *const programs[] = { page_base, page_data, page_filter, page_list, page_preview,
	page_details, page_summary, page_table, page_map, page_content, page_map_input,
	page_gallery, page_alike, page_groups, page_timeline, page_outline, page_places,
	page_export, page_app };

struct writer {
	FILE *file;
	const struct page_data *data;
	const struct strbuf *begin;
	char nonce[33];
};

static void make_nonce(char nonce[33])
{
	uint64_t random[2] = { 0 };

	while (getrandom(random, sizeof(random), 0) != sizeof(random))
		;
	snprintf(nonce, 33, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
}

static void open_script(const struct writer *writer)
{
	fprintf(writer->file, "<script nonce=\"%s\">\n", writer->nonce);
}

static void close_script(const struct writer *writer)
{
	fputs("</script>\n", writer->file);
}

static void write_nonce(const struct writer *writer)
{
	fputs(writer->nonce, writer->file);
}

static void write_style(const struct writer *writer)
{
	fprintf(writer->file, "<style nonce=\"%s\">\n%s</style>", writer->nonce, page_style);
}

static void write_program(const struct writer *writer)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		open_script(writer);
		fputs(programs[i], writer->file);
		close_script(writer);
	}
}

static void write_data(const struct writer *writer)
{
	const struct page_data *data = writer->data;

	for (unsigned i = 1; i <= data->part_count; i++)
		fprintf(writer->file,
			"<script nonce=\"%s\" src=\"" PAGE_DATA_DIR "%04u.js\"></script>\n",
			writer->nonce, i);
	open_script(writer);
	if (data->part.len) { /* not in files, and not empty */
		fputs("burin.part(\"", writer->file);
		fwrite(data->part.bytes, 1, data->part.len, writer->file);
		fputs("\");\n", writer->file);
	}
	fwrite(writer->begin->bytes, 1, writer->begin->len, writer->file);
	close_script(writer);
}

static const struct {
	const char *word;
	void (*write)(const struct writer *writer);
} words[] = {
	{ "@NONCE@", write_nonce },
	{ "@STYLE@", write_style },
	{ "@PROGRAM@", write_program },
	{ "@DATA@", write_data },
};

/* Writes the replacement of the word at text. Returns the word's length, 0 when there is none. */
static size_t write_word(const struct writer *writer, const char *text)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i].word);

		if (strncmp(text, words[i].word, len) == 0) {
			words[i].write(writer);
			return len;
		}
	}
	return 0;
}

void page_text_write(FILE *file, const struct page_data *data, const struct strbuf *begin)
{
	struct writer writer = { .file = file, .data = data, .begin = begin };
	const char *text = page_html;

	make_nonce(writer.nonce);
	while (*text) {
		size_t len = *text == '@' ? write_word(&writer, text) : 0;

		if (!len)
			fputc(*text++, file);
		text += len;
	}
}
