/* Uncompressed audio samples: whether they continue to their end. */
#ifndef BURIN_CARVERS_MEDIA_PCM_H
#define BURIN_CARVERS_MEDIA_PCM_H

#include <stdbool.h>

#include "carver.h"
#include "predictor.h"

/* The codings by their numbers in WAVE, in files of any format. */
enum { PCM_INTEGER = 1, PCM_FLOAT = 3, PCM_A_LAW = 6, PCM_MU_LAW = 7 };

struct pcm_format {
	uint16_t tag;       /* one of those, or FFFE (stated elsewhere); else: compressed */
	uint16_t bits;      /* of a sample; 0: not stated */
	uint16_t frame_len; /* bytes of a sample of all channels, at least 1 */
	bool big_endian;
	bool signed_8; /* 8-bit samples are signed: silence is 0 */
};

/* Whether they are stored uncompressed, so that pcm_check can check them. */
bool pcm_is_plain(const struct pcm_format *samples);

/* Where a format is stated elsewhere: a GUID, in a description of at least PCM_GUID_END bytes. */
enum { PCM_EXTENSIBLE = 0xfffe, PCM_GUID_AT = 24, PCM_GUID_END = 40 };
/* Takes the number that the GUID begins with, if that is a compressed coding. */
void pcm_set_guid(struct pcm_format *samples, uint16_t tag);

/* Whether the samples [start, end) continue to their end, or foreign bytes begin at *at. */
enum predictor_end pcm_check(struct view *view, const struct pcm_format *samples, uint64_t start,
	uint64_t end, uint64_t *at);

/* Describes the samples [from, to) of a file of this length. False: they are no integers of whole bytes. */
bool pcm_describe(const struct pcm_format *samples, uint64_t from, uint64_t to, uint64_t length,
	struct carve_stored *stored);

/* Where the samples from `start` on end in a recording whose sizes are not set: start if there are
 * none. */
uint64_t pcm_guess_end(struct view *view, const struct pcm_format *samples, uint64_t start);

#endif
