/*
 * A mailbox: mails (mail_message.c), each behind a line "From address date". It ends where the text
 * does, or where behind such a line no header stands; either is a guess. The first mail's subject
 * and date are the mailbox's.
 */
#include <inttypes.h>

#include "mail.h"

enum verdict mbox_check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, count = 0;
	struct finding others;
	struct mail mail;
	struct line line;

	while (line_read(view, at, &line) && mail_is_from(&line) && line.ended) {
		if (at)
			view_part(view, at);
		others = (struct finding){ 0 };
		if (!mail_pass_header(view, line.next, &mail, count ? &others : finding) ||
			!mail.known)
			break;
		mail_pass_body(view, &mail, true);
		at = mail.end;
		count++;
		if (mail.over)
			break;
	}
	if (!count) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no mail behind a line From at 0");
	}
	finding->extension = "mbox";
	finding->length = at;
	if (mail.over && text_overwritten(view, at, &finding->length))
		return verdict_because(CARVE_TRUNCATED, finding,
			"text breaks off within a line at %" PRIu64 ", where a sector begins",
			finding->length);
	finding->length = at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"text ends at %" PRIu64 ", behind %" PRIu64
		" mails, and nothing says how many there are",
		at, count);
}
