/*
 * Mail (RFC 5322, RFC 2045, 2046, and RFC 4155 for mailboxes).
 *
 *	message: fields, an empty line, a body
 *	field:   name, colon, value; lines that start with a blank continue the previous one
 *	body:    text; with Content-Type: multipart and a boundary, parts between lines
 *	         "--boundary", the last one "--boundary--"
 *	mailbox: messages, each after a line "From address date"
 *
 * There are many field names, but a header needs some of the usual ones. Only MIME's last boundary
 * marks an end; all else ends where the text does.
 */
#include "mail.h"

#include <stdlib.h>
#include <string.h>

#include "dates.h"
#include "title.h"

#define VALUE_MAX 1000
#define FIELDS_MAX 2000
#define CHANCE_MAX 64

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char days[] = "MonTueWedThuFriSatSun";

static size_t field_name_len(const struct line *line)
{
	size_t len = 0;

	while (len < line->len && len < 80 && line->bytes[len] > 0x20 && line->bytes[len] < 0x7f &&
		line->bytes[len] != ':')
		len++;
	return len < line->len && line->bytes[len] == ':' ? len : 0;
}

bool mail_is_field(const struct line *line)
{
	static const char *const names[] = { "From", "To", "Cc", "Bcc", "Date", "Subject",
		"Message-ID", "Received", "Recieved", "Return-Path", "Delivered-To", "Reply-To",
		"Sender", "MIME-Version", "Content-Type", "Content-Transfer-Encoding",
		"In-Reply-To", "References", "X-Mailer", "X-Received", "DKIM-Signature",
		"Authentication-Results", "Received-SPF", "ARC-Seal", "User-Agent", "X-Priority",
		"X-Sender", "X-Original-To", "X-Mozilla-Status", "X-Account-Key", "X-UIDL",
		"X-MimeOLE", "Thread-Topic", "Thread-Index", "List-Id", "Envelope-To",
		"X-Gmail-Labels", "X-GM-THRID", "X-Originating-IP", "Importance", "Lines",
		"Organization", "X-IronPort-AV", "X-Folder", "X-Origin", "X-FileName", "Newsgroups",
		"Xref", "X-Apparently-To", "DomainKey-Signature", "X-Envelope-From", "X-Unsent" };
	size_t len = field_name_len(line);

	for (size_t i = 0; len && i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len &&
			strncasecmp((const char *)line->bytes, names[i], len) == 0)
			return true;
	return false;
}

/* Whether one of the heads, which NULL ends, is at text. The first letters are the same. */
static bool has_head(const char *text, size_t len, const char *const *heads)
{
	for (; *heads; heads++) {
		size_t head_len = strlen(*heads);

		if (((text[1] ^ (*heads)[1]) & 0x5f) == 0 && head_len <= len &&
			strncasecmp(text, *heads, head_len) == 0)
			return true;
	}
	return false;
}

/* Names as parts all places in a line that match the rules' patterns for a mail's first bytes. */
static void name_parts(struct view *view, const struct line *line)
{
	/* By their first letters: an attachment has millions of places. */
	static const char *const heads[32][18] = {
		['A' & 31] = { "Authentication-Results: ", "ARC-Seal: " },
		['C' & 31] = { "Content-Type: m", "Content-Type: t" },
		['D' & 31] = { "Delivered-To: ", "DKIM-Signature: ", "Date: ",
			"DomainKey-Signature: " },
		['E' & 31] = { "Envelope-To: " },
		['F' & 31] = { "From ", "From: " },
		['I' & 31] = { "In-Reply-To: <" },
		['M' & 31] = { "Message-ID: <", "MIME-Version: 1" },
		['N' & 31] = { "Newsgroups: " },
		['R' & 31] = { "Return-Path: <",
			"Received: ", "Reply-To: ", "Recieved: ", "References: <" },
		['S' & 31] = { "Subject: ", "Sender: " },
		['T' & 31] = { "To: " },
		['X' & 31] = { "X-Original-To: ", "X-Received: ", "X-Mozilla-Status: ",
			"X-Account-Key: ", "X-Gmail-Labels: ", "X-IronPort-", "X-MimeOLE: ",
			"X-Sender: ", "X-Unsent: ", "X-Apparently-To: ", "X-UIDL: ", "X-Mailer: ",
			"X-Spam-", "X-MS-", "X-Store-Info:", "Xref: ", "X-Envelope-From: " },
	};

	for (size_t i = line->at ? 0 : 1; i + 3 < line->len; i++) {
		const char *text = (const char *)line->bytes + i;

		if (has_head(text, line->len - i, heads[text[0] & 31]))
			view_part(view, line->at + i);
	}
}

