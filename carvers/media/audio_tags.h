/* Tags that stand before or behind sound of any format: ID3v2, and at the end APE, Lyrics3,
 * ID3v1. */
#ifndef BURIN_CARVERS_MEDIA_AUDIO_TAGS_H
#define BURIN_CARVERS_MEDIA_AUDIO_TAGS_H

#include <stdbool.h>

#include "carver.h"

struct id3v2 {
	uint64_t end;   /* behind the tag, its padding and its footer */
	uint64_t sound; /* behind its last sound frame; where its frames begin if it has none */
	unsigned frame_count; /* of sound frames */
};

/* Reads the tag at `at`, sets title and date where it has them and finding has none: false when no
 * tag stands there. Frames that end behind `limit`, or the view, are not taken; the tag's end may
 * lie beyond. */
bool id3v2_read(
	struct view *view, uint64_t at, uint64_t limit, struct id3v2 *tag, struct finding *finding);

/* The offset behind all tags that follow the sound, which ends at `at`: `at` when there are none. A
 * title that finding has stays. */
uint64_t audio_tags_end(struct view *view, uint64_t at, struct finding *finding);

/* Takes title and date from Vorbis comments (of FLAC and Ogg): len bytes, perhaps cut off. */
void vorbis_comments_read(const uint8_t *bytes, size_t len, struct finding *finding);

#endif
