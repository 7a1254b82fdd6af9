/* Messages of RFC 5322 and MIME: shared by mail.c, mail_box.c, mail_message.c. */
#ifndef BURIN_CARVERS_MAIL_MAIL_H
#define BURIN_CARVERS_MAIL_MAIL_H

#include "lines.h"
#include "mail_coding.h"

struct mail {
	uint64_t end;      /* of the message's text */
	unsigned known;    /* header fields with names that mails use */
	bool translation;  /* the header is that of a program's translation (gettext) */
	bool multipart;    /* it has parts between boundaries */
	bool closed;       /* and the closing boundary was found */
	bool open_line;    /* but its line has no end, or continues with other bytes */
	size_t line_end;   /* bytes of that line's end */
	bool over;         /* no text follows at end */
	char boundary[76]; /* the bytes between "--" and the line's end */
	size_t boundary_len;
	struct mail_coding coding;
};

/* Reads the header at `at`, and title and date from it: false if there is none. mail->end is its
 * end. Text in it that begins like a mail is named as a part. */
bool mail_read_header(struct view *view, uint64_t at, struct mail *mail, struct finding *finding);

/* Reads the body from mail->end on, up to the closing boundary or the text's end, or, if `mbox`, up
 * to a line that opens the next message of a mailbox. */
void mail_read_body(struct view *view, struct mail *mail, bool mbox);

/* Whether the line opens a message in a mailbox: "From ", address, date. */
bool mail_is_from(const struct line *line);

/* Whether the line is a field of mail headers. */
bool mail_is_field(const struct line *line);

/* The verdict on a mailbox, which begins with a line "From ". */
enum verdict mbox_check(struct view *view, struct finding *finding);

#endif
