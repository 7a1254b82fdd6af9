/*
 * The part of a 7z header that describes streams (7-Zip's 7zFormat.txt).
 *
 *	header:   01, [properties,] streams, files, 00; or 17, streams: those hold the packed header
 *	streams:  04 (not after 17), packed streams (06), folders (07), parts of folders (08), 00
 *
 * Numbers have one to nine bytes: as many of the first byte's high bits are set as bytes follow. Every
 * count is compared with the bytes that are left, or a limit, before memory is allocated for it.
 */
#include "sevenzip_info.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX ((uint64_t)1 << 18)
#define FOLDERS_MAX ((uint64_t)1 << 15)
#define OUTPUTS_MAX 32
#define CODERS_MAX 8 /* of a folder whose coders are looked at */
#define METHOD_BCJ2 0x0303011b

struct reader {
	const uint8_t *p, *end;
	bool bad;
	bool *no_memory;
};

static uint8_t read_byte(struct reader *reader)
{
	if (reader->p == reader->end) {
		reader->bad = true;
		return 0;
	}
	return *reader->p++;
}

bool sevenzip_read_number(const uint8_t **p, const uint8_t *end, uint64_t *number)
{
	unsigned more = 0;
	uint8_t first;

	*number = 0;
	if (*p == end)
		return false;
	first = *(*p)++;
	while (more < 8 && first & 0x80 >> more)
		more++;
	if (more > end - *p) {
		*p = end;
		return false;
	}
	for (unsigned i = 0; i < more; i++)
		*number |= (uint64_t) * (*p)++ << 8 * i;
	if (more < 7)
		*number |= (uint64_t)(first & (0x7f >> more)) << 8 * more;
	return true;
}

static uint64_t read_number(struct reader *reader)
{
	uint64_t value;

	if (!sevenzip_read_number(&reader->p, reader->end, &value))
		reader->bad = true;
	return value;
}

/* A number that is at most `most`; else the header counts as damaged. */
static uint64_t read_count(struct reader *reader, uint64_t most)
{
	uint64_t value = read_number(reader);

	if (value > most) {
		reader->bad = true;
		return 0;
	}
	return value;
}

static const uint8_t *read_bytes(struct reader *reader, uint64_t len)
{
	const uint8_t *p = reader->p;

	if (len > (uint64_t)(reader->end - reader->p)) {
		reader->bad = true;
		return NULL;
	}
	reader->p += len;
	return p;
}

