/* Parts of mails that are not in their encoding, where files in pieces are put together. */
#include <criterion/criterion.h>

#include <string.h>

#include "carver_case.h"

#define CLUSTER 4096
#define LINES 200
#define LINE "R29sZGVuIGhvdXIgaXMgdGhlIHRpbWUgYmVmb3JlIHN1bnNldCB3aGVuIGxpZ2h0IGlzIHNvZnQu\n"

static void add(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

static struct bytes mail(void)
{
	struct bytes bytes = { 0 };

	add(&bytes, "From: a@example.org\nTo: b@example.net\nSubject: Six\nMIME-Version: 1.0\n"
		    "Content-Type: multipart/mixed; boundary=\"=_six\"\n\n--=_six\n"
		    "Content-Transfer-Encoding: base64\n\n");
	for (unsigned i = 0; i < LINES; i++)
		add(&bytes, LINE);
	add(&bytes, "U2l4\n--=_six--\n");
	return bytes;
}

static void expect_break(struct bytes *bytes, uint64_t at)
{
	struct finding found;

	cr_expect_eq(carve("mail", bytes->data, bytes->len, &found), CARVE_UNVERIFIED);
	cr_expect_eq(found.length, bytes->len);
	cr_expect_eq(carve_thoroughly("mail", bytes->data, bytes->len, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, at, "%s", found.why);
}

Test(mail_coding, a_mail_is_valid_up_to_the_cluster_with_other_lines)
{
	struct bytes whole = mail(), bytes = { 0 };
	struct finding found;

	cr_expect_eq(carve_thoroughly("mail", whole.data, whole.len, &found), CARVE_COMPLETE);
	/* A cluster is missing, so lines are of another width. */
	bytes_add(&bytes, whole.data, CLUSTER);
	bytes_add(&bytes, whole.data + 2 * (size_t)CLUSTER, whole.len - 2 * (size_t)CLUSTER);
	expect_break(&bytes, CLUSTER);
	free(bytes.data);
	/* Text lies there. */
	bytes = (struct bytes){ 0 };
	bytes_add(&bytes, whole.data, whole.len);
	for (size_t i = CLUSTER; i < 2 * (size_t)CLUSTER; i++)
		bytes.data[i] = "and then it was six\n"[i % 20];
	expect_break(&bytes, CLUSTER);
	free(bytes.data);
	free(whole.data);
}
