/*
 * A mail in a file of its own (mail_message.c). Its header needs some of the usual fields. With
 * MIME's parts it ends behind the closing boundary and empty lines: complete, unless text follows,
 * which may be its epilogue; without that boundary it is truncated. Other bodies end where the text
 * does, which is a guess, unless it breaks off within a line at a sector's beginning: truncated.
 */
#include <inttypes.h>

#include "mail.h"

#define KNOWN_LEAST 3
#define EPILOGUE_LEAST 8
#define EPILOGUE_MOST 4096

/* Behind empty lines at `at`, which end as the others do. */
static uint64_t behind_blank(struct view *view, uint64_t at, size_t line_end)
{
	struct line line;

	for (int i = 0; i < 4 && line_read(view, at, &line) && line.ended && !line.len &&
			line.next - at == line_end;
		i++)
		at = line.next;
	return at;
}

/* Behind a short text at `at` that is no other mail's beginning; `at` if there is none, or what
 * chance may make of other bytes. */
static uint64_t behind_epilogue(struct view *view, uint64_t at)
{
	uint64_t start = at;
	struct line line;

	while (line_read(view, at, &line)) {
		if (at - start > EPILOGUE_MOST || mail_is_field(&line) || mail_is_from(&line))
			return start;
		at = line.text_end;
		if (!line.ended)
			break;
	}
	return at - start >= EPILOGUE_LEAST ? at : start;
}

static enum verdict judge(struct view *view, struct mail *mail, struct finding *finding)
{
	uint64_t end;

	finding->length = mail->end;
	if (mail->open_line)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the closing boundary's line has no end at %" PRIu64, mail->end);
	if (mail->closed) {
		finding->length = behind_blank(view, mail->end, mail->line_end);
		end = behind_epilogue(view, finding->length);
		if (end == finding->length)
			return CARVE_COMPLETE;
		finding->length = end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"text behind the closing boundary at %" PRIu64, mail->end);
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
		"text ends at %" PRIu64 ", and nothing says where the mail does", mail->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mail mail;
	struct line line;

	if (line_read(view, 0, &line) && mail_is_from(&line))
		return mbox_check(view, finding);
	if (!mail_pass_header(view, 0, &mail, finding) || mail.known + mail.multipart < KNOWN_LEAST)
		return verdict_because(CARVE_REJECT, finding,
			"no header of a mail at 0, but %u fields of one", mail.known);
	mail_pass_body(view, &mail, false);
	return judge(view, &mail, finding);
}

const struct carver mail_carver = {
	.name = "mail",
	.summary = "mails by their header and MIME's boundaries, and mailboxes of them",
	.check = check,
};
