/* What the golden files of vobject do not show: where a file of cards ends when another follows. */
#include "carver_case.h"

#define CARD "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:One\r\nEND:VCARD\r\n"
#define OTHER "BEGIN:VCARD\nVERSION:3.0\nFN:Two\nEND:VCARD\n"

static void check(const char *text, size_t len)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, text, strlen(text));
	expect("vobject", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

Test(carver_vobject, a_card_with_other_line_ends_is_another_file)
{
	check(CARD CARD, 2 * strlen(CARD));
	check(CARD OTHER, strlen(CARD));
	check(OTHER CARD, strlen(OTHER));
}
