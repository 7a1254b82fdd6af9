/*
 * PostScript, mostly with structuring comments, and EPS (Adobe, PostScript Language Document Structuring
 * Conventions 3.0; Encapsulated PostScript File Format 3.0); Type 1 fonts in their text form.
 *
 *	file: %!PS-Adobe-, lines of text, %%EOF
 *
 * Embedded documents have an %%EOF of their own between %%BeginDocument and %%EndDocument; a font between
 * %%BeginFont and %%EndFont starts like a document. Any data
 * may follow %%BeginBinary and %%BeginData, which state their length. All else is text: it ends at
 * a control character, a long run of one non-ASCII byte, or the beginning of another document.
 * Level 2 programs contain image data that no comment announces: if an %%EOF follows before another
 * file begins, the file ends there, but unverified; and so it does after a %%Trailer without an
 * %%EOF. Another number of pages than a comment states leaves the file unverified: its end may be another program's. Nothing
 * verifies announced data. A program without structuring comments has to have operators, and
 * may end with its text.
 */
#include "ps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "text_gap.h"
#include "text_joint.h"
#include "title.h"
#include "walk.h"

#define CHANCE_LEN 64

/* Whether other bytes than text follow the line that ends at `end`, and not from a sector on: nothing was cut. The next
 * line's first bytes may look like text by chance, up to broken_at. */
static bool ends_with_line(struct view *view, uint64_t end, uint64_t broken_at)
{
	const uint8_t *p;

	if (end % SECTOR == 0 || end / SECTOR != broken_at / SECTOR || broken_at - end > CHANCE_LEN)
		return false;
	if (broken_at == end) {
		p = view_peek(view, end, 1);
		return p && *p != '%'; /* and not another program */
	}
	p = view_peek(view, end, (size_t)(broken_at - end));
	for (uint64_t i = 0; p && i < broken_at - end; i++)
		if (p[i] >= 0x80)
			return true;
	return false;
}

/* The extension as a static string. */
static const char *find_extension(const char *name)
{
	static const char *const extensions[] = { "eps", "pfa", "t42", "ai" };

	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (strcmp(name, extensions[i]) == 0)
			return extensions[i];
	return "ps";
}

/* state: from where the walk goes on, or NULL. */
static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct ps ps = { 0 };
	enum ps_end end = ps_walk(view, state, 0, view_size(view), &ps);
	bool structured;

	if (end == PS_NONE)
		return verdict_because(CARVE_REJECT, finding, "no PostScript first line at 0");
	structured = ps.comment_count >= PS_COMMENTS_MIN;
	if (end != PS_WHOLE && !structured && ps.operator_count < PS_OPERATORS_MIN)
		return verdict_because(CARVE_REJECT, finding,
			"too few structuring comments and operators up to %" PRIu64, ps.end);
	finding->extension = find_extension(ps.extension);
	finding_set_title(finding, (const uint8_t *)ps.title, strlen(ps.title));
	finding->length = ps.end;
	switch (end) {
	case PS_WHOLE:
		if (ps.pages && ps.pages_stated > 1 && ps.pages != ps.pages_stated)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"%u pages begin, and %u are stated", ps.pages, ps.pages_stated);
		if (ps.page_jumps == 1)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the numbers of pages do not rise, before %" PRIu64, ps.end);
		return text_gap_verdict(view, false, finding);
	case PS_MISSING:
		return verdict_because(CARVE_UNVERIFIED, finding,
			"a trailer, but no %%%%EOF before %" PRIu64, ps.broken_at);
	case PS_BINARY:
		return verdict_because(
			CARVE_UNVERIFIED, finding, "unannounced data at %" PRIu64, ps.broken_at);
	case PS_BROKEN:
		/* A program by hand needs no %%EOF. */
		if (!structured)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the text ends at %" PRIu64 " without an %%%%EOF", ps.end);
		if (!ps.reads_data && ends_with_line(view, ps.end, ps.broken_at))
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the text ends at %" PRIu64 " without an %%%%EOF", ps.end);
		return verdict_because(
			CARVE_TRUNCATED, finding, "not text at %" PRIu64, ps.broken_at);
	default:
		return walk_cut(
			view, finding, view_size(view) + 1, walk_before_fill(view, 10, ps.end));
	}
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

const struct carver ps_carver = {
	.name = "ps",
	.summary = "PostScript and EPS, by their structuring comments and by being text",
	.check = check,
	.resume = resume,
	.joint = text_joint,
	.lasts = true,
	.is_text = true,
};
