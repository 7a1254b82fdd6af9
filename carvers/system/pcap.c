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
 *
 * Where a file in pieces is put together a wrong checksum among right ones shows that the packet's bytes are
 * not all the file's, and records go on in time. Nothing can verify the end, so that the file stays unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "packet_sum.h"
#include "walk.h"

#define HEADER_LEN 24
#define PACKET_MAX 262144
#define TEN_YEARS 315360000
#define UNSORTED 60      /* seconds by which a packet may be older than the one before */
#define STATE_EVERY 1024 /* bytes after which the state is saved */

/* Without the view it is the state with which a check goes on. */
struct pcap {
	struct view *view;
	uint32_t snap_len, link, fraction_max, first_time, last_time;
	uint32_t record_len; /* of a record's header */
	bool big_endian;
	bool assembles; /* a file in pieces is put together */
	uint64_t at;    /* after the last record */
	uint64_t saved; /* where the state was saved last */
	uint64_t records;
	struct packet_sums sums;
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
	       (!pcap->records || apart < TEN_YEARS) &&
	       (!pcap->assembles || (uint64_t)time + UNSORTED >= pcap->last_time);
}

enum pcap_record { RECORD_VALID, RECORD_NONE, RECORD_CUT, RECORD_WRONG };

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
	if (!packet_sums_add(&pcap->sums, pcap->view, pcap->link, pcap->at, packet, len) &&
		pcap->assembles)
		return RECORD_WRONG;
	if (!pcap->records++)
		pcap->first_time = time;
	pcap->last_time = time;
	pcap->at = packet + len;
	return RECORD_VALID;
}

static void save_state(struct pcap *pcap)
{
	struct pcap kept = *pcap;

	if (!view_wants_states(pcap->view) || pcap->at < pcap->saved + STATE_EVERY)
		return;
	kept.view = NULL;
	kept.saved = pcap->saved = pcap->at;
	view_save(pcap->view,
		&(struct carve_state){ .offset = pcap->at, .len = sizeof(kept), .data = &kept });
}

/* The file ends, as far as is known. */
static enum verdict judge_end(struct pcap *pcap, struct finding *finding)
{
	const struct packet_sums *sums = &pcap->sums;
	bool is_right = sums->last == PACKET_SUM_RIGHT;

	if (sums->last == PACKET_SUM_WRONG && sums->right && !sums->wrong) {
		finding->length = sums->at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"of all checksums, only the last packet's, at %" PRIu64 ", is wrong",
			sums->at);
	}
	/* The next cluster may be another file's, unless the packet is known to be in one. */
	if (pcap->assembles && !is_right && sums->at / USUAL_CLUSTER != pcap->at / USUAL_CLUSTER) {
		finding->length = sums->at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"nothing verifies the last packet, at %" PRIu64, sums->at);
	}
	if (is_right || (pcap->assembles && sums->at / SECTOR == pcap->at / SECTOR))
		view_agrees(pcap->view);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the number of packets is not stored; %" PRIu64 " are plausible", pcap->records);
}

/* Walks the records from where the last one that was walked ends. */
static enum verdict walk(struct pcap *pcap, struct finding *finding)
{
	struct view *view = pcap->view;
	const struct packet_sums *sums = &pcap->sums;
	enum pcap_record record;

	while ((record = read_record(pcap)) == RECORD_VALID)
		save_state(pcap);
	if (!pcap->records)
		return verdict_because(CARVE_REJECT, finding, "no record after the header");
	/* Of the last packet only its checksum shows that it is one. */
	view_holds(view, HEADER_LEN,
		sums->last == PACKET_SUM_RIGHT || sums->last == PACKET_SUM_PARTIAL ? pcap->at
										   : sums->at);
	finding->time = pcap->first_time;
	finding->length = pcap->at;
	if (record == RECORD_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) || pcap->assembles ? view_size(view) : pcap->at);
	if (record == RECORD_WRONG)
		return verdict_because(CARVE_TRUNCATED, finding,
			"a wrong checksum of the packet at %" PRIu64, pcap->at);
	return judge_end(pcap, finding);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pcap pcap = { .view = view, .assembles = walk_assembles(view) };
	const char *problem = read_header(&pcap);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	return walk(&pcap, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct pcap pcap;

	memcpy(&pcap, state->data, sizeof(pcap));
	pcap.view = view;
	pcap.assembles = true;
	return walk(&pcap, finding);
}

const struct carver pcap_carver = {
	.name = "pcap",
	.summary = "Captured packets (libpcap), by their records",
	.check = check,
	.resume = resume,
};
