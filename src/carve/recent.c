/* A part has one place that it can be kept at, so that it is found without a search. */
#include "carve/recent.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PART_LEN ((size_t)16 << 10)
#define PARTS 64
/* Longer reads go through a file once: they would only take the place of what is read again. */
#define LEN_MAX ((size_t)128 << 10)
/* Fewer bytes, at places all over an image, are read without what is around them, unless it is kept. */
#define FEW_MAX 1024

struct recent_part {
	uint64_t end;  /* of it in the image; 0: none is kept here */
	bool is_whole; /* else it was tried, and can't be kept */
	uint8_t bytes[PART_LEN];
};

static void forget(struct recent *recent, struct image *image)
{
	for (size_t i = 0; recent->parts && i < PARTS; i++)
		recent->parts[i].end = 0;
	recent->image = image;
}

/* The part with the byte at offset, which is read if it is not kept and many bytes of it are wanted. False: it is not kept. */
static bool get_part(
	struct recent *recent, uint64_t offset, size_t wanted, struct recent_part **part)
{
	uint64_t number = offset / PART_LEN, end = (number + 1) * PART_LEN;

	*part = &recent->parts[number % PARTS];
	if ((*part)->end != end) {
		if (wanted <= FEW_MAX)
			return false;
		(*part)->is_whole = !image_read_noting(
			recent->image, end - PART_LEN, (*part)->bytes, PART_LEN, NULL);
		(*part)->end = image_was_cut(recent->image) ? 0 : end;
	}
	return (*part)->end && (*part)->is_whole;
}

/* Makes it ready for an image. */
static void turn_to(struct recent *recent, struct image *image)
{
	if (recent->image != image)
		forget(recent, image);
	if (!recent->parts)
		recent->parts = xcalloc(PARTS, sizeof(*recent->parts));
}

const uint8_t *recent_lend(struct recent *recent, struct image *image, uint64_t offset, size_t len)
{
	size_t inside = (size_t)(offset % PART_LEN);
	struct recent_part *part;

	if (!len || len > PART_LEN - inside || offset > UINT64_MAX / 2)
		return NULL;
	turn_to(recent, image);
	return get_part(recent, offset, len, &part) ? part->bytes + inside : NULL;
}

void recent_read(struct recent *recent, struct image *image, uint64_t offset, void *buffer,
	size_t len, struct ranges *bad)
{
	uint8_t *to = buffer;
	size_t wanted = len, some;

	turn_to(recent, image);
	if (len > LEN_MAX || offset > UINT64_MAX / 2) {
		image_read_noting(image, offset, buffer, len, bad);
		return;
	}
	for (; len; offset += some, to += some, len -= some) {
		size_t inside = (size_t)(offset % PART_LEN);
		struct recent_part *part;

		some = PART_LEN - inside < len ? PART_LEN - inside : len;
		if (get_part(recent, offset, wanted, &part))
			memcpy(to, part->bytes + inside, some);
		else
			image_read_noting(image, offset, to, some, bad);
	}
}

void recent_free(struct recent *recent)
{
	free(recent->parts);
	*recent = (struct recent){ 0 };
}
