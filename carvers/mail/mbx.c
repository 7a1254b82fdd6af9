/*
 * Mailboxes of the University of Washington's mail programs (IMAP toolkit, mbx.c).
 *
 *	file:    header of 2,048 bytes: '*mbx*' CR LF, numbers of the mailbox and of the last message (8 hexadecimal digits each) CR LF,
 *	         names of flags, a line each, zeros; messages
 *	message: date as '29-Feb-2024 23:59:58 +0000', comma, length in decimal, semicolon, flags (12 hexadecimal digits), hyphen, number
 *	         (8 digits) CR LF; a mail of that length
 *
 * Each message leads to the next one, and their numbers rise; those that no program opened yet have 0. How many there are is not
 * stored, and nothing verifies the last one: a mailbox is unverified at best. Subject and date are the first mail's.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cursor.h"
#include "mail.h"
#include "turning.h"
#include "walk.h"

#define HEAD_LEN 2048
#define DATE_LEN 26
#define FLAGS_LEN 12
#define NUMBER_LEN 8
#define LENGTH_MAX (UINT64_C(1) << 31)

/* Whether the bytes have the form of `form`, in which 0 is a hexadecimal digit, 1 a decimal one or a blank, a a letter, and s
 * a sign. */
static bool has_form(const uint8_t *p, const char *form)
{
	for (size_t i = 0; form[i]; i++) {
		bool valid = form[i] == '0'   ? isxdigit(p[i])
			     : form[i] == '1' ? isdigit(p[i]) || p[i] == ' '
			     : form[i] == 'a' ? isalpha(p[i])
			     : form[i] == 's' ? p[i] == '+' || p[i] == '-'
					      : p[i] == (uint8_t)form[i];

		if (!valid)
			return false;
	}
	return true;
}

struct message {
	uint64_t mail, end; /* of the mail */
	uint32_t number;
};

/* Reads the line before a message at `at`. */
static bool read_message(struct view *view, uint64_t at, struct message *message)
{
	static const char date[] = "11-aaa-1111 11:11:11 s1111,",
			  flags[] = ";000000000000-00000000\r\n";
	struct cursor cursor = { .view = view, .at = at };
	const uint8_t *p = cursor_bytes(&cursor, sizeof(date) - 1);
	uint64_t len;

	if (!p || !has_form(p, date))
		return false;
	cursor.at += sizeof(date) - 1;
	if (!cursor_decimal(&cursor, LENGTH_MAX, &len))
		return false;
	p = cursor_bytes(&cursor, sizeof(flags) - 1);
	if (!p || !has_form(p, flags))
		return false;
	message->number = 0;
	for (const uint8_t *digit = p + 1 + FLAGS_LEN + 1; isxdigit(*digit); digit++)
		message->number =
			message->number << 4 |
			(uint32_t)(isdigit(*digit) ? *digit - '0' : (*digit | 32) - 'a' + 10);
	message->mail = cursor.at + sizeof(flags) - 1;
	message->end = message->mail + len;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	static const char head[] = "*mbx*\r\n0000000000000000\r\n";
	const uint8_t *p = view_peek(view, 0, sizeof(head) - 1);
	uint64_t size = view_size(view), at = HEAD_LEN;
	struct message message = { 0 }, next;
	uint32_t number = 0; /* of the last message that has one */
	struct mail mail;

	if (!p || !has_form(p, head))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (!read_message(view, at, &message) ||
		!mail_read_header(view, message.mail, &mail, finding) || !mail.known) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "no message at %d", HEAD_LEN);
	}
	for (;; message = next) {
		number = message.number ? message.number : number;
		view_embedded(view, message.mail);
		if (message.end > size)
			return walk_cut(view, finding, message.end, size);
		at = message.end;
		if (!read_message(view, at, &next) || (next.number && next.number <= number))
			break;
	}
	view_holds(view, HEAD_LEN, message.mail);
	view_unverified(view, 0, at);
	return turning_uncounted(view, finding, message.mail, at, "message");
}

const struct carver mbx_carver = {
	.name = "mbx",
	.summary = "UW's mailboxes (mbx), by their messages' lengths",
	.check = check,
};
