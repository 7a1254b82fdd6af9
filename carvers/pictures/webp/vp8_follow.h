/* Follows a frame's coefficients, and notices where they are another file's. Only where files in pieces are put
 * together: it takes several times as long as vp8_check. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8_FOLLOW_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8_FOLLOW_H

#include "vp8.h"

/* Blocks along a macroblock's side: 4 of brightness, 2 and 2 of colour, 1 of averages. */
#define VP8_SIDE 9
/* Macroblocks of a row, at most. */
#define VP8_FOLLOWED_MAX 640
#define VP8_SLACK 4   /* bytes of a part that may remain */
#define VP8_OVERRUN 2 /* bytes that may be missing: the decoder reads ahead */

enum { VP8_SKIP = 1, VP8_BLOCKS = 2 };

struct vp8_part;

/* What the first part says of each macroblock, in rows. */
struct vp8_modes {
	uint64_t data; /* where the coefficients begin */
	bool is_wrong; /* the first part is all there, and does not end as it has to */
	uint32_t across, count;
	uint8_t *items;   /* VP8_SKIP: it has no coefficients; VP8_BLOCKS: it has no averages */
	uint64_t *places; /* where in the first part each row is read */
	uint8_t probs[VP8_TYPES][VP8_BANDS][VP8_CONTEXTS][VP8_TOKENS];
};

/* Of vp8.c. False: the first part of the frame at `at` is not all inside [at, end), or does not end as it has to; or there are several
 * parts with coefficients, or too many macroblocks in a row. */
bool vp8_modes_read(struct view *view, uint64_t at, uint64_t end, struct vp8_modes *modes);
void vp8_modes_free(struct vp8_modes *modes);
/* Skips a value above 1, section 13.2. Returns the least of its class. */
uint32_t vp8_skip_value(struct vp8_part *part, const uint8_t *p);
/* Whether zeros follow the last boolean, as encoders write them to get it out: libwebp at least nine, libvpx 32. */
bool vp8_is_padded(struct vp8_part *part);

/* As vp8_check, but for a frame whose data may go on after the view: VP8_CUT, or VP8_FOREIGN, *at where that is noticed. Saves states, if the view
 * wants them, and goes on from one of this frame. A whole frame's joints are declared as proved. */
enum vp8_state vp8_follow(
	struct view *view, uint64_t *at, uint64_t end, const struct carve_state *from);

/* As struct carve_codes has it, for the frame at `at` that ends at `end` in the file, after the view. */
void *vp8_break_new(struct view *view, uint64_t at, uint64_t end, const struct carve_state *from);
unsigned vp8_break_ask(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work);
void vp8_break_free(void *broken);

#endif
