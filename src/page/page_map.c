/*
 * map.bin has an entry of two bytes, class and entropy, for each of up to millions of blocks
 * (content_map/map_bin.h describes the format). The page gets a power of two of them merged into
 * one: the most frequent class, and the mean entropy; each as a character, since scripts hold no
 * bytes.
 */
#include "page/page_map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "content_map/content.h"
#include "output/dirfd.h"
#include "content_map/map_bin.h"

#define HEAD_LEN 48 /* bytes that are read */
#define MAX_BLOCKS ((uint64_t)256 << 10)
#define MAX_ENTRY_LEN 64

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct map_head {
	uint64_t image_size, block_len, count;
	uint32_t head_len, entry_len;
};

static uint64_t number(const uint8_t *bytes, size_t len)
{
	uint64_t value = 0;

	while (len--)
		value = value << 8 | bytes[len];
	return value;
}

static bool read_head(FILE *file, struct map_head *head, uint64_t image_size)
{
	uint8_t bytes[HEAD_LEN];

	if (fread(bytes, 1, sizeof(bytes), file) != sizeof(bytes) ||
		memcmp(bytes, MAP_BIN_MAGIC, 8) != 0 || number(bytes + 8, 4) != MAP_BIN_VERSION)
		return false;
	*head = (struct map_head){ .head_len = (uint32_t)number(bytes + 12, 4),
		.image_size = number(bytes + 16, 8),
		.block_len = number(bytes + 24, 8),
		.count = number(bytes + 32, 8),
		.entry_len = (uint32_t)number(bytes + 40, 4) };
	return head->image_size == image_size && image_size > 0 && head->head_len >= HEAD_LEN &&
	       head->block_len >= 512 && head->block_len <= (uint64_t)1 << 48 &&
	       head->entry_len >= MAP_BIN_ENTRY_LEN && head->entry_len <= MAX_ENTRY_LEN &&
	       head->count == (image_size - 1) / head->block_len + 1 &&
	       fseeko(file, (off_t)head->head_len, SEEK_SET) == 0;
}

/* Reads up to `merge` entries as one. False at the end. */
static bool read_block(FILE *file, const struct map_head *head, uint64_t merge, char text[3])
{
	uint64_t seen[CONTENT_CLASSES] = { 0 }, entropy = 0, count = 0;
	uint8_t entry[MAX_ENTRY_LEN];
	unsigned winner = 0;

	while (count < merge && fread(entry, head->entry_len, 1, file) == 1) {
		seen[entry[0] < CONTENT_CLASSES ? entry[0] : CONTENT_OTHER]++;
		entropy += entry[1];
		count++;
	}
	if (!count)
		return false;
	for (unsigned i = 1; i < CONTENT_CLASSES; i++)
		if (seen[i] > seen[winner])
			winner = i;
	text[0] = digits[winner];
	text[1] = digits[entropy / count / 4];
	text[2] = '\0';
	return true;
}

static void add_blocks(struct strbuf *line, FILE *file, const struct map_head *head)
{
	uint64_t merge = 1;
	char text[3];

	while ((head->count - 1) / merge + 1 > MAX_BLOCKS)
		merge *= 2;
	strbuf_text(line, "burin.content(");
	strbuf_number(line, head->block_len * merge);
	strbuf_text(line, ", \"");
	for (uint64_t i = 0; i < head->count && read_block(file, head, merge, text); i += merge)
		strbuf_text(line, text);
	strbuf_text(line, "\");\n");
}

void page_map_add(struct strbuf *line, int dir_fd, uint64_t image_size)
{
	int fd = dirfd_open(dir_fd, MAP_BIN_NAME, O_RDONLY | O_NONBLOCK, false);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct map_head head;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (read_head(file, &head, image_size))
		add_blocks(line, file, &head);
	fclose(file);
}
