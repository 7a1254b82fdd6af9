/*
 * Debian packages (deb(5)): ar archives with the members debian-binary, control.tar and data.tar,
 * the latter two mostly compressed, sometimes followed by a signature (_gpg...).
 *
 * Nothing marks the end of an ar archive (ar.c), but data.tar shows its own end when it is
 * decompressed; and so does control.tar, before it.
 *
 * Damage. The file is valid up to the first invalid member; of data.tar, what decompresses is
 * valid.
 */
#include <inttypes.h>
#include <string.h>

#include "ar.h"
#include "compressed.h"
#include "tar_header.h"
#include "walk.h"

static const struct {
	const char *suffix;
	int format; /* -1: not compressed */
} forms[] = {
	{ ".gz", COMPRESSED_GZIP },
	{ ".xz", COMPRESSED_XZ },
	{ ".zst", COMPRESSED_ZSTD },
	{ ".bz2", COMPRESSED_BZIP2 },
	{ ".lzma", COMPRESSED_LZMA },
	{ "", -1 },
};

/* The form of this archive, data.tar or control.tar, in the member, or NULL. */
static const int *form_of(const struct ar_member *member, const char *archive)
{
	size_t len = strlen(archive);

	if (memcmp(member->name, archive, len) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (memcmp(member->name + len, forms[i].suffix, strlen(forms[i].suffix)) == 0)
			return &forms[i].format;
	return NULL;
}

/* Whether the members of data.tar lead to the zeros at its end, which are those of a tar's last record; else *end is
 * where they do not. *wiped: the last file ends in a block of zeros, too. */
static bool is_tar_whole(
	struct view *view, const struct ar_member *member, uint64_t *end, bool *wiped)
{
	uint64_t at = member->data, len = 0;

	while (at < member->end && tar_member(view, at, &len) && len <= member->end - at) {
		at += TAR_BLOCK + tar_whole_blocks(len);
		*wiped = len && walk_zeros(view, at - TAR_BLOCK, at);
	}
	*end = at < member->end ? at : member->data;
	return at > member->data && at < member->end &&
	       member->end - at <= TAR_RECORD + TAR_BLOCK && walk_zeros(view, at, member->end);
}

/* Whether the contents are complete; else *end is where they become invalid. */
static bool is_whole(
	struct view *view, const struct ar_member *member, int format, uint64_t *end, bool *wiped)
{
	struct compressed stream;

	if (format < 0)
		return is_tar_whole(view, member, end, wiped);
	if (compressed_walk(view, (enum compressed_format)format, member->data, member->end,
		    &stream) == COMPRESSED_DONE &&
		stream.end == member->end)
		return true;
	*end = walk_before_fill(view, member->data, stream.end);
	return false;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ar_member member, last;
	const int *format = NULL, *control;
	uint64_t valid_end, data_at, ignored, invalid = 0;
	bool whole = false, wiped = false, control_wiped;

	if (!ar_starts(view) || !ar_read(view, AR_START_LEN, &member) ||
		memcmp(member.name, "debian-binary", 13) != 0)
		return verdict_because(
			CARVE_REJECT, finding, "no debian-binary at %d", AR_START_LEN);
	do {
		last = member;
		valid_end = last.data;
		view_embedded(view, last.data);
		if (member.time > finding->time)
			finding->time = member.time;
		control = form_of(&member, "control.tar");
		if (control && member.end <= view_size(view) &&
			!is_whole(view, &member, *control, &ignored, &control_wiped))
			invalid = member.at;
		format = form_of(&member, "data.tar");
		whole = format && is_whole(view, &member, *format, &valid_end, &wiped);
		if (!format)
			valid_end = member.end;
	} while (member.end < view_size(view) && !format &&
		 ar_read(view, ar_next(&member), &member));
	if (last.end > view_size(view))
		return walk_cut_filled(view, finding, last.end, last.data);
	if (!whole) {
		finding->length = valid_end;
		return verdict_because(CARVE_TRUNCATED, finding, "%s after the member at %" PRIu64,
			format ? "data.tar does not decompress," : "no data.tar", last.at);
	}
	data_at = last.at;
	/* Signatures. */
	while (ar_read(view, ar_next(&last), &member) && member.name[0] == '_' &&
		member.end <= view_size(view))
		last = member;
	finding->length = ar_last_end(view, &last);
	if (invalid)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the member at %" PRIu64 " is not a whole archive", invalid);
	if (wiped)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last file in the member at %" PRIu64 " ends in zeros", data_at);
	if (finding->length & 1)
		return verdict_because(CARVE_UNVERIFIED, finding, "no byte of padding at %" PRIu64,
			finding->length);
	return CARVE_COMPLETE;
}

const struct carver deb_carver = {
	.name = "deb",
	.summary = "Debian packages, by their members and by decompressing data.tar",
	.check = check,
};
