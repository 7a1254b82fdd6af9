/*
 * Captured packets, the format of libpcap (draft-ietf-opsawg-pcap).
 *
 *	file:   header of 24 bytes: magic, version 2.4, ..., maximum packet length, link type;
 *		records
 *	record: seconds, micro- or nanoseconds, captured length, length on the wire (each 4 bytes,
 *	        and 8 more in the variant with the magic A1B2CD34), packet
 *
 * The magic shows the byte order and the clock. The number of records is not stored: they are
 * walked as long as lengths and times are plausible compared with the first one's, and the end is
 * unverified. Where a file was cut within a packet, no record follows; the checksums of TCP and UDP
 * distinguish that from an end: if all match except the last packet's, that one was cut. Packets
 * that the capturing computer sends are often captured before the network card has computed the
 * checksum: a sum over the addresses and the length alone also counts as right. Captures with other
 * wrong checksums allow no conclusion.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEADER_LEN 24
#define PACKET_MAX 262144
#define TEN_YEARS 315360000
#define CHECKED_MAX 65535 /* maximum length of a packet whose checksum is checked */

struct pcap {
	struct view *view;
	uint32_t snap_len, link, fraction_max, first_time;
	uint32_t record_len; /* of a record's header */
	bool big_endian;
	uint64_t at, last;              /* after the last record; where that one starts */
	uint64_t records, right, wrong; /* records; checksums before the last one's */
	int last_sum;                   /* 1: the last packet's checksum is right, -1: wrong */
};

static uint32_t read32(const struct pcap *pcap, const uint8_t *p)
{
	return pcap->big_endian ? be32(p) : le32(p);
}

static const char *read_header(struct pcap *pcap)
{
	const uint8_t *p = view_peek(pcap->view, 0, HEADER_LEN);
	uint32_t magic;

	if (!p)
		return "no header";
	pcap->big_endian = p[0] == 0xa1;
	magic = read32(pcap, p);
	if (magic != 0xa1b2c3d4 && magic != 0xa1b23c4d && magic != 0xa1b2cd34)
		return "no header";
	pcap->fraction_max = magic == 0xa1b23c4d ? 1000000000 : 1000000;
	pcap->record_len = magic == 0xa1b2cd34 ? 24 : 16;
	if (read32(pcap, p + 4) != (pcap->big_endian ? 0x00020004 : 0x00040002))
		return "a version other than 2.4";
	pcap->snap_len = read32(pcap, p + 16);
	pcap->link = read32(pcap, p + 20) & 0x0fffffff;
	if (pcap->link > 0xffff)
		return "an impossible link type";
	pcap->at = HEADER_LEN;
	return NULL;
}

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

/* The checksum of TCP or UDP in an IP packet: 1 right, or left to the card (RFC 1071, over the
 * pseudo-header of RFC 9293, section 3.1), -1 wrong, 0 when none can be checked. */
static int ip_checksum(const uint8_t *p, size_t len)
{
	bool six = p[0] >> 4 == 6;
	size_t head = six ? 40 : 4u * (p[0] & 15), total = six ? 40u + be16(p + 4) : be16(p + 2);
	uint8_t protocol = six ? p[6] : p[9];
	size_t field = head + (protocol == 6 ? 16 : 6);
	uint32_t sum;

	if ((!six && p[0] >> 4 != 4) || head < 20 || total < field + 2 || total > len ||
		(!six && be16(p + 6) & 0x3fff) || (protocol != 6 && protocol != 17))
		return 0;
	if (protocol == 17 && be16(p + field) == 0)
		return 0;
	sum = add_up(protocol + (uint32_t)(total - head), p + (six ? 8 : 12), six ? 32 : 8);
	if (fold(sum) == be16(p + field))
		return 1;
	return fold(add_up(sum, p + head, total - head)) == 0xffff ? 1 : -1;
}

static int checksum(uint32_t link, const uint8_t *p, size_t len)
{
	int at = ip_offset(link, p, len);

	return at < 0 ? 0 : ip_checksum(p + at, len - (size_t)at);
}

/* Whether a record's header is plausible; *len: its packet's. */
static bool plausible_record(const struct pcap *pcap, const uint8_t *p, uint32_t *len)
{
	uint32_t time = read32(pcap, p), wire = read32(pcap, p + 12);
	uint32_t apart =
		time > pcap->first_time ? time - pcap->first_time : pcap->first_time - time;

	*len = read32(pcap, p + 8);
	if (*len == 0 || *len > PACKET_MAX || *len > wire || wire > 1 << 26)
		return false;
	/* Some programs write a smaller limit than they observe. */
	if (pcap->snap_len && *len > pcap->snap_len && *len > 65535)
		return false;
	/* Some programs add to the fraction and forget to carry. */
	return read32(pcap, p + 4) < pcap->fraction_max + pcap->fraction_max / 100 &&
	       (!pcap->records || apart < TEN_YEARS);
}

enum pcap_record { RECORD_VALID, RECORD_NONE, RECORD_CUT };

static enum pcap_record read_record(struct pcap *pcap)
{
	const uint8_t *p = view_peek(pcap->view, pcap->at, pcap->record_len);
	uint32_t len, time;
	uint64_t packet = pcap->at + pcap->record_len;

	if (!p)
		return RECORD_NONE;
	time = read32(pcap, p);
	if (!plausible_record(pcap, p, &len))
		return RECORD_NONE;
	if (len > view_size(pcap->view) - packet)
		return RECORD_CUT;
	pcap->right += pcap->last_sum > 0;
	pcap->wrong += pcap->last_sum < 0;
	p = len <= CHECKED_MAX ? view_peek(pcap->view, packet, len) : NULL;
	pcap->last_sum = p ? checksum(pcap->link, p, len) : 0;
	if (!pcap->records++)
		pcap->first_time = time;
	pcap->last = pcap->at;
	pcap->at = packet + len;
	return RECORD_VALID;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pcap pcap = { .view = view };
	const char *problem = read_header(&pcap);
	enum pcap_record record;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	while ((record = read_record(&pcap)) == RECORD_VALID)
		;
	if (!pcap.records)
		return verdict_because(CARVE_REJECT, finding, "no record after the header");
	/* Of the last packet only its checksum shows that it is one. */
	view_holds(view, HEADER_LEN, pcap.last_sum > 0 ? pcap.at : pcap.last);
	finding->time = pcap.first_time;
	finding->length = pcap.at;
	if (record == RECORD_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : pcap.at);
	if (pcap.last_sum < 0 && pcap.right && !pcap.wrong) {
		finding->length = pcap.last;
		return verdict_because(CARVE_TRUNCATED, finding,
			"of all checksums, only the last packet's, at %" PRIu64 ", is wrong",
			pcap.last);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the number of packets is not stored; %" PRIu64 " are plausible", pcap.records);
}

const struct carver pcap_carver = {
	.name = "pcap",
	.summary = "Captured packets (libpcap), by their records",
	.check = check,
};
