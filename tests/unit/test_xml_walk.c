/* The walk through XML that the carvers of its vocabularies share. */
#include "carver_case.h"

#include "carvers/common/xml_scan.h"
#include "carvers/common/xml_walk.h"

static enum xml_end walk_bytes(const void *bytes, size_t len, struct xml *xml)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct view *view;
	enum xml_end end;

	memcpy(copy, bytes, len);
	view = view_new_memory(copy, len);
	end = xml_walk(view, xml);
	view_free(view);
	free(copy);
	return end;
}

static enum xml_end walk(const char *document, struct xml *xml)
{
	memset(xml, 0, sizeof(*xml));
	return walk_bytes(document, strlen(document), xml);
}

static void expect_complete(const char *document, size_t root_end, size_t end)
{
	struct xml xml;

	cr_assert_eq(walk(document, &xml), XML_COMPLETE, "%s: %s", document, xml.problem);
	cr_assert_eq(xml.root_end, root_end, "%s: root's end %zu", document, (size_t)xml.root_end);
	cr_assert_eq(xml.end, end, "%s: end %zu", document, (size_t)xml.end);
}

/* Broken at `at`, which is also the end of the valid part, unless the test says otherwise. */
static void expect_broken(const char *document, size_t at, size_t valid_end, const char *problem)
{
	struct xml xml;

	cr_assert_eq(walk(document, &xml), XML_BROKEN, "%s", document);
	cr_assert_eq(xml.problem_at, at, "%s: at %zu: %s", document, (size_t)xml.problem_at,
		xml.problem);
	cr_assert_eq(
		xml.valid_end, valid_end, "%s: valid end %zu", document, (size_t)xml.valid_end);
	cr_assert_str_eq(xml.problem, problem, "%s", document);
}

Test(xml_walk, documents_end_with_their_root)
{
	expect_complete("<a/>", 4, 4);
	expect_complete("<a></a>", 7, 7);
}

Test(xml_walk, markup_of_all_kinds)
{
	expect_complete("<a b='1>' c = \"/>\" />junk", 21, 21);
	expect_complete("<_a:b-1.c><x/>t</_a:b-1.c>", 26, 26);
	expect_complete("<a><!-- <b> -- --- --></a >", 27, 27);
	expect_complete("<a><![CDATA[</a> ]] ]]]></a>", 28, 28);
	expect_complete("<a><?php echo '</a>' ?"
			"?></a>",
		28, 28);
	expect_complete("<?xml version='1.0'?><!--c--><?pi?>\n<a/>", 40, 40);
	expect_complete("<!DOCTYPE a><a/>", 16, 16);
	expect_complete(
		"<!DOCTYPE a PUBLIC '-//>//' \"[\" [<!ENTITY x \"]>\"><!-- ]>' --><?p ]> ?>] ><a/>",
		77, 77);
}

Test(xml_walk, what_may_follow_the_root)
{
	expect_complete("<a/>\n", 4, 5);
	expect_complete("<a/>\r\n\r\n", 4, 8);
	expect_complete("<a/>  \n  x", 4, 7);
	expect_complete("<a/>  x", 4, 4);
	expect_complete("<a/>\n<!-- c -->\n<?pi ?>\n", 4, 24);
	expect_complete("<a/>\n<!-- c", 4, 5);
	expect_complete("<a/>\n<?xml version='1.0'?><b/>", 4, 5);
	/* The comment may be the next document's. */
	expect_complete("<a/>\n<!-- c -->\n<b/>", 4, 5);
	expect_complete("<a/>\n<!DOCTYPE b>", 4, 5);
}

Test(xml_walk, what_breaks_a_document)
{
	expect_broken("<a><b></a>", 9, 9, "the end of an element that is not open");
	expect_broken("<a><b c></a>", 7, 7, "an attribute without a value");
	expect_broken("<a><b c=d></a>", 8, 8, "a value without quotes");
	expect_broken("<a><b c='<'></a>", 9, 9, "'<' in an attribute's value");
	expect_broken("<a><1/></a>", 4, 4, "a name is missing");
	expect_broken("<a><b / ></a>", 7, 7, "a tag that is not closed");
	expect_broken("<a><!DOCTYPE a></a>", 12, 12, "a document type inside the document");
	expect_broken("<a><![IGNORE[]]></a>", 6, 6, "an invalid CDATA section");
	expect_broken(
		"<a>text<?xml version='1.0'?>", 12, 12, "the declaration of another document");
	expect_broken("<a>te\x01xt</a>", 5, 5, "a character that XML does not have");
	expect_broken("text<a/>", 0, 0, "text outside the root");
	expect_broken("</a>", 3, 0, "the end of an element that is not open");
	expect_broken("<![CDATA[x]]><a/>", 2, 0, "a CDATA section outside the root");
}

