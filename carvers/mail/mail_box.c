/*
 * A mailbox: mails (mail_message.c), each after a line "From address date". It ends where the text
 * does, or at such a line that no header follows; either is a guess. The first mail's subject and
 * date are the mailbox's.
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
		if (!mail_read_header(view, line.next, &mail, count ? &others : finding) ||
			!mail.known)
			break;
		mail_read_body(view, &mail, true);
		at = mail.end;
		count++;
		if (mail.over)
			break;
	}
	if (!count) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no mail after a line From at 0");
	}
	finding->extension = "mbox";
	finding->length = at;
	if (mail.over && text_overwritten(view, at, &finding->length))
		return verdict_because(CARVE_TRUNCATED, finding,
			"text breaks off within a line at %" PRIu64 ", where a sector begins",
			finding->length);
	finding->length = at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"text ends at %" PRIu64 " after %" PRIu64 " mails, and their number is not stored",
		at, count);
}