/* Which of the three-letter names is at text, counted from 1; 0: none. */
static int name_index(const char *text, const char *names)
{
	for (int i = 0; names[i * 3]; i++)
		if (strncmp(text, names + i * 3, 3) == 0)
			return i + 1;
	return 0;
}

/* Reads "Fri, 21 Nov 1997 09:55:06 -0600"; the day's name is optional. */
static int64_t read_date(const char *text)
{
	int day, month, year, hour, minute, second = 0, zone = 0;
	int64_t seconds;
	char *end;

	text += strspn(text, " \t");
	if (name_index(text, days) && text[3] == ',')
		text += 4;
	day = (int)strtol(text, &end, 10);
	end += strspn(end, " ");
	month = name_index(end, months);
	if (!month)
		return 0;
	year = (int)strtol(end + 3, &end, 10);
	hour = (int)strtol(end, &end, 10);
	if (*end != ':')
		return 0;
	minute = (int)strtol(end + 1, &end, 10);
	if (*end == ':')
		second = (int)strtol(end + 1, &end, 10);
	end += strspn(end, " ");
	if (*end == '+' || *end == '-')
		zone = (int)strtol(end, NULL, 10);
	if (year < 100)
		year += year < 50 ? 2000 : 1900;
	seconds = utc_seconds(year, month, day, hour, minute, second);
	if (zone < -1500 || zone > 1500 || !seconds)
		return seconds;
	return seconds - (zone / 100 * 60 + zone % 100) * 60;
}

/* Reads the boundary from the value of Content-Type. */
static void read_boundary(struct mail *mail, const char *value)
{
	const char *start = strcasestr(value, "boundary="), *end;

	value += strspn(value, " \t");
	if (strncasecmp(value, "multipart/", 10) != 0 || !start)
		return;
	start += 9;
	end = *start == '"' ? strchr(start + 1, '"') : start + strcspn(start, "; \t");
	start += *start == '"';
	if (!end || end == start || end - start >= (int)sizeof(mail->boundary))
		return;
	mail->boundary_len = (size_t)(end - start);
	memcpy(mail->boundary, start, mail->boundary_len);
	mail->multipart = true;
}

/* Reads a whole field, unfolded. */
static void read_field(struct mail *mail, const char *field, struct finding *finding)
{
	if (strncasecmp(field, "Subject:", 8) == 0 && !finding->title[0])
		finding_set_title(finding, (const uint8_t *)field + 8, strlen(field + 8));
	else if (strncasecmp(field, "Date:", 5) == 0 && !finding->time)
		finding->time = read_date(field + 5);
	else if (strncasecmp(field, "Content-Type:", 13) == 0 && !mail->multipart)
		read_boundary(mail, field + 13);
	else
		mail_coding_read(&mail->coding, field);
}

static void append_line(char *field, const struct line *line)
{
	size_t used = strlen(field), room = VALUE_MAX - used;
	size_t len = line->len < room ? line->len : room;

	memcpy(field + used, line->bytes, len);
	field[used + len] = 0;
}

bool mail_read_header(struct view *view, uint64_t at, struct mail *mail, struct finding *finding)
{
	char field[VALUE_MAX + 1] = "";
	struct line line;

	*mail = (struct mail){ .end = at };
	for (int count = 0; count < FIELDS_MAX && line_read(view, mail->end, &line); count++) {
		bool folded = line.len && (line.bytes[0] == ' ' || line.bytes[0] == '\t');

		if (!line.len && line.ended) {
			mail->end = line.next;
			read_field(mail, field, finding);
			return count > 0;
		}
		if (!folded) {
			read_field(mail, field, finding);
			field[0] = 0;
			/* A mistake of Outlook and other programs: a foreign line within a
			 * field. */
			if (!field_name_len(&line))
				break;
			/* Translations of programs begin with fields that mails have, too. */
			if (line_starts(&line, "PO-Revision-Date:") ||
				line_starts(&line, "POT-Creation-Date:"))
				mail->translation = true;
			mail->known += mail_is_field(&line);
		}
		name_parts(view, &line);
		append_line(field, &line);
		mail->end = line.text_end;
		if (!line.ended)
			break;
	}
	read_field(mail, field, finding);
	return mail->end > at;
}