Test(xml_walk, bytes_that_are_not_utf8)
{
	struct xml xml;

	/* A remark if the document continues; its end if it does not. */
	cr_assert_eq(walk("<a>\xe4rger</a>", &xml), XML_COMPLETE);
	cr_assert_eq(xml.odd_at, 4);
	cr_assert_eq(walk("<a>\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80</a>", &xml), XML_COMPLETE);
	cr_assert_eq(xml.odd_at, 0);
	cr_assert_eq(walk("<a>x</a>\xff\xff", &xml), XML_COMPLETE);
	cr_assert_eq(xml.odd_at, 0);
	expect_broken("<a>text \xe4rg\xff \x01", 13, 9, "a character that XML does not have");
	cr_assert_eq(walk("<?xml version='1.0' encoding='windows-1252'?><a>\xe4</a>", &xml),
		XML_COMPLETE);
	cr_assert_eq(xml.odd_at, 0);
}

Test(xml_walk, utf16_in_both_byte_orders_with_and_without_a_bom)
{
	static const char text[] = "<a><title>x</title></a>\n";

	for (int kind = 0; kind < 4; kind++) {
		struct xml xml = { .title_name = "title", .title_depth = 2 };
		struct bytes bytes = { 0 };
		size_t bom = kind & 2 ? 2 : 0;

		if (bom)
			bytes_add(&bytes, kind & 1 ? "\xfe\xff" : "\xff\xfe", 2);
		for (size_t i = 0; i < sizeof(text) - 1; i++) {
			uint16_t unit = text[i] == 'x' ? 0x20ac : (uint8_t)text[i];

			if (kind & 1)
				bytes_add_be(&bytes, unit, 2);
			else
				bytes_add_le(&bytes, unit, 2);
		}
		cr_assert_eq(
			walk_bytes(bytes.data, bytes.len, &xml), XML_COMPLETE, "%s", xml.problem);
		cr_assert_eq(xml.root_end, bytes.len - 2);
		cr_assert_eq(xml.end, bytes.len);
		cr_assert_str_eq(xml.title, "\xe2\x82\xac");
		xml = (struct xml){ 0 };
		cr_assert_eq(walk_bytes(bytes.data, bom + 11, &xml), XML_CUT);
		free(bytes.data);
	}
}

Test(xml_walk, properties_of_a_document)
{
	struct xml xml = { .title_name = "title", .title_depth = 2 };
	static const char text[] =
		"\xef\xbb\xbf<?xml version='1.0'?><!DOCTYPE s:svg><s:svg xmlns='x'"
		" xmlns:s='http://s'><g><title>deep</title></g>"
		"<s:title>A <b>c</b>d</s:title><title>2</title></s:svg>";

	cr_assert_eq(walk_bytes(text, strlen(text), &xml), XML_COMPLETE, "%s", xml.problem);
	cr_assert_eq(xml.end, strlen(text));
	cr_assert(xml.declared);
	cr_assert_str_eq(xml.doctype, "s:svg");
	cr_assert_str_eq(xml.root, "s:svg");
	cr_assert_str_eq(xml_local_name(xml.root), "svg");
	cr_assert_str_eq(xml.name_space, "http://s");
	cr_assert_str_eq(xml.title, "A d");
	cr_assert_eq(xml.tag_count, 12);
}

Test(xml_walk, another_root_than_the_wanted_one_ends_it)
{
	struct xml xml = { .want_root = "svg" };

	cr_assert_eq(walk_bytes("<html><svg/></html>", 19, &xml), XML_OTHER);
	cr_assert_str_eq(xml.root, "html");
	cr_assert_eq(xml.problem_at, 5);
}

