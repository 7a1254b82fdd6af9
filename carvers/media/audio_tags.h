/* Tags before or after audio of any format: ID3v2, and at the end APE, Lyrics3, ID3v1. */
#ifndef BURIN_CARVERS_MEDIA_AUDIO_TAGS_H
#define BURIN_CARVERS_MEDIA_AUDIO_TAGS_H

#include <stdbool.h>

#include "carver.h"

struct id3v2 {
	uint64_t end;         /* after the tag, its padding and its footer */
	uint64_t valid_end;   /* after its last valid frame; where frames begin if it has none */
	uint64_t padding_end; /* of the zeros from there on, before the footer */
	unsigned frame_count; /* of valid frames */
};

/* Reads the tag at `at`, sets title and date if it has them and finding does not: false if there is
 * no tag. Frames that end after `limit`, or the view, are ignored; the tag's end may be further. */
bool id3v2_read(
	struct view *view, uint64_t at, uint64_t limit, struct id3v2 *tag, struct finding *finding);

/* The end of all tags that follow the audio, which ends at `at`: `at` if there are none. A title
 * already in finding stays. */
uint64_t audio_tags_end(struct view *view, uint64_t at, struct finding *finding);

/* Sets title and date from Vorbis comments (of FLAC and Ogg): len bytes, perhaps cut. */
void vorbis_comments_read(const uint8_t *bytes, size_t len, struct finding *finding);

#endif
