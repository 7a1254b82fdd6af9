/*
 * What golden files cannot express about audio and mail: which offsets carvers name as parts, so
 * that a file whose end is a guess is not carved again from each of its frames or fields.
 */
#include "carver_case.h"

#include <stdbool.h>
#include <stdio.h>

struct parts {
	uint64_t places[64];
	size_t count;
	enum verdict verdict;
};

static struct parts parts_of(const char *carver, const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding finding = { 0 };
	struct parts parts = { 0 };
	const uint64_t *places;

	parts.verdict = carver_find(carver)->check(view, &finding);
	places = view_parts(view, &parts.count);
	cr_assert_leq(parts.count, 64);
	memcpy(parts.places, places, parts.count * sizeof(*places));
	view_free(view);
	return parts;
}

static bool has(const struct parts *parts, uint64_t place)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->places[i] == place)
			return true;
	return false;
}

/* MPEG-1 layer III, 32 kbit/s, 44.1 kHz: 104 bytes a frame. */
static void add_frames(struct bytes *bytes, int count)
{
	while (count--) {
		bytes_add_be(bytes, 0xfffb1040, 4);
		bytes_fill(bytes, 0x55, 100);
	}
}

Test(audio, frames_of_mpeg_audio_are_parts)
{
	struct bytes bytes = { 0 };
	struct parts parts;

	add_frames(&bytes, 20);
	parts = parts_of("mp3", &bytes);
	cr_assert_eq(parts.verdict, CARVE_UNVERIFIED);
	cr_assert_eq(parts.count, 19);
	for (uint64_t i = 1; i < 20; i++)
		cr_assert(has(&parts, i * 104), "frame %d", (int)i);
	free(bytes.data);
}

/* A tag of padding alone, a frame that states the number of others, and a tag at the end. */
Test(audio, a_frame_that_states_the_number_is_a_part_after_a_tag)
{
	struct bytes bytes = { 0 };
	struct parts parts;

	bytes_add(&bytes, "ID3\3\0\0\0\0\0\24", 10);
	bytes_fill(&bytes, 0, 20);
	bytes_add_be(&bytes, 0xfffb1040, 4);
	bytes_fill(&bytes, 0, 32);
	bytes_add(&bytes, "Xing\0\0\0\1\0\0\0\24", 12);
	bytes_fill(&bytes, 0, 104 - 48);
	add_frames(&bytes, 20);
	bytes_add(&bytes, "TAG", 3);
	bytes_fill(&bytes, 0, 125);
	cr_assert_eq(parts_of("mp3", &bytes).verdict, CARVE_COMPLETE);
	bytes.data[25] = 1;
	parts = parts_of("mp3", &bytes);
	cr_assert_eq(parts.verdict, CARVE_UNVERIFIED);
	cr_assert(has(&parts, 30));
	free(bytes.data);
}

Test(audio, a_frame_with_another_sample_rate_ends_the_file)
{
	struct bytes bytes = { 0 };

	add_frames(&bytes, 15);
	bytes_add_be(&bytes, 0xfffb1440, 4);
	bytes_fill(&bytes, 0x55, 400);
	expect("mp3", &bytes, CARVE_UNVERIFIED, 15 * 104, "no frame at 1560");
	free(bytes.data);
}

Test(audio, eleven_frames_are_too_few)
{
	struct bytes bytes = { 0 };

	add_frames(&bytes, 11);
	expect("mp3", &bytes, CARVE_REJECT, 0, "after 11 others");
	add_frames(&bytes, 1);
	expect("mp3", &bytes, CARVE_UNVERIFIED, 12 * 104, NULL);
	free(bytes.data);
}

static void add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

static const char mail[] = "Delivered-To: b@example.net\r\nFrom: a@example.org\r\n"
			   "Subject: To: and Date: \r\nDate: Fri, 1 Mar 2024 00:59:58 +0100\r\n\r\n"
			   "He wrote:\r\n> From: c\r\nan update: none\r\n";

/* "To: " occurs in "Delivered-To: ", "date: " in "update: ". */
Test(mail, text_in_a_mail_that_begins_like_one_is_a_part)
{
	static const char *const inside[] = { "To: b@", "From: a", "Subject: To", "To: and",
		"Date: \r\n", "Date: Fri", "From: c", "date: none" };
	struct bytes bytes = { 0 };
	struct parts parts;

	add_text(&bytes, mail);
	parts = parts_of("mail", &bytes);
	cr_assert_eq(parts.verdict, CARVE_UNVERIFIED);
	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++)
		cr_assert(has(&parts, (uint64_t)(strstr(mail, inside[i]) - mail)), "%s", inside[i]);
	cr_assert_eq(parts.count, sizeof(inside) / sizeof(*inside));
	free(bytes.data);
}

Test(mail, mails_of_a_mailbox_are_parts)
{
	static const char from[] = "From a@example.org Fri Mar  1 00:59:58 2024\r\n";
	struct bytes bytes = { 0 };
	struct parts parts;
	size_t second;

	add_text(&bytes, from);
	add_text(&bytes, mail);
	second = bytes.len;
	add_text(&bytes, from);
	add_text(&bytes, mail);
	parts = parts_of("mail", &bytes);
	cr_assert_eq(parts.verdict, CARVE_UNVERIFIED);
	cr_assert(has(&parts, second));
	cr_assert(has(&parts, sizeof(from) - 1 + 10), "To: of the first");
	cr_assert(has(&parts, second + sizeof(from) - 1 + 10), "To: of the second");
	free(bytes.data);
}

/* A line feed that foreign bytes contain by chance does not belong to a mail whose lines end with
 * CR LF. */
Test(mail, an_empty_line_after_the_end_ends_like_the_others)
{
	static const char head[] = "MIME-Version: 1.0\r\n"
				   "Content-Type: multipart/mixed; boundary=b\r\n"
				   "From: a\r\nTo: b\r\n\r\n--b\r\n\r\nSix.\r\n--b--\r\n";
	struct bytes bytes = { 0 };

	add_text(&bytes, head);
	add_text(&bytes, "\n{O\xfd");
	expect("mail", &bytes, CARVE_COMPLETE, sizeof(head) - 1, NULL);
	bytes.len = sizeof(head) - 1;
	add_text(&bytes, "\r\n\r\n{O\xfd");
	expect("mail", &bytes, CARVE_COMPLETE, sizeof(head) + 3, NULL);
	free(bytes.data);
}

/* Fonts in a form of PostScript, which has no end that says so. */
Test(carver_parts, fonts_in_a_form)
{
	struct bytes bytes = { 0 };
	struct parts parts;
	const uint8_t *font;

	bytes_add_file(&bytes, "tests/golden/ps/form.ps");
	font = memmem(bytes.data, bytes.len, "%!FontType1", 11);
	cr_assert_not_null(font);
	parts = parts_of("ps", &bytes);
	cr_assert_eq(parts.verdict, CARVE_UNVERIFIED);
	cr_assert(has(&parts, (uint64_t)(font - bytes.data)));
	free(bytes.data);
}