Test(xml_walk, cut_documents)
{
	static const char text[] =
		"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a b='c'>x<!--d--><e>"
		"<![CDATA[f]]></e></a>";

	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		struct xml xml = { 0 };

		cr_assert_eq(walk_bytes(text, len, &xml), XML_CUT, "%zu", len);
		cr_assert_eq(xml.problem_at, len);
		if (len > 60)
			cr_assert_eq(xml.valid_end, len);
		else
			cr_assert_leq(xml.valid_end, len);
	}
}

Test(xml_walk, depth_is_bounded)
{
	struct xml xml = { 0 };
	struct bytes bytes = { 0 };

	for (int i = 0; i < 1024; i++)
		bytes_add(&bytes, "<a>", 3);
	for (int i = 0; i < 1024; i++)
		bytes_add(&bytes, "</a>", 4);
	cr_assert_eq(walk_bytes(bytes.data, bytes.len, &xml), XML_COMPLETE, "%s", xml.problem);
	cr_assert_eq(xml.tag_count, 2048);
	bytes.len = 1024 * 3;
	bytes_add(&bytes, "<a></a>", 7);
	xml = (struct xml){ 0 };
	cr_assert_eq(walk_bytes(bytes.data, bytes.len, &xml), XML_BROKEN);
	cr_assert_str_eq(xml.problem, "elements nested too deep");
	free(bytes.data);
}

Test(xml_walk, endless_text_is_not_the_documents)
{
	struct xml xml = { 0 };
	struct bytes bytes = { 0 };

	bytes_add(&bytes, "<a>one<b/>", 10);
	bytes_fill(&bytes, 'x', 100000);
	cr_assert_eq(walk_bytes(bytes.data, bytes.len, &xml), XML_CUT);
	cr_assert_eq(xml.valid_end, 10);
	/* The same with markup after it is one long text. */
	bytes_add(&bytes, "</a>", 4);
	xml = (struct xml){ 0 };
	cr_assert_eq(walk_bytes(bytes.data, bytes.len, &xml), XML_COMPLETE);
	free(bytes.data);
}

Test(xml_walk, bytes_of_a_wiped_area_are_not_the_documents)
{
	struct xml xml = { 0 };
	struct bytes bytes = { 0 };

	bytes_add(&bytes, "<?xml version='1.0' encoding='iso-8859-1'?><a>text", 50);
	bytes_fill(&bytes, 0xff, 500);
	bytes_add(&bytes, "", 1);
	cr_assert_eq(walk_bytes(bytes.data, bytes.len, &xml), XML_BROKEN);
	cr_assert_eq(xml.problem_at, 550);
	cr_assert_eq(xml.valid_end, 50);
	free(bytes.data);
}

/* How many bytes may be XML that is decompressed piece by piece. */
static size_t scan(const char *document, size_t piece)
{
	struct xml_scan scan = { 0 };
	size_t len = strlen(document), at = 0;

	while (at < len && xml_scan_feed(&scan, (const uint8_t *)document + at,
				   piece < len - at ? piece : len - at))
		at += piece < len - at ? piece : len - at;
	return at;
}

#define DECLARED "<?xml version='1.0'?>"

Test(xml_scan, markup_that_fits)
{
	static const char *const fits[] = {
		DECLARED "\n<a><b c = \">\"/></a>",
		DECLARED "<a x:y='\"'  z=\"'>\" ><?b c?>t\xc3\xa4 > \" <b.1 /></a >\r\n",
		DECLARED "<!DOCTYPE a \"b\"><a>",
		DECLARED "<!----><a><!-- > -- <<< --->t<!-- ]]> --></a>",
		DECLARED "<a><![CDATA[ --> ]> <b </a> ]]]><b/></a>",
		DECLARED "<!DOCTYPE a [<",
		"<a><<",
		"\x89PNG",
	};

	for (size_t i = 0; i < sizeof(fits) / sizeof(*fits); i++)
		for (size_t piece = 1; piece < 9; piece += 7)
			cr_expect_eq(scan(fits[i], piece), strlen(fits[i]), "%s", fits[i]);
}

