/* Checks of texts that go on from states: RTF, PostScript, EPS with a preview, HTML. */
#include "carver_case.h"

enum { TEXT_LEN = 40000, LINE_COUNT = 900 };

static void add(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

/* Documents with all that a walk keeps, in lines that differ; none has its end. */
static const struct format {
	const char *carver, *head, *lines[4];
} formats[] = {
	{ "rtf",
		"{\\rtf1\\ansi\\ansicpg1252\\uc1{\\info{\\title A "
		"sea}{\\creatim\\yr2020\\mo2\\dy1}}",
		{ "\\par \\b%u\\b0 sea{\\i rose}\r\n", "\\'e9\\u233?x %u\\tab\r\n",
			"{\\pict\\bin3 {{%c}\r\n", "\\cell\\row %u\r\n" } },
	{ "ps", "%!PS-Adobe-3.0 EPSF-3.0\n%%Title: (A sea)\n%%Pages: 9\n%%EndComments\n",
		{ "%u 3 moveto (a) show\r\n", "%%%%Page: %u 1\r\n",
			"%%%%BeginData: 3 ASCII Bytes\n%%%c\001%%%%EndData\n",
			"gsave %u setgray grestore\n" } },
	{ "eps", "%!PS-Adobe-3.0 EPSF-3.0\n%%Title: (A sea)\n%%Pages: 9\n%%EndComments\n",
		{ "%u 3 moveto (a) show\r\n", "%%%%Page: %u 1\r\n", "%%%%BeginFont: f%u\n",
			"%%%%EndFont %u\n" } },
	{ "html", "<!DOCTYPE html>\n<html><head><title>A sea</title></head><body>\n",
		{ "<p class=\"a\">%u</p>\n", "<div><!-- %u --><ul><li>a</ul>\n",
			"<script>if (a < %u) b()</script>\n", "</div><br/>%u\n" } },
};

static struct bytes document(const struct format *format)
{
	struct bytes bytes = { 0 };
	char line[128];

	if (strcmp(format->carver, "eps") == 0) {
		uint8_t header[30] = { 0xc5, 0xd0, 0xd3, 0xc6, 30 };

		header[8] = TEXT_LEN & 255;
		header[9] = TEXT_LEN >> 8;
		bytes_add(&bytes, header, sizeof(header));
	}
	add(&bytes, format->head);
	for (unsigned i = 0; i < LINE_COUNT; i++) {
		snprintf(line, sizeof(line), format->lines[i % 4], i % 4 == 2 ? 'a' : i);
		add(&bytes, line);
	}
	return bytes;
}

static struct view *view_of_trial(const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);

	view_set_trial(view, true);
	return view;
}

/* A check that goes on from a state finds what one from the beginning finds, whatever follows. */
Test(text_states, go_on_as_from_the_beginning)
{
	static const char *const rests[] = { "}}}}", "\nshowpage\n%%Trailer\n%%EOF\n", "\001\002",
		"</body></html>", "\\rtf1 {\\rtf1 ", "\n%!PS-Adobe-2.0\n", "\n\n \\n<html><body>" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		const struct carver *carver = carver_find(formats[i].carver);
		struct bytes bytes = document(&formats[i]), other = { 0 };
		struct view *saving = view_new_memory(bytes.data, bytes.len);
		struct finding found = { 0 };
		unsigned states = 0;

		bytes_add(&other, bytes.data, bytes.len);
		view_keep_states(saving, 64);
		carver->check(saving, &found);
		for (size_t at = 1300; at + 64 < bytes.len; at += 997) {
			const struct carve_state *state = view_state_before(saving, at);
			size_t cut = state ? state->offset : 0;
			const char *rest = rests[at % (sizeof(rests) / sizeof(*rests))];
			struct finding from_start = { 0 }, from_state = { 0 };
			enum verdict verdict;
			struct view *view;
			uint64_t work;

			if (!state)
				continue;
			states++;
			cr_assert_leq(cut, at);
			/* There the state could have seen too much. */
			memcpy(other.data, bytes.data, bytes.len);
			memcpy(other.data + cut, rest, strlen(rest));
			view = view_of_trial(&other);
			verdict = carver->check(view, &from_start);
			work = view_work_done(view);
			view_free(view);
			view = view_of_trial(&other);
			cr_expect_eq(carver->resume(view, state, &from_state), verdict, "%s %zu %s",
				carver->name, cut, from_start.why);
			cr_expect_eq(
				from_state.length, from_start.length, "%s %zu", carver->name, cut);
			cr_expect_str_eq(from_state.why, from_start.why);
			cr_expect_str_eq(from_state.title, from_start.title);
			cr_expect_eq(from_state.time, from_start.time);
			cr_expect_eq(from_state.extension, from_start.extension);
			if (cut > 8192)
				cr_expect_lt(
					view_work_done(view), work, "%s %zu", carver->name, cut);
			view_free(view);
		}
		cr_expect_gt(states, 10, "%s %u", carver->name, states);
		view_free(saving);
		free(bytes.data);
		free(other.data);
	}
}

/* A page of XHTML is XML: the states are XML's. */
Test(text_states, html_in_xml_saves_none)
{
	static const char page[] = "<?xml version=\"1.0\"?>\n<html><body>\n";
	struct finding found = { 0 }, from_state = { 0 };
	const struct carve_state *state;
	struct bytes bytes = { 0 };
	struct view *view, *again;

	add(&bytes, page);
	for (unsigned i = 0; i < LINE_COUNT; i++)
		add(&bytes, "<br><p>sea, rose; nobody came over to ask</p>\n");
	add(&bytes, "</body></html>\n");
	view = view_new_memory(bytes.data, bytes.len);
	view_keep_states(view, 64);
	cr_assert_eq(carver_find("xml")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	state = view_state_before(view, bytes.len);
	cr_assert_not_null(state);
	again = view_new_memory(bytes.data, bytes.len);
	cr_expect_eq(carver_find("xml")->resume(again, state, &from_state), CARVE_COMPLETE);
	cr_expect_eq(from_state.length, found.length);
	view_free(again);
	view_free(view);
	free(bytes.data);
}

/* From a state after the root's end the walk would look for more. */
Test(text_states, xml_saves_none_after_its_root)
{
	struct bytes bytes = { 0 };
	struct finding found = { 0 };
	struct view *view;

	add(&bytes, "<?xml version=\"1.0\"?>\n<list>");
	bytes_fill(&bytes, 'a', 2000);
	add(&bytes, "</list>\n");
	view = view_new_memory(bytes.data, bytes.len);
	view_keep_states(view, 64);
	cr_expect_eq(carver_find("xml")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_null(view_state_before(view, bytes.len + 1));
	view_free(view);
	free(bytes.data);
}
