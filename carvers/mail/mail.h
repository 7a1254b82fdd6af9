/* Messages as RFC 5322 and MIME have them: mail.c, mail_box.c, mail_message.c. */
#ifndef BURIN_CARVERS_MAIL_MAIL_H
#define BURIN_CARVERS_MAIL_MAIL_H

#include "lines.h"

struct mail {
	uint64_t end;      /* behind what of the message is text */
	unsigned known;    /* fields of the header whose names are those of mails */
	bool multipart;    /* it has parts between boundaries */
	bool closed;       /* and the last boundary was there */
	bool open_line;    /* but its line has no end, or goes on with what is none of it */
	size_t line_end;   /* bytes that end its line */
	bool over;         /* no text follows at end */
	char boundary[76]; /* what stands between "--" and the line's end */
	size_t boundary_len;
};

/* Passes the header at `at`, and takes title and date from it: false when none stands there.
 * mail->end is behind it. Whatever in it begins like a mail is named as a part. */
bool mail_pass_header(struct view *view, uint64_t at, struct mail *mail, struct finding *finding);

/* Passes the body from mail->end on, up to the closing boundary or the text's end, or up to a line
 * that opens the next message of a mailbox if `mbox`. */
void mail_pass_body(struct view *view, struct mail *mail, bool mbox);

/* Whether the line opens a message in a mailbox: "From ", address, date. */
bool mail_is_from(const struct line *line);

/* Whether the line is a field that headers of mails have. */
bool mail_is_field(const struct line *line);

/* The verdict on a mailbox, which begins with such a line. */
enum verdict mbox_check(struct view *view, struct finding *finding);

#endif