static uint32_t read_crc(struct reader *reader)
{
	const uint8_t *p = read_bytes(reader, 4);

	return p ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

static void *allocate(struct reader *reader, size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		*reader->no_memory = reader->bad = true;
	return memory;
}

/* Reads which of count streams have a CRC, and those; `next` gives the place of each. */
static void read_crcs(struct reader *reader, size_t count,
	struct sevenzip_stream *(*next)(void *context, size_t i), void *context)
{
	bool all = read_byte(reader);
	const uint8_t *bits = all ? NULL : read_bytes(reader, (count + 7) / 8);

	if (reader->bad)
		return;
	for (size_t i = 0; i < count; i++)
		next(context, i)->has_crc = all || bits[i / 8] >> (7 - i % 8) & 1;
	for (size_t i = 0; i < count && !reader->bad; i++)
		if (next(context, i)->has_crc)
			next(context, i)->crc = read_crc(reader);
}

static struct sevenzip_stream *nth(void *context, size_t i)
{
	return (struct sevenzip_stream *)context + i;
}

static void read_packed(struct reader *reader, struct sevenzip_info *info)
{
	uint64_t id;

	info->packed_at = read_number(reader);
	info->packed_count = read_count(reader, STREAMS_MAX);
	info->packed = allocate(reader, info->packed_count, sizeof(*info->packed));
	while (!reader->bad && (id = read_number(reader)) != SEVENZIP_END) {
		if (id == SEVENZIP_SIZES)
			for (size_t i = 0; i < info->packed_count && !reader->bad; i++)
				info->packed[i].len = read_number(reader);
		else if (id == SEVENZIP_CRCS)
			read_crcs(reader, info->packed_count, nth, info->packed);
		else
			reader->bad = true;
	}
}

/* Reads a coder into *coder. Returns how many inputs it has; *outputs is how many outputs. */
static unsigned read_coder(struct reader *reader, struct sevenzip_coder *coder, unsigned *outputs)
{
	uint8_t head = read_byte(reader);
	const uint8_t *id = read_bytes(reader, head & 15);
	unsigned inputs = 1;

	*coder = (struct sevenzip_coder){ 0 };
	*outputs = 1;
	if (head & 0xc0 || (head & 15) > 8)
		reader->bad = true;
	for (int i = 0; id && i < (head & 15); i++)
		coder->method = coder->method << 8 | id[i];
	if (head & 0x10) {
		inputs = (unsigned)read_count(reader, OUTPUTS_MAX);
		*outputs = (unsigned)read_count(reader, OUTPUTS_MAX);
	}
	if (head & 0x20) {
		coder->properties_len =
			(size_t)read_count(reader, (uint64_t)(reader->end - reader->p));
		coder->properties = read_bytes(reader, coder->properties_len);
	}
	return inputs;
}

/* A folder's coders, and how they are bound together. */
struct coders {
	struct sevenzip_coder items[CODERS_MAX];
	unsigned count;
	unsigned first_input[CODERS_MAX + 1], first_output[CODERS_MAX + 1];
	uint8_t pairs[OUTPUTS_MAX][2]; /* an input, and the output that it takes */
	unsigned pair_count;
	uint8_t packed[OUTPUTS_MAX]; /* the input of each packed stream */
	unsigned packed_count;
};

/* The output that this input takes; `count`: none, it is a packed stream. */
static unsigned output_before(const struct coders *coders, unsigned input, unsigned count)
{
	for (unsigned i = 0; i < coders->pair_count; i++)
		if (coders->pairs[i][0] == input)
			return coders->pairs[i][1];
	return count;
}

/* Puts coders of one input and one output in order: the one that gives the content first. Sets
 * coder_count to 0 when they are no chain. */
static void chain_coders(struct sevenzip_folder *folder, const struct coders *coders)
{
	unsigned at = folder->main_output, count = coders->count;

	for (folder->coder_count = 0; at < count && folder->coder_count < count;
		at = output_before(coders, at, count)) {
		folder->coders[folder->coder_count] = coders->items[at];
		folder->coders[folder->coder_count++].output = at;
	}
	if (folder->coder_count != count || at != count)
		folder->coder_count = 0;
}

static unsigned input_count(const struct coders *coders, unsigned coder)
{
	return coders->first_input[coder + 1] - coders->first_input[coder];
}

/* Which packed stream an input is; coders->packed_count: none. */
static unsigned packed_of(const struct coders *coders, unsigned input)
{
	unsigned i = 0;

	while (i < coders->packed_count && coders->packed[i] != input)
		i++;
	return i;
}

/* The coder of one output and one input that has this output; coders->count: none. */
static unsigned coder_of(const struct coders *coders, unsigned output)
{
	for (unsigned i = 0; i < coders->count; i++)
		if (coders->first_output[i] == output &&
			coders->first_output[i + 1] == output + 1 && input_count(coders, i) == 1)
			return i;
	return coders->count;
}

/* Reads what is joined from which streams: false: not only by a BCJ2 coder, or more than one coder gives an
 * input. */
static bool read_inputs(struct sevenzip_folder *folder, const struct coders *coders)
{
	unsigned joint = 0;

	while (joint < coders->count && coders->items[joint].method != METHOD_BCJ2)
		joint++;
	if (joint == coders->count || input_count(coders, joint) != SEVENZIP_INPUTS ||
		folder->main_output != coders->first_output[joint])
		return false;
	for (unsigned i = 0; i < SEVENZIP_INPUTS; i++) {
		struct sevenzip_input *input = &folder->inputs[i];
		unsigned number = coders->first_input[joint] + i;
		unsigned output = output_before(coders, number, folder->output_count);
		unsigned coder = coder_of(coders, output);

		input->is_coded = output < folder->output_count;
		if (input->is_coded) {
			if (coder == coders->count)
				return false;
			input->coder = coders->items[coder];
			input->coder.output = output;
			number = coders->first_input[coder];
		}
		input->packed = packed_of(coders, number);
		if (input->packed == coders->packed_count)
			return false;
	}
	return true;
}

static void read_folder(struct reader *reader, struct sevenzip_folder *folder)
{
	struct coders coders = { 0 };
	struct sevenzip_coder coder;
	unsigned count = (unsigned)read_count(reader, OUTPUTS_MAX), inputs = 0, outputs;
	bool simple = count >= 1 && count <= SEVENZIP_CODERS;

	for (unsigned i = 0; i < count && !reader->bad; i++) {
		unsigned own = read_coder(reader, &coder, &outputs);

		simple &= own == 1 && outputs == 1;
		inputs += own;
		folder->output_count += outputs;
		if (i < CODERS_MAX) {
			coders.items[i] = coder;
			coders.first_input[++coders.count] = inputs;
			coders.first_output[coders.count] = folder->output_count;
		}
	}
	if (!folder->output_count || folder->output_count > OUTPUTS_MAX || inputs > OUTPUTS_MAX ||
		inputs + 1 < folder->output_count)
		reader->bad = true;
	if (reader->bad)
		return;
	coders.pair_count = folder->output_count - 1;
	folder->main_output = 0;
	for (unsigned i = 0; i < coders.pair_count; i++) {
		coders.pairs[i][0] = (uint8_t)read_count(reader, OUTPUTS_MAX);
		coders.pairs[i][1] = (uint8_t)read_count(reader, OUTPUTS_MAX);
	}
	/* The output that no input takes. */
	for (unsigned i = 0; i < folder->output_count; i++) {
		unsigned taken = 0;

		for (unsigned pair = 0; pair < coders.pair_count; pair++)
			taken += coders.pairs[pair][1] == i;
		if (!taken)
			folder->main_output = i;
	}
	coders.packed_count = inputs - coders.pair_count;
	folder->packed_count = coders.packed_count;
	for (unsigned i = 0; coders.packed_count > 1 && i < coders.packed_count; i++)
		coders.packed[i] = (uint8_t)read_count(reader, OUTPUTS_MAX);
	if (simple)
		chain_coders(folder, &coders);
	else if (count == coders.count)
		folder->is_joined = read_inputs(folder, &coders);
}

static struct sevenzip_folder *folder_after(struct sevenzip_info *info, size_t i)
{
	return &info->folders[i];
}

static void read_content_lens(struct reader *reader, struct sevenzip_folder *folder)
{
	uint64_t lens[OUTPUTS_MAX] = { 0 };

	for (unsigned i = 0; i < folder->output_count; i++)
		lens[i] = read_number(reader);
	folder->content_len = lens[folder->main_output];
	for (unsigned i = 0; i < folder->coder_count; i++)
		folder->coders[i].unpacked_len = lens[folder->coders[i].output];
	for (unsigned i = 0; i < SEVENZIP_INPUTS && folder->is_joined; i++)
		folder->inputs[i].coder.unpacked_len = lens[folder->inputs[i].coder.output];
}

static void read_folder_crcs(struct reader *reader, struct sevenzip_info *info)
{
	struct sevenzip_stream *streams = allocate(reader, info->folder_count, sizeof(*streams));

	if (streams)
		read_crcs(reader, info->folder_count, nth, streams);
	for (size_t i = 0; streams && i < info->folder_count; i++) {
		folder_after(info, i)->has_crc = streams[i].has_crc;
		folder_after(info, i)->crc = streams[i].crc;
	}
	free(streams);
}

static void read_folders(struct reader *reader, struct sevenzip_info *info)
{
	size_t packed = 0;
	uint64_t id;

	if (read_number(reader) != SEVENZIP_FOLDERS)
		reader->bad = true;
	info->folder_count = read_count(reader, FOLDERS_MAX);
	if (read_byte(reader)) /* they are in a stream */
		reader->bad = true;
	info->folders = allocate(reader, info->folder_count, sizeof(*info->folders));
	for (size_t i = 0; i < info->folder_count && !reader->bad; i++) {
		struct sevenzip_folder *folder = &info->folders[i];

		read_folder(reader, folder);
		folder->packed = packed;
		packed += folder->packed_count;
		if (packed > info->packed_count)
			reader->bad = true;
	}
	while (!reader->bad && (id = read_number(reader)) != SEVENZIP_END) {
		if (id == SEVENZIP_UNPACK_SIZES)
			for (size_t i = 0; i < info->folder_count && !reader->bad; i++)
				read_content_lens(reader, &info->folders[i]);
		else if (id == SEVENZIP_CRCS)
			read_folder_crcs(reader, info);
		else
			reader->bad = true;
	}
}

/* Without a description each folder has one part. */
static void single_parts(struct sevenzip_info *info)
{
	for (size_t i = 0; i < info->folder_count; i++)
		info->folders[i].part_count = 1;
}

static void read_counts(struct reader *reader, struct sevenzip_info *info)
{
	uint64_t left = STREAMS_MAX;

	for (size_t i = 0; i < info->folder_count && !reader->bad; i++) {
		info->folders[i].part_count = read_count(reader, left);
		left -= info->folders[i].part_count;
	}
}

static void place_parts(struct reader *reader, struct sevenzip_info *info)
{
	info->part_count = 0;
	for (size_t i = 0; i < info->folder_count; i++) {
		info->folders[i].parts = info->part_count;
		info->part_count += info->folders[i].part_count;
	}
	free(info->parts);
	info->parts = allocate(reader, info->part_count, sizeof(*info->parts));
}

/* The last part of each folder has the rest. */
static void read_part_lens(struct reader *reader, struct sevenzip_info *info, bool given)
{
	for (size_t i = 0; i < info->folder_count && !reader->bad; i++) {
		struct sevenzip_folder *folder = &info->folders[i];
		struct sevenzip_stream *part = info->parts + folder->parts;
		uint64_t left = folder->content_len;

		if (!given && folder->part_count > 1)
			reader->bad = true;
		for (size_t k = 0; k + 1 < folder->part_count && !reader->bad; k++, part++) {
			part->len = read_count(reader, left);
			left -= part->len;
		}
		if (folder->part_count)
			part->len = left;
	}
}

/* The folders' own CRCs are not repeated for a single part. */
static void read_part_crcs(struct reader *reader, struct sevenzip_info *info)
{
	struct sevenzip_stream *streams = allocate(reader, info->part_count, sizeof(*streams));
	size_t count = 0;

	for (size_t i = 0; i < info->folder_count; i++)
		if (info->folders[i].part_count != 1 || !info->folders[i].has_crc)
			count += info->folders[i].part_count;
	if (streams)
		read_crcs(reader, count, nth, streams);
	count = 0;
	for (size_t i = 0; streams && i < info->folder_count; i++) {
		const struct sevenzip_folder *folder = &info->folders[i];

		if (folder->part_count == 1 && folder->has_crc)
			continue;
		for (size_t k = 0; k < folder->part_count; k++, count++) {
			info->parts[folder->parts + k].has_crc = streams[count].has_crc;
			info->parts[folder->parts + k].crc = streams[count].crc;
		}
	}
	free(streams);
}

static void read_parts(struct reader *reader, struct sevenzip_info *info)
{
	uint64_t id = read_number(reader);

	if (id == SEVENZIP_COUNTS) {
		read_counts(reader, info);
		place_parts(reader, info);
		id = read_number(reader);
	}
	read_part_lens(reader, info, id == SEVENZIP_SIZES);
	if (id == SEVENZIP_SIZES)
		id = read_number(reader);
	if (!reader->bad && id == SEVENZIP_CRCS) {
		read_part_crcs(reader, info);
		id = read_number(reader);
	}
	if (id != SEVENZIP_END)
		reader->bad = true;
}

static void read_streams(struct reader *reader, struct sevenzip_info *info)
{
	uint64_t id = read_number(reader);

	if (id == SEVENZIP_PACK_INFO && !reader->bad) {
		read_packed(reader, info);
		id = read_number(reader);
	}
	if (id == SEVENZIP_UNPACK_INFO && !reader->bad) {
		read_folders(reader, info);
		id = read_number(reader);
	}
	if (reader->bad)
		return;
	single_parts(info);
	place_parts(reader, info);
	if (id == SEVENZIP_SUBSTREAMS && !reader->bad) {
		read_parts(reader, info);
		id = read_number(reader);
	} else if (!reader->bad) {
		read_part_lens(reader, info, false);
	}
	if (id != SEVENZIP_END)
		reader->bad = true;
}

static void skip_properties(struct reader *reader)
{
	while (!reader->bad && read_number(reader) != SEVENZIP_END)
		read_bytes(reader, read_number(reader));
}

bool sevenzip_info_read(struct sevenzip_info *info, const uint8_t *header, size_t len,
	bool *encoded, bool *no_memory)
{
	struct reader reader = { .p = header, .end = header + len, .no_memory = no_memory };
	uint64_t id = read_number(&reader);

	*info = (struct sevenzip_info){ 0 };
	*encoded = id == SEVENZIP_ENCODED_HEADER;
	if (*encoded) {
		read_streams(&reader, info);
		return !reader.bad;
	}
	if (id != SEVENZIP_HEADER)
		return false;
	id = read_number(&reader);
	if (id == SEVENZIP_PROPERTIES) {
		skip_properties(&reader);
		id = read_number(&reader);
	}
	if (id != SEVENZIP_MAIN_STREAMS || reader.bad)
		return false;
	read_streams(&reader, info);
	return !reader.bad;
}

void sevenzip_info_free(struct sevenzip_info *info)
{
	free(info->packed);
	free(info->folders);
	free(info->parts);
	*info = (struct sevenzip_info){ 0 };
}
