/*
 * A mail in a file of its own (mail_message.c). Its header needs some of the usual fields. With
 * MIME parts it ends after the closing boundary and empty lines: complete, unless text follows,
 * which may be its epilogue, or a part is not in its encoding (mail_coding.h), or clusters of another text lie in it; without
 * that boundary it is truncated. Other bodies end where the text does, which is a guess, unless it breaks off within a line
 * at a sector's beginning: truncated.
 */
#include <inttypes.h>

#include "mail.h"
#include "plain_text.h"
#include "text_gap.h"
#include "walk.h"

#define KNOWN_MIN 3
#define EPILOGUE_MIN 8
#define EPILOGUE_MAX 4096

/* The end of the empty lines at `at`, which have the same line end as the others. */
static uint64_t blank_end(struct view *view, uint64_t at, size_t line_end)
{
	struct line line;

	for (int i = 0; i < 4 && line_read(view, at, &line) && line.ended && !line.len &&
			line.next - at == line_end;
		i++)
		at = line.next;
	return at;
}

/* The end of a short text at `at` that is not another mail's beginning; `at` if there is none, or
 * only a few bytes that may be text by chance. */
static uint64_t epilogue_end(struct view *view, uint64_t at)
{
	uint64_t start = at;
	struct line line;

	while (line_read(view, at, &line)) {
		if (at - start > EPILOGUE_MAX || mail_is_field(&line) || mail_is_from(&line))
			return start;
		/* What follows the file may be text by chance. */
		if (!utf8_valid(line.bytes, line.len))
			break;
		at = line.text_end;
		if (!line.ended)
			break;
	}
	return at - start >= EPILOGUE_MIN ? at : start;
}

/* The verdict on a mail of which a part is not in its encoding: where a file in pieces is put together, it ends there. */
static enum verdict judge_coding(
	struct view *view, const struct mail_coding *coding, struct finding *finding)
{
	bool ends = coding->break_at && walk_assembles(view);

	if (ends)
		finding->length = coding->break_at;
	return verdict_because(ends ? CARVE_TRUNCATED : CARVE_UNVERIFIED, finding,
		"a part that is not in the encoding of its header at %" PRIu64, coding->wrong_at);
}

static enum verdict judge_end(struct view *view, struct mail *mail, struct finding *finding)
{
	uint64_t end;

	finding->length = mail->end;
	if (mail->coding.break_at && walk_assembles(view))
		return judge_coding(view, &mail->coding, finding);
	if (mail->open_line)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the closing boundary's line has no end at %" PRIu64, mail->end);
	if (mail->closed) {
		finding->length = blank_end(view, mail->end, mail->line_end);
		end = epilogue_end(view, finding->length);
		if (end == finding->length && mail->coding.is_wrong)
			return judge_coding(view, &mail->coding, finding);
		if (end == finding->length)
			return text_gap_verdict(view, false, finding);
		finding->length = end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"text after the closing boundary at %" PRIu64, mail->end);
	}
	if (mail->multipart)
		return verdict_because(CARVE_TRUNCATED, finding,
			"text ends at %" PRIu64 " without the closing boundary", mail->end);
	if (text_overwritten(view, mail->end, &end)) {
		finding->length = end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"text breaks off within a line at %" PRIu64 ", where a sector begins", end);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"text ends at %" PRIu64 ", and the mail's length is not stored", mail->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mail mail;
	struct line line;

	view_fill_unreadable(view, '\n');
	if (line_read(view, 0, &line) && mail_is_from(&line))
		return mbox_check(view, finding);
	if (!mail_read_header(view, 0, &mail, finding) || mail.known + mail.multipart < KNOWN_MIN)
		return verdict_because(
			CARVE_REJECT, finding, "no mail header at 0: %u known fields", mail.known);
	if (mail.translation)
		return verdict_because(
			CARVE_REJECT, finding, "the head of a program's translation at 0");
	mail_read_body(view, &mail, false);
	return judge_end(view, &mail, finding);
}

const struct carver mail_carver = {
	.name = "mail",
	.summary = "mails by their header and MIME's boundaries, and mailboxes of them",
	.check = check,
	.is_text = true,
};