bool mail_is_from(const struct line *line)
{
	char text[200];
	size_t len = line->len < sizeof(text) ? line->len : sizeof(text) - 1;
	char *at;

	if (!line_starts(line, "From ") || line->bytes[1] != 'r')
		return false;
	memcpy(text, line->bytes, len);
	text[len] = 0;
	for (at = text + 4; at; at = strchr(at + 1, ' '))
		if (name_index(at + 1, days) &&
			((at[4] == ' ' && name_index(at + 5, months) && at[8] == ' ') ||
				(at[4] == ',' && at[5] == ' '))) /* as KMail writes it */
			return strpbrk(at + 6, "0123456789") && strchr(at + 6, ':');
	return false;
}

/* Whether the line is "--", the boundary, and `tail`. */
static bool is_boundary(const struct mail *mail, const struct line *line, const char *tail)
{
	size_t len = mail->boundary_len, tail_len = strlen(tail);

	return line->len >= 2 + len + tail_len && memcmp(line->bytes, "--", 2) == 0 &&
	       memcmp(line->bytes + 2, mail->boundary, len) == 0 &&
	       memcmp(line->bytes + 2 + len, tail, tail_len) == 0;
}

/* Whether only blanks follow the closing boundary. */
static bool is_rest_blank(const struct mail *mail, const struct line *line)
{
	for (size_t i = mail->boundary_len + 4; i < line->len; i++)
		if (line->bytes[i] != ' ' && line->bytes[i] != '\t')
			return false;
	return true;
}

/* The position in a body relative to its next part. */
enum mail_place { PLACE_HEADER, PLACE_START, PLACE_INSIDE };

/* Names the content of a body's part as embedded (view_embedded): it begins with the first line
 * after the part's header that is not empty; web pages, armour and cards also begin within text. */
static enum mail_place name_content(
	struct view *view, const struct line *line, enum mail_place place)
{
	static const char *const heads[] = { "<html", "<!doctype", "-----BEGIN ", "BEGIN:V" };
	size_t blanks = 0;

	if (line->len > 4 && memcmp(line->bytes, "--", 2) == 0 && line->bytes[2] != ' ' &&
		memcmp(line->bytes, "-----", 5) != 0)
		return PLACE_HEADER;
	while (blanks < line->len && (line->bytes[blanks] == ' ' || line->bytes[blanks] == '	'))
		blanks++;
	if (place == PLACE_HEADER)
		return line->len ? PLACE_HEADER : PLACE_START;
	if (blanks == line->len)
		return place;
	if (place == PLACE_START)
		view_embedded(view, line->at + blanks);
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (line->len - blanks >= strlen(heads[i]) &&
			strncasecmp((const char *)line->bytes + blanks, heads[i],
				strlen(heads[i])) == 0)
			view_embedded(view, line->at + blanks);
	return PLACE_INSIDE;
}

static bool is_ascii(const struct line *line)
{
	for (size_t i = 0; i < line->len; i++)
		if (line->bytes[i] >= 0x80)
			return false;
	return true;
}

/* Ends the body: after lines of nothing but ASCII, a few bytes of something else before what is no text are text by chance. */
static void end_body(struct mail *mail, uint64_t ascii_end, bool broken)
{
	mail->over = true;
	if (broken && ascii_end && mail->end - ascii_end <= CHANCE_MAX)
		mail->end = ascii_end;
}

void mail_read_body(struct view *view, struct mail *mail, bool mbox)
{
	enum mail_place place = PLACE_START;
	uint64_t ascii_end = 0;
	bool ascii = true;
	struct line line;

	if (mail->multipart) /* its parts have their own */
		mail->coding.encoding = ENCODING_OTHER;
	while (line_read(view, mail->end, &line)) {
		if (mbox && mail_is_from(&line))
			return;
		place = name_content(view, &line, place);
		name_parts(view, &line);
		mail_coding_add(&mail->coding, &line);
		ascii = ascii && is_ascii(&line);
		if (ascii)
			ascii_end = line.text_end;
		if (mail->multipart && is_boundary(mail, &line, "--")) {
			mail->closed = true;
			mail->open_line = !line.ended || !is_rest_blank(mail, &line);
			mail->line_end = (size_t)(line.next - line.at) - line.len;
			mail->end =
				mail->open_line ? line.at + mail->boundary_len + 4 : line.text_end;
			if (!mbox) {
				mail->over = line.broken;
				return;
			}
		} else {
			mail->end = line.text_end;
		}
		if (!line.ended) {
			end_body(mail, ascii_end, line.broken);
			return;
		}
	}
	end_body(mail, ascii_end, true);
}