/* The last byte does not. */
Test(xml_scan, markup_that_does_not)
{
	static const char *const rows[] = {
		DECLARED "a",
		DECLARED "<<",
		DECLARED "<a b<",
		DECLARED "<a b='<",
		DECLARED "<a b='c'd",
		DECLARED "<a b c",
		DECLARED "<a b=c",
		DECLARED "<a 1",
		DECLARED "<a/b",
		DECLARED "<a></a/",
		DECLARED "<a><b></a>",
		DECLARED "<a></a></a>",
		DECLARED "<!DOCTYPE a><a>text\1",
		DECLARED "<a><!-- b --></b>",
		DECLARED "<a><!-- \1",
		DECLARED "<a><!->",
		DECLARED "<a><![CDATA[b]]></b>",
		DECLARED "<a><![CDATA ",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_eq(scan(rows[i], 1), strlen(rows[i]) - 1, "%s", rows[i]);
}

/* ---- files in pieces ------------------------------------------------------------------------ */

#define LONG_LEN ((size_t)40000)

/* A document with all kinds of markup: its length. */
static size_t make_long(char *document)
{
	size_t len = (size_t)sprintf(document, "<?xml version='1.0'?><!DOCTYPE a:list><a:list "
					       "xmlns:a='urn:x'><title>Größe</title>");

	for (unsigned i = 0; len < LONG_LEN - 400; i++)
		len += (size_t)sprintf(document + len,
			"<item n='%u'><b>text %u</b><!-- a comment --><![CDATA[ <%u> ]]><?go "
			"on?><c/>\n%s",
			i, i * 7, i, i % 3 == 2 ? "</item></item></item>" : "");
	return len + (size_t)sprintf(document + len, "<!-- the end -->");
}

/* A check that goes on from a state finds what one from the beginning finds, whatever follows. */
Test(xml_walk, goes_on_from_a_state)
{
	static const char *const rests[] = { "</item><b>x</b>", "<<", "\0", "<item",
		"</b></a:list>" };
	static char document[LONG_LEN + 400], other[sizeof(document)];
	const struct carver *carver = carver_find("xml");
	size_t len = make_long(document), states = 0;
	struct view *saving = view_new_memory((const uint8_t *)document, len);
	struct finding found = { 0 };

	view_keep_states(saving, 64);
	cr_assert_eq(carver->check(saving, &found), CARVE_TRUNCATED, "%s", found.why);
	for (size_t cut = 500; cut < len; cut += 321) {
		const struct carve_state *state = view_state_before(saving, cut);
		const char *rest = rests[cut % 5];
		struct finding from_start = { 0 }, from_state = { 0 };
		struct view *view;
		enum verdict verdict;
		uint64_t work;

		if (!state)
			continue;
		states++;
		cr_assert_leq(state->offset, cut);
		view = view_new_memory((const uint8_t *)other, len);
		memcpy(other, document, len);
		memcpy(other + cut, rest,
			strlen(rest) + 1 < len - cut ? strlen(rest) + 1 : len - cut);
		verdict = carver->check(view, &from_start);
		work = view_work_done(view);
		view_free(view);
		view = view_new_memory((const uint8_t *)other, len);
		cr_expect_eq(carver->resume(view, state, &from_state), verdict, "%zu", cut);
		cr_expect_eq(from_state.length, from_start.length, "%zu", cut);
		cr_expect_str_eq(from_state.why, from_start.why);
		cr_expect_str_eq(from_state.title, from_start.title);
		cr_expect_str_eq(from_state.extension, from_start.extension);
		cr_expect_lt(view_work_done(view), work);
		view_free(view);
	}
	cr_expect_gt(states, 100);
	view_free(saving);
}

/* Of many layouts most are wrong soon after a joint: a trial looks little farther. */
Test(xml_walk, a_trial_looks_little_ahead)
{
	static char document[LONG_LEN + 400];
	size_t len = make_long(document);
	struct finding found = { 0 };
	struct view *view;

	document[20000] = 1;
	view = view_new_memory((const uint8_t *)document, len);
	view_set_trial(view, true);
	carver_find("xml")->check(view, &found);
	cr_expect_leq(found.length, 20000);
	cr_expect_gt(view_reach(view), 20000);
	cr_expect_leq(view_reach(view), 20000 + 4096);
	view_free(view);
}
