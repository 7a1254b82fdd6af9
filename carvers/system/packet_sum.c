/*
 * TCP's and UDP's checksums in packets of IP (RFC 1071, over the pseudo-header of RFC 9293, section 3.1).
 *
 * Packets that the capturing computer sends are often captured before the network card has computed the
 * checksum: it is over the addresses and the length alone then, and shows nothing of the content.
 */
#include "packet_sum.h"

#include "bytes.h"
#include "walk.h"

#define RIGHT_MIN 4    /* right sums without which a wrong one shows nothing... */
#define RIGHT_SHARE 16 /* ...and for each wrong one before */
/* Of 81,318 packets (tests/bench/RESULTS.md) that went on in a wrong cluster, with these bytes at least on both sides, 8
 * had a right sum. */
#define SUM_BITS 12
#define SUM_LEAST 8

/* The offset of an IP packet after the header of this link type, -1 when there is none. */
static int ip_offset(uint32_t link, const uint8_t *p, size_t len)
{
	int at = link == 1 ? 14 : link == 113 ? 16 : link == 0 || link == 108 ? 4 : 0;

	if ((link > 1 && link != 12 && link != 101 && link != 108 && link != 113 && link != 228 &&
		    link != 229) ||
		len < (size_t)at + 40)
		return -1;
	if (at > 4 && be16(p + at - 2) != 0x0800 && be16(p + at - 2) != 0x86dd)
		return -1;
	return at;
}

static uint32_t add_up(uint32_t sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i + 2 <= len; i += 2)
		sum += be16(p + i);
	return len & 1 ? sum + ((uint32_t)p[len - 1] << 8) : sum;
}

static uint32_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static enum packet_sum ip_sum(const uint8_t *p, size_t len, size_t *from, size_t *to)
{
	bool six = p[0] >> 4 == 6;
	size_t head = six ? 40 : 4u * (p[0] & 15), total = six ? 40u + be16(p + 4) : be16(p + 2);
	uint8_t protocol = six ? p[6] : p[9];
	size_t field = head + (protocol == 6 ? 16 : 6);
	uint32_t sum;

	if ((!six && p[0] >> 4 != 4) || head < 20 || total < field + 2 || total > len ||
		(!six && be16(p + 6) & 0x3fff) || (protocol != 6 && protocol != 17))
		return PACKET_SUM_NONE;
	if (protocol == 17 && be16(p + field) == 0)
		return PACKET_SUM_NONE;
	*from = head;
	*to = total;
	sum = add_up(protocol + (uint32_t)(total - head), p + (six ? 8 : 12), six ? 32 : 8);
	if (fold(sum) == be16(p + field))
		return PACKET_SUM_PARTIAL;
	return fold(add_up(sum, p + head, total - head)) == 0xffff ? PACKET_SUM_RIGHT
								   : PACKET_SUM_WRONG;
}

enum packet_sum packet_sum(uint32_t link, const uint8_t *p, size_t len, size_t *from, size_t *to)
{
	int at = ip_offset(link, p, len);
	enum packet_sum sum;

	if (at < 0)
		return PACKET_SUM_NONE;
	*from = *to = 0;
	sum = ip_sum(p + at, len - (size_t)at, from, to);
	*from += (size_t)at;
	*to += (size_t)at;
	return sum;
}

bool packet_sums_add(struct packet_sums *sums, struct view *view, uint32_t link, uint64_t record,
	uint64_t at, uint32_t len)
{
	const uint8_t *p = len <= PACKET_SUM_LEN ? view_peek(view, at, len) : NULL;
	enum packet_sum before = sums->last;
	size_t from, to;

	sums->right += before == PACKET_SUM_RIGHT || before == PACKET_SUM_PARTIAL;
	sums->wrong += before == PACKET_SUM_WRONG;
	sums->at = record;
	sums->last = p ? packet_sum(link, p, len, &from, &to) : PACKET_SUM_NONE;
	if (sums->last == PACKET_SUM_RIGHT && to - from > 2 * SUM_LEAST)
		view_linked(view, at + from + SUM_LEAST, at + to - SUM_LEAST, SUM_BITS);
	return sums->last != PACKET_SUM_WRONG || record / SECTOR == (at + len - 1) / SECTOR ||
	       sums->right < RIGHT_MIN || sums->wrong * RIGHT_SHARE > sums->right;
}
